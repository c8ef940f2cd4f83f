// The page: a source asks for changes, a store keeps them as rows, and a timeline and lists show the rows that pass a filter.

/** @import {Row} from './types.js' */
/** @import {Item} from './lists.js' */
/** @import {Names, View} from './filter.js' */
import { backlog, told } from './backlog.js';
import { away, banners, missed, podOf } from './banners.js';
import { button, element, fill, part, write } from './dom.js';
import { chooser, everything, fields, fromHash, isEmpty, matcher, searcher, toHash } from './filter.js';
import { clock, counted, plural, rate, stamp, tellLocal, zone } from './format.js';
import { lists } from './lists.js';
import { plots } from './plot.js';
import { lanesOf } from './scale.js';
import { Source } from './source.js';
import { glyph, stuck, meanings } from './states.js';
import { Store } from './store.js';
import { Table } from './table.js';
import { Timeline } from './timeline.js';

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (part(id));

const store = new Store();
const view = fromHash('');
/** Whether the page has yet to show the pod and the range that the address names. */
let arriving = true;
let shownAt = -Infinity;
let dirty = true;
let wasKnown = '';

const source = new Source('api/v1/snapshot', (m) => { store.apply(m); dirty = true; });
const now = () => source.now();

const hooks = {
  now,
  /** @param {string} uid */
  open(uid) { view.open = view.open === uid ? '' : uid; render(); },
  /** @param {string} node */
  lead(node) {
    view.filter.node = node;
    choose('upcoming');
    const pod = /** @type {HTMLElement | null} */ (part('panel').querySelector('.open') ? null : part('stuck').querySelector('.open'));
    (pod ?? part('tab-upcoming')).focus();
  },
};
const stuckTable = new Table(part('stuck'), 5, hooks);
const table = new Table(part('panel'), 50, hooks);

const timeline = new Timeline({
  now,
  pick(node) { view.filter.node = view.filter.node === node ? '' : node; filtered(); },
  openBin(node, { from, to, late, state }) {
    view.filter.node = node;
    view.filter.range = { from, to, late };
    choose(state === 'evicted' ? 'evicted' : 'upcoming');
  },
});

// The address holds the view, and changes with it.

/** Shows what the address holds. */
function adopt() {
  Object.assign(view, fromHash(location.hash));
  arriving = true;
  tellTimes(view.zone || (localStorage.getItem('times') === 'local' ? 'local' : 'UTC'));
  unfold(!isEmpty(view.filter));
  filtered();
}
addEventListener('hashchange', adopt);

/** Goes to the pod and the time that the address names. @param {Record<View['list'], Item[]>} items */
function arrive(items) {
  arriving = false;
  if (!store.rows.has(view.open) && items.evicted.some((i) => i.row?.of.uid === view.open)) view.list = 'evicted';
  for (const each of [stuckTable, table]) each.seek(view.open);
  timeline.restore(view);
}

function address() {
  if (arriving) return;
  const hash = toHash(Object.assign(view, timeline.chosen));
  if (hash !== location.hash) history.replaceState(null, '', location.pathname + hash);
}

// The filter.

/** Shows the rows that pass the filter, from the first page on. */
function filtered() {
  for (const name of fields) if (input(name).value.trim() !== view.filter[name]) input(name).value = view.filter[name];
  input('group').value = view.group;
  for (const chip of /** @type {Iterable<HTMLElement>} */ (part('states').children)) chip.ariaPressed = String(!view.filter.off.has(chip.dataset.state ?? ''));
  for (const each of [stuckTable, table]) each.first();
  render();
}

for (const name of fields) {
  input(name).addEventListener('input', () => { view.filter[name] = input(name).value.trim(); filtered(); });
}
part('filter').addEventListener('submit', (e) => e.preventDefault());
part('clear').addEventListener('click', clear);

function clear() {
  view.filter = everything();
  filtered();
}

for (const [state, meaning] of Object.entries(meanings)) {
  const toggle = () => {
    const { off } = view.filter;
    if (!off.delete(state)) off.add(state);
    filtered();
  };
  const total = element('b');
  total.dataset.total = { 'in-flight': 'inFlight', evicted: 'evictedLastHour' }[state] ?? state;
  const chip = button({ title: meaning }, toggle, glyph(state), state, ' ', total);
  chip.dataset.state = state;
  part('states').append(chip);
}

/** The names in the rows. @param {Row[]} rows */
function known(rows) {
  const names = { node: new Set(store.nodes.keys()), namespace: new Set(), taint: new Set(), policy: new Set(store.manager?.policies) };
  for (const row of rows) {
    names.node.add(row.of.node);
    names.namespace.add(row.of.namespace);
    names.taint.add(row.of.taint);
    if (row.policy) names.policy.add(row.policy);
  }
  return /** @type {Names} */ (names);
}

/** @param {string} id @param {Set<string>} names */
function offer(id, names) {
  fill(part(id), [...names].sort().slice(0, 500), () => element('option'), (option, value) => { if (option.getAttribute('value') !== value) option.setAttribute('value', value); });
}

// What is shown.

/** @param {Row[]} rows @param {(r: Row) => boolean} pass @param {Names} names */
function itemsOf(rows, pass, names) {
  /** @type {Record<keyof typeof lists, Item[]>} */
  const items = { stuck: [], upcoming: [], evicted: [], nodes: [] };
  const passing = rows.filter(pass);
  for (const row of passing) items[row.state === 'evicted' ? 'evicted' : stuck(row.state) ? 'stuck' : 'upcoming'].push({ key: row.key, row });
  const nodes = tainted(names, new Set(passing.map((row) => row.of.node)));
  for (const lane of lanesOf(passing, nodes.keys())) {
    const of = nodes.get(lane.node);
    if (of) items.nodes.push({ key: lane.node, node: { of, lane, since: Math.min(...of.taints.map((t) => Date.parse(t.since))) } });
  }
  return items;
}

/** The tainted nodes that pass the filter, and the nodes of pods that pass it. @param {Names} names @param {Set<string>} ofPods */
function tainted(names, ofPods) {
  const { filter } = view;
  const found = searcher(filter.search);
  const byName = chooser(filter.node, names.node);
  const byTaint = chooser(filter.taint, names.taint);
  return new Map([...store.nodes].filter(([name, { taints }]) => ofPods.has(name)
    || (byName(name) && taints.some((t) => byTaint(t.taint)) && found([name, ...taints.map((t) => t.taint)].join(' ').toLowerCase()))));
}

/**
 * Whether the state of pods and nodes is known now, and whether that of calls is: only the leader makes calls. If a
 * state is unknown, a count of 0 would claim that there are none.
 */
function certainty() {
  const all = !source.stale() && store.manager?.synced === true && !store.manager.trouble;
  return { all, calls: all && store.manager?.role === 'leading' };
}

/** Totals that only the leader knows. */
const ofCalls = new Set(['inFlight', 'blocked', 'refused', 'delayed', 'terminating', 'stuck', 'evictedLastHour']);

function render() {
  dirty = false;
  shownAt = performance.now();
  const { filter } = view;
  const all = store.all();
  const names = known(all);
  const pass = matcher(filter, names);
  offer('nodes', names.node);
  offer('namespaces', names.namespace);
  offer('taints', names.taint);
  offer('policies', names.policy);
  for (const e of document.querySelectorAll('.of-policies')) /** @type {HTMLElement} */ (e).hidden = !names.policy.size && !filter.policy && !store.totals.held;
  const items = itemsOf(all, pass, names);
  // The time range selects rows of the list; the timeline also shows the rows around the range.
  const around = filter.range ? matcher({ ...filter, range: null }, names) : pass;
  const narrowed = filter.search || filter.namespace;
  const named = chooser(filter.node, names.node);
  timeline.show(all.filter(around), narrowed ? [] : items.nodes.map((i) => i.key), (node) => filter.node !== '' && named(node));
  if (arriving && store.manager) arrive(items);
  tables(items);
  part('clear').hidden = isEmpty(filter);
  write(part('clear'), filter.range ? `Clear the filter (${rangeOf(filter.range)})` : 'Clear the filter');
  totals();
  plots(store.minutes, now(), certainty().calls);
  tellBacklog();
  address();
}

/** @param {ReturnType<typeof itemsOf>} items */
function tables(items) {
  const { all, calls } = certainty();
  const certain = { upcoming: all, evicted: calls, nodes: all };
  for (const name of tabs) {
    const tab = part(`tab-${name}`);
    write(/** @type {HTMLElement} */ (tab.querySelector('b')), counted(items[name].length, certain[name]));
    tab.ariaSelected = String(name === view.list);
    tab.tabIndex = name === view.list ? 0 : -1;
  }
  part('panel').setAttribute('aria-labelledby', `tab-${view.list}`);
  for (const each of [stuckTable, table]) Object.assign(each, { group: view.group, open: view.open, nodes: store.nodes });
  const { unknown } = lists[view.list];
  const empty = view.list === 'upcoming' && items.stuck.length ? 'All that the filter lets through is stuck, and listed above.' : lists[view.list].empty;
  table.show(lists[view.list], items[view.list], nothing() || (certain[view.list] ? empty : unknown));
  const inAll = stuckNow();
  part('stuck').hidden = !inAll;
  const each = /** @type {const} */ (['blocked', 'refused', 'delayed']).filter((state) => store.totals[state]).map((state) => `${store.totals[state].toLocaleString('en')} ${state}`);
  write(part('stuck-note'), each.join(', ') + (items.stuck.length < inAll ? `; the filter hides ${(inAll - items.stuck.length).toLocaleString('en')}` : ''));
  stuckTable.show(lists.stuck, items.stuck, lists.stuck.empty);
}

/** How many evictions are stuck, whatever the filter. */
const stuckNow = () => (store.totals.blocked ?? 0) + (store.totals.refused ?? 0) + (store.totals.delayed ?? 0);

/** @param {NonNullable<typeof view.filter.range>} range */
const rangeOf = ({ from, to, late }) => (late ? `due by ${stamp(to, now())}` : `${clock(from, now())} to ${stamp(to, now())}`);

/** Says when the backlog will be done, if there is one. */
function tellBacklog() {
  const text = certainty().calls ? told(backlog(store.rows.values(), store.evicted, now()), now(), store.manager?.paused) : '';
  write(part('backlog'), text);
  part('backlog').hidden = !text;
}

function totals() {
  /** @type {Record<string, number>} */
  const t = store.manager ? { ...store.totals, stuck: stuckNow() } : {};
  const known = certainty();
  for (const total of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-total]'))) {
    const name = total.dataset.total ?? '';
    write(total, counted(t[name], ofCalls.has(name) ? known.calls : known.all));
    if (name === 'stuck') total.className = t.stuck ? 'bad' : '';
  }
}

/** The text in place of a list, if there is nothing to show at all. */
function nothing() {
  if (!store.manager) return 'Waiting for the first snapshot…';
  if (!store.manager.synced) return 'Pods, nodes and the journal have not been read yet; nothing is decided before that.';
  if (!certainty().all || store.rows.size || store.evicted.length || view.list !== 'upcoming' || !isEmpty(view.filter)) return '';
  if (!store.nodes.size) return 'All quiet: no node carries a taint that evicts, and nothing is scheduled.';
  return `Nothing is scheduled: ${plural(store.nodes.size, 'node')} carry a taint that evicts, and every pod there stays.`;
}

/** Shows the state of this replica and how current it is, four times a second. */
function condition() {
  const stale = source.stale();
  const m = store.manager;
  const list = m ? [...(stale ? away(source, now()) : []), ...banners(m, now())] : [];
  const { calls } = certainty();
  if (calls && view.open && !store.rows.has(view.open)) {
    const evicted = store.evicted.findLast((row) => row.of.uid === view.open);
    if (!evicted || view.list !== 'evicted') list.push(missed(evicted, now()));
  }
  say(list);
  const state = !m ? 'connecting' : stale ? `stale, as of ${stamp(source.at, now())}` : m.trouble ? 'watch broken' : 'live';
  const red = stuckNow() > 0 || list.some(([, how]) => how);
  chip('live', state, !m ? 'warn' : state !== 'live' ? 'bad' : red ? 'not-green' : '');
  document.body.classList.toggle('stale', stale && m !== null);
  title(stale);
  write(part('clock'), stamp(now(), now()));
  const known = JSON.stringify(certainty());
  dirty ||= known !== wasKnown;
  wasKnown = known;
  if (!m) return;
  part('cluster').hidden = !m.cluster;
  write(part('cluster'), m.cluster ?? '');
  part('method').hidden = !m.evictionMethod;
  chip('method', `method ${m.evictionMethod}, ${m.maxEvictionsPerSecond ? `at most ${rate(m.maxEvictionsPerSecond)}` : 'no rate limit'}`, '');
  const role = m.role === 'leading' ? 'this replica leads' : 'standby';
  part('role').hidden = false;
  chip('role', m.dryRun ? `${role}, dry run` : role, m.role === 'leading' && !m.dryRun ? '' : 'warn');
  write(part('version'), `taint-manager ${m.version ?? ''} on ${podOf(m.identity)}.`);
}

/** The worst comes first, because a browser tab has little room. @param {boolean} stale */
function title(stale) {
  const counts = [store.manager?.trouble ? 'watch broken' : '', stuckNow() ? `${counted(stuckNow(), true)} stuck` : '', `${counted(store.totals.scheduled, certainty().all)} scheduled`];
  const said = !store.manager ? [] : stale ? ['stale'] : counts;
  const text = [...said, store.manager?.cluster, 'taint-manager'].filter(Boolean).join(' · ');
  if (document.title !== text) document.title = text;
}

/** @param {string} id @param {string} text @param {string} how */
function chip(id, text, how) {
  write(part(id), text);
  part(id).className = `chip ${how}`;
}

/** @param {[string, string][]} list */
function say(list) {
  fill(part('banners'), list, () => element('p'), (p, [text, how]) => { p.className = how; write(p, text); });
}

// Colours.

const themes = ['system', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = themes.find((name) => name === localStorage.getItem('theme')) ?? 'system';

function paint() {
  document.documentElement.dataset.theme = theme === 'dark' || (theme === 'system' && dark.matches) ? 'dark' : 'light';
  part('theme').textContent = `Theme: ${theme}`;
}
dark.addEventListener('change', paint);
part('theme').addEventListener('click', () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  localStorage.setItem('theme', theme);
  paint();
});

// Times.

/** @param {string} chosen */
function tellTimes(chosen) {
  view.zone = chosen;
  tellLocal(chosen === 'local');
  localStorage.setItem('times', chosen);
  part('zone').textContent = `Times: ${chosen}`;
  part('zone').title = `Now: ${zone(now())}. Choose ${chosen === 'local' ? 'UTC' : 'the time zone of this browser'}.`;
}
part('zone').addEventListener('click', () => { tellTimes(view.zone === 'local' ? 'UTC' : 'local'); condition(); render(); });

// On a narrow screen the filter is folded away.
/** @param {boolean} on */
function unfold(on) {
  part('narrow').setAttribute('aria-expanded', String(on));
  part('filter').classList.toggle('folded', !on);
}
part('narrow').addEventListener('click', () => unfold(part('filter').classList.contains('folded')));
part('group').addEventListener('change', () => { view.group = input('group').value; filtered(); });

// Lists, buttons and keys.

const tabs = /** @type {const} */ (['upcoming', 'evicted', 'nodes']);
for (const [i, name] of tabs.entries()) {
  const tab = button({ id: `tab-${name}`, role: 'tab' }, () => choose(name), `${lists[name].title} `, element('b'));
  tab.setAttribute('aria-controls', 'panel');
  tab.addEventListener('keydown', (e) => {
    const by = { ArrowLeft: tabs.length - 1, ArrowRight: 1 }[e.key];
    if (!by) return;
    const to = tabs[(i + by) % tabs.length];
    choose(to);
    part(`tab-${to}`).focus();
  });
  part('tabs').append(tab);
}

/** Shows another list, and closes the pod that is open in the present one. @param {View['list']} name */
function choose(name) {
  if (name !== view.list && !stuck(store.rows.get(view.open)?.state ?? '')) view.open = '';
  view.list = name;
  filtered();
}

/** @type {Record<string, () => void>} */
const buttons = {
  earlier: () => timeline.move(-0.3), later: () => timeline.move(0.3), now: () => timeline.back(),
  closer: () => timeline.zoom(1 / 2), farther: () => timeline.zoom(2), fit: () => timeline.fit(),
  'show-evicted': () => { choose('evicted'); part('list').scrollIntoView({ block: 'nearest' }); },
  help: () => keys.showModal(),
};
for (const [id, act] of Object.entries(buttons)) part(id).addEventListener('click', act);
const keys = /** @type {HTMLDialogElement} */ (part('keys'));

addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || keys.open) return;
  const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
  if (e.key === 'Escape') clear();
  else if (e.key === '/' && !typing) { unfold(true); input('search').focus(); e.preventDefault(); }
  else if (e.key === '?' && !typing) keys.showModal();
});

paint();
adopt();
condition();
setInterval(() => {
  condition();
  if (document.hidden) return;
  if (dirty) render();
  else if (performance.now() - shownAt > 950) { shownAt = performance.now(); stuckTable.tick(); table.tick(); timeline.tick(); tellBacklog(); address(); }
}, 250);

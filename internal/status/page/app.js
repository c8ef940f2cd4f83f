// The page: one store, which asks for changes; a timeline and lists that show it through one filter.

/** @import {Row} from './types.js' */
/** @import {Item} from './table.js' */
import { backlog, told } from './backlog.js';
import { button, element, part, write } from './dom.js';
import { everything, fromHash, isEmpty, matcher, toHash } from './filter.js';
import { clock, counted, plural, rate, stamp, tellLocal, zone } from './format.js';
import { plots } from './plot.js';
import { Source } from './source.js';
import { glyph, stuck, meanings, states, titles } from './states.js';
import { Store } from './store.js';
import { Table } from './table.js';
import { Timeline } from './timeline.js';

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (part(id));
const fields = /** @type {const} */ (['search', 'node', 'namespace', 'taint', 'policy']);

const store = new Store();
const start = fromHash(location.hash);
let filter = start.filter;
let shownVersion = -1;
let shownAt = -Infinity;
let dirty = true;
let wasKnown = '';

const source = new Source('api/v1/snapshot', (m) => store.apply(m));
const now = () => source.now();

const table = new Table(now, () => filtered());

const timeline = new Timeline({
  now,
  pick(node) { filter.node = filter.node === node ? '' : node; filtered(); },
  openBin(node, { from, to, late }) {
    filter.node = node;
    filter.range = { from, to, late };
    const all = store.all();
    const inside = all.filter(matcher(filter, known(all)));
    if (inside.length && inside.every((r) => r.state === 'evicted')) table.tab = 'evicted';
    else if (table.tab !== 'stuck' || !inside.some((r) => stuck(r.state))) table.tab = 'evictions';
    filtered();
  },
});

// The filter.

/** Brings fields, address and views in line with the filter. */
function filtered() {
  for (const name of fields) if (input(name).value !== filter[name]) input(name).value = filter[name];
  history.replaceState(null, '', location.pathname + toHash(filter, table.tab, table.group));
  dirty = true;
  render();
}

for (const name of fields) {
  input(name).addEventListener('input', () => { filter[name] = input(name).value.trim(); table.first(); filtered(); });
}
part('filter').addEventListener('submit', (e) => e.preventDefault());
part('clear').addEventListener('click', clear);

function clear() {
  filter = everything();
  table.first();
  filtered();
}

for (const state of ['scheduled', 'held', 'due', 'in-flight', 'blocked', 'refused', 'delayed', 'done', 'evicted']) {
  const toggle = () => {
    if (!filter.off.delete(state)) filter.off.add(state);
    table.first();
    filtered();
  };
  const chip = button({ title: meanings[state] }, toggle, glyph(state), titles[state], ' ', element('b'));
  chip.dataset.state = state;
  part('states').append(chip);
}

/** The names there are. @param {Row[]} rows */
function known(rows) {
  const names = { node: new Set(store.nodes.keys()), namespace: new Set(), taint: new Set(), policy: new Set(store.manager?.policies) };
  for (const row of rows) {
    names.node.add(row.of.node);
    names.namespace.add(row.of.namespace);
    names.taint.add(row.of.taint);
    if (row.policy) names.policy.add(row.policy);
  }
  return /** @type {Record<'node' | 'namespace' | 'taint' | 'policy', Set<string>>} */ (names);
}

/** @param {string} id @param {Set<string>} names */
function offer(id, names) {
  const list = [...names].sort().slice(0, 500);
  const key = list.join('\n');
  if (part(id).dataset.key === key) return;
  part(id).dataset.key = key;
  part(id).replaceChildren(...list.map((value) => element('option', { value })));
}

// What is shown.

/**
 * @param {Row[]} rows @param {(r: Row) => boolean} pass @param {ReturnType<typeof known>} names
 * @returns {Record<string, Item[]>}
 */
function lists(rows, pass, names) {
  /** @type {Record<string, Item[]>} */
  const items = { evictions: [], stuck: [], evicted: [], nodes: [] };
  const perNode = new Map();
  for (const row of rows) {
    if (!pass(row)) continue;
    const item = { key: row.key, row, node: null };
    if (row.state === 'evicted') { items.evicted.push(item); continue; }
    items.evictions.push(item);
    if (stuck(row.state)) items.stuck.push(item);
    const n = perNode.get(row.of.node) ?? { pending: 0, stuck: 0, first: Infinity };
    if (row.state !== 'done') n.pending++;
    if (stuck(row.state)) n.stuck++;
    n.first = Math.min(n.first, row.due);
    perNode.set(row.of.node, n);
  }
  for (const of of tainted(names)) {
    const n = perNode.get(of.name) ?? { pending: 0, stuck: 0, first: NaN };
    const since = Math.min(...of.taints.map((t) => Date.parse(t.since)));
    items.nodes.push({ key: of.name, row: null, node: { name: of.name, of, since, ...n } });
  }
  return items;
}

/** The tainted nodes that the filter is not against. @param {ReturnType<typeof known>} names */
function tainted(names) {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  return [...store.nodes.values()].filter((n) => {
    const taints = n.taints.map((t) => t.taint);
    const byName = !filter.node || (names.node.has(filter.node) ? n.name === filter.node : n.name.includes(filter.node));
    const byTaint = !filter.taint || taints.some((t) => t.includes(filter.taint));
    const text = [n.name, ...taints].join(' ').toLowerCase();
    return byName && byTaint && words.every((w) => text.includes(w));
  });
}

/**
 * What is known now: of pods and nodes, and of calls, which only the replica that leads makes. Where it is not, 0
 * would be a claim that nothing is there.
 */
function certainty() {
  const all = store.ready && !source.stale() && store.manager?.synced === true;
  return { all, calls: all && store.manager?.role === 'leading' };
}

/** States that only the replica that leads can tell. */
const ofCalls = new Set(['in-flight', 'blocked', 'refused', 'delayed', 'done', 'evicted', 'inFlight', 'stuck', 'evictedLastHour']);

function render() {
  dirty = false;
  shownVersion = store.version;
  shownAt = performance.now();
  const all = store.all();
  const names = known(all);
  const pass = matcher(filter, names);
  offer('nodes', names.node);
  offer('namespaces', names.namespace);
  offer('taints', names.taint);
  offer('policies', names.policy);
  for (const e of document.querySelectorAll('.of-policies')) /** @type {HTMLElement} */ (e).hidden = !names.policy.size && !filter.policy && !store.totals.held;
  const items = lists(all, pass, names);
  // The time range picks rows of the list; the timeline shows what lies around it, too.
  const around = filter.range ? matcher({ ...filter, range: null }, names) : pass;
  const narrowed = filter.search || filter.namespace;
  timeline.show(all.filter(around), narrowed ? [] : items.nodes.map((i) => i.key), filter.node);
  const { all: sure, calls } = certainty();
  table.show(items, store.nodes, nothing(), { evictions: sure, stuck: calls, evicted: calls, nodes: sure });
  part('clear').hidden = isEmpty(filter);
  part('clear').textContent = filter.range ? `Clear the filter (${rangeOf(filter.range)})` : 'Clear the filter';
  legend(all);
  totals();
  plots(store.minutes, now(), calls);
  tellBacklog();
}

/** @param {NonNullable<typeof filter.range>} range */
const rangeOf = ({ from, to, late }) => (late ? `due by ${clock(to, now())}` : `${clock(from, now())} to ${clock(to, now())}`);

/** Says when the backlog will be done, where there is one. */
function tellBacklog() {
  const text = certainty().calls ? told(backlog(store.rows.values(), store.evicted, now()), now(), store.manager?.paused) : '';
  write(part('backlog'), text);
  part('backlog').hidden = !text;
}

/** @param {Row[]} all */
function legend(all) {
  const counts = new Map(states.map((s) => [s, 0]));
  for (const row of all) counts.set(row.state, (counts.get(row.state) ?? 0) + 1);
  const known = certainty();
  for (const chip of /** @type {Iterable<HTMLElement>} */ (part('states').children)) {
    const state = chip.dataset.state ?? '';
    chip.setAttribute('aria-pressed', String(!filter.off.has(state)));
    /** @type {HTMLElement} */ (chip.querySelector('b')).textContent = counted(counts.get(state), ofCalls.has(state) ? known.calls : known.all);
  }
}

function totals() {
  const t = store.ready ? store.totals : {};
  const known = certainty();
  const stuckNow = (t.blocked ?? 0) + (t.refused ?? 0) + (t.delayed ?? 0);
  for (const total of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-total]'))) {
    const name = total.dataset.total ?? '';
    const n = name === 'stuck' ? stuckNow : t[name];
    write(total, counted(n, ofCalls.has(name) ? known.calls : known.all));
    if (name === 'stuck') total.className = stuckNow ? 'bad' : '';
  }
  title(`${counted(t.scheduled, known.all)} scheduled${stuckNow ? `, ${counted(stuckNow, true)} stuck` : ''}`);
}

/** Says it in the title, unless it may be of the past. @param {string} [counts] */
function title(counts) {
  const name = [store.manager?.cluster, 'taint-manager'].filter(Boolean).join(' · ');
  if (!store.ready) document.title = name;
  else if (source.stale()) document.title = `stale · ${name}`;
  else if (counts) document.title = `${counts} · ${name}`;
}

/** Said in place of a list, when there is nothing at all. */
function nothing() {
  if (!store.ready || !store.manager) return 'Waiting for the first snapshot…';
  if (!store.manager.synced) return 'Pods, nodes and the journal have not been read yet; nothing is decided before that.';
  if (!certainty().all || store.rows.size || store.evicted.length || table.tab !== 'evictions' || !isEmpty(filter)) return '';
  if (!store.nodes.size) return 'All quiet: no node carries a NoExecute taint, and nothing is scheduled.';
  return `Nothing is scheduled: ${plural(store.nodes.size, 'node')} carry a NoExecute taint, and every pod there tolerates it without a limit.`;
}

/** The state of this replica and of what is known of it, four times a second. */
function condition() {
  const stale = source.stale();
  const first = !store.ready;
  chip('live', first ? 'connecting' : stale ? `stale, as of ${stamp(source.at, now())}` : 'live', first ? 'warn' : stale ? 'bad' : '');
  document.body.classList.toggle('stale', stale && !first);
  title();
  part('clock').textContent = stamp(now(), now());
  const known = JSON.stringify(certainty());
  dirty ||= known !== wasKnown;
  wasKnown = known;
  const m = store.manager;
  if (!m) return;
  part('cluster').hidden = !m.cluster;
  part('cluster').textContent = m.cluster ?? '';
  part('method').hidden = !m.evictionMethod;
  chip('method', `method ${m.evictionMethod}, ${m.maxEvictionsPerSecond ? `at most ${rate(m.maxEvictionsPerSecond)}` : 'no rate limit'}`, '');
  const role = m.role === 'leading' ? 'this replica leads' : 'standby';
  part('role').hidden = false;
  chip('role', m.dryRun ? `${role}, dry run` : role, m.role === 'leading' && !m.dryRun ? '' : 'warn');
  part('version').textContent = `taint-manager ${m.version ?? ''} on ${podOf(m.identity)}.`;
  banners(m, stale);
}

/** @param {string} id @param {string} text @param {string} how */
function chip(id, text, how) {
  write(part(id), text);
  part(id).className = `chip ${how}`;
}

/** The pod's name in an identity. @param {string | undefined} identity */
const podOf = (identity) => (identity ?? '').replace(/_[^_]*$/, '');

/** @param {import('./types.js').Manager} m @param {boolean} stale */
function banners(m, stale) {
  /** @type {[string, string][]} */
  const list = [];
  if (stale) list.push([source.refusal ? `What is shown is of the past: ${source.refusal}.` : `No word from taint-manager since ${stamp(source.at, now())}. What is shown may be of the past. It is tried again; if you came by kubectl port-forward, see whether that still runs.`, 'bad']);
  if (m.trouble) list.push([`The cluster can't be watched: ${m.trouble}`, 'bad']);
  if (m.paused) list.push(['Paused: no eviction starts, and what is due waits, until the configuration has paused: false.', 'bad']);
  for (const t of m.trips ?? []) list.push([`Breaker ${t.breaker} is tripped${t.group ? ` for ${t.group}` : ''} since ${stamp(Date.parse(t.since), now())}: too many nodes are affected. The evictions that it guards are held; all others go on.`, 'bad']);
  if (m.warning) list.push([`Warning: ${m.warning}.`, 'bad']);
  if (m.role !== 'leading') list.push([m.leader ? `This replica stands by; ${podOf(m.leader)} leads. Its page shows what was evicted, and what is blocked, refused or delayed.` : 'This replica stands by, and it knows of no leader: nothing is evicted until a replica leads.', m.leader ? '' : 'bad']);
  if (m.dryRun) list.push(['Dry run: no pod is evicted. The page shows what would be.', '']);
  const key = list.map(([text]) => text).join('\n');
  const box = part('banners');
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...list.map(([text, className]) => element('p', { className }, text)));
}

// Colours.

const themes = ['system', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = themes.includes(localStorage.getItem('theme') ?? '') ? /** @type {string} */ (localStorage.getItem('theme')) : 'system';

function paint() {
  document.documentElement.dataset.theme = theme === 'dark' || (theme === 'system' && dark.matches) ? 'dark' : 'light';
  part('theme').textContent = `Theme: ${theme}`;
  timeline.recolour();
}
dark.addEventListener('change', paint);
part('theme').addEventListener('click', () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  localStorage.setItem('theme', theme);
  paint();
});

// Times.

/** @param {boolean} local */
function tellTimes(local) {
  tellLocal(local);
  localStorage.setItem('times', local ? 'local' : 'UTC');
  part('zone').textContent = `Times: ${local ? 'local' : 'UTC'}`;
  part('zone').title = `Now: ${zone(now())}. Choose ${local ? 'UTC' : 'the time zone of this browser'}.`;
  timeline.rewrite();
  dirty = true;
}
part('zone').addEventListener('click', () => { tellTimes(localStorage.getItem('times') !== 'local'); condition(); render(); });

// The filter of a narrow screen is folded away.
/** @param {boolean} on */
function unfold(on) {
  part('narrow').setAttribute('aria-expanded', String(on));
  part('filter').classList.toggle('folded', !on);
}
part('narrow').addEventListener('click', () => unfold(part('filter').classList.contains('folded')));
unfold(!isEmpty(filter));

const group = /** @type {HTMLSelectElement} */ (part('group'));
group.addEventListener('change', () => table.groupBy(group.value));

// Buttons and keys.

/** @type {Record<string, () => void>} */
const buttons = {
  earlier: () => timeline.move(-0.3), later: () => timeline.move(0.3), now: () => timeline.back(),
  closer: () => timeline.zoom(1 / 2), farther: () => timeline.zoom(2), fit: () => timeline.fit(),
};
for (const [id, act] of Object.entries(buttons)) part(id).addEventListener('click', act);
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-list]'))) {
  button.addEventListener('click', () => {
    table.choose(button.dataset.list ?? '');
    part('list').scrollIntoView({ block: 'nearest' });
  });
}
const keys = /** @type {HTMLDialogElement} */ (part('keys'));
part('help').addEventListener('click', () => keys.showModal());

addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || keys.open) return;
  const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
  if (e.key === 'Escape') clear();
  else if (e.key === '/' && !typing) { unfold(true); input('search').focus(); e.preventDefault(); }
  else if (e.key === '?' && !typing) keys.showModal();
});

paint();
tellTimes(localStorage.getItem('times') === 'local');
table.group = group.value = [...group.options].some((o) => o.value === start.group) ? start.group : '';
table.choose(start.tab);
condition();
setInterval(() => {
  condition();
  if (document.hidden) return;
  if (dirty || store.version !== shownVersion) render();
  else if (performance.now() - shownAt > 950) { shownAt = performance.now(); table.tick(); timeline.tick(); tellBacklog(); }
}, 250);

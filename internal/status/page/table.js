// The lists: evictions, those that are stuck, those of late, and nodes; sorted, in pages, with a row that opens.

/** @import {Row, Node} from './types.js' */
/** @import {Group} from './groups.js' */
import { button, element, part, write } from './dom.js';
import { explanation } from './explain.js';
import { clock, counted, lateness, plural, span, until, zone } from './format.js';
import { grouped, groupings, summary } from './groups.js';
import { glyph, stuck, rank, titles } from './states.js';

const perPage = 50;

/**
 * @typedef {object} Item one line of a list
 * @property {string} key
 * @property {Row | null} row
 * @property {NodeLine | null} node
 * @property {Group} [group]
 */

/** @typedef {{name: string, of: Node, pending: number, stuck: number, first: number, since: number}} NodeLine */

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [zoned] its times are in the zone that the title names
 * @property {(i: Item) => string | number} by what it is sorted by
 * @property {(i: Item, cell: HTMLTableCellElement, now: number) => void} fill
 * @property {string} [at] class: where the column is shown
 */

/** A text that may be broken after a slash, a dot or an equals sign rather than anywhere. @param {string} text */
const breakable = (text) => text.split(/(?<=[/=.])/).flatMap((word) => [word, element('wbr')]);

/** A column of text. @param {string} title @param {(i: Item, now: number) => string} text @param {(i: Item) => string | number} by @param {string} [at] @returns {Column} */
const column = (title, text, by, at) => ({ title, by, at, fill: (i, cell, now) => write(cell, text(i, now)) });

/** A column of names, which may be broken. @param {string} title @param {(i: Item) => string} name @param {(i: Item) => string | number} by @param {string} at @returns {Column} */
const names = (title, name, by, at) => ({ title, by, at, fill: (i, cell) => { if (cell.textContent !== name(i)) cell.replaceChildren(...breakable(name(i))); } });

/** @param {Item} i */
const row = (i) => /** @type {Row} */ (i.row);
/** @param {Item} i */
const node = (i) => /** @type {NodeLine} */ (i.node);
/** Sorts what is not there last. @param {number} n */
const known = (n) => (Number.isFinite(n) ? n : Infinity);

/** @type {Column} */
const state = {
  title: 'State',
  by: (i) => rank(row(i).state),
  fill(i, cell) {
    if (cell.dataset.state === row(i).state) return;
    cell.dataset.state = row(i).state;
    cell.replaceChildren(element('span', { className: 'state' }, glyph(row(i).state), ` ${titles[row(i).state]}`));
  },
};

/** @param {(i: Item) => void} open @returns {Column} */
const pod = (open) => ({
  title: 'Pod',
  at: 'name pod',
  by: (i) => `${row(i).of.namespace}/${row(i).of.pod}`,
  fill(i, cell) {
    if (cell.firstChild) return;
    const { of } = row(i);
    const space = element('span', { className: 'space' }, `${of.namespace}/`);
    const under = [row(i).owner, of.node, of.taint.replace(/:NoExecute$/, '')].filter(Boolean).join(', ');
    cell.append(button({ className: 'open', ariaExpanded: 'false' }, () => open(i), space, of.pod), element('span', { className: 'under' }, ...breakable(under)));
  },
});

/** Why it is stuck, else why it goes. @param {Row} r */
function reason(r) {
  if (stuck(r.state)) return r.of.message || r.of.cause || titles[r.state];
  if (r.state === 'held') return `held by ${r.of.heldBy}`;
  if (r.of.waitsFor) return `waits for ${r.of.waitsFor}`;
  return r.of.because.replace(/^taint .* \(exposed since [^)]*\) is /, '');
}

const nodeOf = column('Node', (i) => row(i).of.node, (i) => row(i).of.node, 'wide name');
// All of them are NoExecute; the explanation spells it out.
const taintOf = names('Taint', (i) => row(i).of.taint.replace(/:NoExecute$/, ''), (i) => row(i).of.taint, 'mid wide name taint');
const ownerOf = names('Owner', (i) => row(i).owner || 'none', (i) => row(i).owner || '\uffff', 'mid wide name');
const deadline = { zoned: true, ...column('Deadline', (i, now) => clock(row(i).due, now), (i) => row(i).due, 'wide time') };
const countdown = {
  ...column('Goes', (i, now) => until(row(i).due, now), (i) => row(i).due, 'time'),
  /** @param {Item} i @param {HTMLTableCellElement} cell @param {number} now */
  fill(i, cell, now) {
    const late = now - row(i).due > 1000;
    write(cell, row(i).state === 'done' ? 'accepted' : late ? `${span(now - row(i).due)} late` : until(row(i).due, now));
    cell.classList.toggle('late', late && row(i).state !== 'done');
  },
};
/** When something comes, or since when it is late. @param {number} ms @param {number} now */
const coming = (ms, now) => (now - ms > 1000 ? `${span(now - ms)} late` : until(ms, now));
const nextTry = column('Next try', (i, now) => (now - row(i).next > 1000 ? `was due ${until(row(i).next, now)}` : until(row(i).next, now)) || 'under way', (i) => known(row(i).next), 'time');

/**
 * The lists, by name. first is the column that they are sorted by at first.
 * @param {(i: Item) => void} open
 * @returns {Record<string, {title: string, empty: string, unknown: string, columns: Column[], first: number, down?: boolean}>}
 */
const lists = (open) => ({
  evictions: {
    title: 'Evictions', empty: 'Nothing that the filter lets through is scheduled.', unknown: 'Whether anything is scheduled now is not known.', first: 6,
    columns: [state, pod(open), ownerOf, nodeOf, taintOf, deadline, countdown, column('Reason', (i) => reason(row(i)), (i) => reason(row(i)), 'wide long')],
  },
  stuck: {
    title: 'Stuck', empty: 'Nothing is stuck.', unknown: 'Whether anything is stuck now is not known here.', first: 4,
    columns: [state, pod(open), ownerOf, nodeOf, countdown, column('Cause', (i) => row(i).of.cause || '', (i) => row(i).of.cause || '', 'wide'),
      column('In the server’s words', (i) => row(i).of.message || '', (i) => row(i).of.message || '', 'wide long'),
      column('Calls', (i) => String(row(i).of.attempts ?? 0), (i) => row(i).of.attempts ?? 0, 'wide'), nextTry],
  },
  evicted: {
    title: 'Evicted lately', empty: 'This replica has evicted nothing in the last hour that the filter lets through.', unknown: 'What was evicted lately is not known here.', first: 5, down: true,
    columns: [pod(open), ownerOf, nodeOf, taintOf, deadline, { zoned: true, ...column('Evicted', (i, now) => clock(row(i).ended, now), (i) => row(i).ended, 'time') },
      column('Late by', (i) => lateness(Math.max(0, row(i).ended - row(i).due) / 1000), (i) => row(i).ended - row(i).due, 'time'),
      column('Reason', (i) => reason(row(i)), (i) => reason(row(i)), 'wide long')],
  },
  nodes: {
    title: 'Nodes', empty: 'No node that the filter lets through carries a NoExecute taint.', unknown: 'Which nodes carry NoExecute taints now is not known.', first: 3, down: true,
    columns: [column('Node', (i) => node(i).name, (i) => node(i).name, 'name'),
      column('NoExecute taints', (i, now) => node(i).of.taints.map((t) => `${t.taint} since ${clock(Date.parse(t.since), now)}`).join(', '), (i) => node(i).of.taints[0]?.taint ?? '', 'long'),
      column('Tainted', (i, now) => until(node(i).since, now), (i) => known(node(i).since), 'wide time'),
      column('Pending', (i) => String(node(i).pending), (i) => node(i).pending),
      column('Stuck', (i) => String(node(i).stuck), (i) => node(i).stuck, 'wide'),
      column('Next goes', (i, now) => coming(node(i).first, now), (i) => known(node(i).first), 'wide time')],
  },
});

export class Table {
  tab = 'evictions';
  #lists = lists((i) => this.#toggle(i));
  /** @type {Record<string, {column: number, down: boolean}>} */ #sort = {};
  /** @type {Map<string, HTMLTableRowElement>} */ #lines = new Map();
  /** @type {Item[]} */ #items = [];
  /** @type {string | null} key of the row that is open */ #open = null;
  /** What the rows are grouped by; empty: by nothing. */
  group = '';
  /** @type {Set<string>} names of the groups that are open */ #openGroups = new Set();
  #at = 0;
  #head = '';
  /** @type {Map<string, Node>} */ #nodes = new Map();

  /** @param {() => number} now @param {() => void} changed called when another list is chosen */
  constructor(now, changed) {
    this.now = now;
    this.changed = changed;
    this.thead = /** @type {HTMLElement} */ (part('table').querySelector('thead'));
    this.tbody = /** @type {HTMLElement} */ (part('table').querySelector('tbody'));
    for (const [name, list] of Object.entries(this.#lists)) {
      this.#sort[name] = { column: list.first, down: list.down ?? false };
      this.#tab(name, list.title);
    }
    const turn = (/** @type {number} */ by) => { this.#at += by; this.#render(); };
    part('previous').addEventListener('click', () => turn(-1));
    part('next').addEventListener('click', () => turn(1));
  }

  /** @param {string} name @param {string} title */
  #tab(name, title) {
    const tab = button({ id: `tab-${name}`, role: 'tab' }, () => this.choose(name), `${title} `, element('b'));
    tab.setAttribute('aria-controls', 'panel');
    tab.addEventListener('keydown', (e) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!by) return;
      const names = Object.keys(this.#lists);
      const to = names[(names.indexOf(name) + by + names.length) % names.length];
      this.choose(to);
      part(`tab-${to}`).focus();
    });
    part('tabs').append(tab);
  }

  /** Shows another list. @param {string} name */
  choose(name) {
    this.tab = this.#lists[name] ? name : 'evictions';
    this.#at = 0;
    this.changed();
  }

  /** Groups the rows by something else. @param {string} by */
  groupBy(by) {
    this.group = groupings[by] ? by : '';
    this.#openGroups.clear();
    this.#at = 0;
    this.changed();
  }

  /** Goes to the first page, after the filter has changed. */
  first() { this.#at = 0; }

  /**
   * Shows the lists.
   * @param {Record<string, Item[]>} items of each list @param {Map<string, Node>} nodes @param {string} nothing said where there is nothing at all
   * @param {Record<string, boolean>} certain of each list, whether an empty one means that there is nothing
   */
  show(items, nodes, nothing, certain) {
    this.#nodes = nodes;
    this.#items = items[this.tab];
    for (const [name, list] of Object.entries(items)) {
      const tab = part(`tab-${name}`);
      write(/** @type {HTMLElement} */ (tab.querySelector('b')), counted(list.length, certain[name]));
      tab.ariaSelected = String(name === this.tab);
      tab.tabIndex = name === this.tab ? 0 : -1;
      tab.classList.toggle('bad', name === 'stuck' && list.length > 0);
    }
    part('panel').setAttribute('aria-labelledby', `tab-${this.tab}`);
    part('empty').textContent = nothing || (certain[this.tab] ? this.#lists[this.tab].empty : this.#lists[this.tab].unknown);
    this.#render();
  }

  #render() {
    const list = this.#lists[this.tab];
    const { column: by, down } = this.#sort[this.tab];
    const key = list.columns[by].by;
    const compare = (/** @type {Item} */ a, /** @type {Item} */ b) => {
      const x = key(a);
      const y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || (a.key < b.key ? -1 : 1);
    };
    const sorted = this.#linesOf([...this.#items].sort(compare));
    const pages = Math.max(1, Math.ceil(sorted.length / perPage));
    this.#at = Math.max(0, Math.min(this.#at, pages - 1));
    this.#header();
    this.#body(sorted.slice(this.#at * perPage, (this.#at + 1) * perPage));
    part('table').hidden = sorted.length === 0;
    part('empty').hidden = sorted.length > 0;
    part('pager').hidden = pages === 1;
    write(part('page'), `${this.#at * perPage + 1}–${Math.min(sorted.length, (this.#at + 1) * perPage)} of ${plural(sorted.length, 'line')}`);
    /** @type {HTMLButtonElement} */ (part('previous')).disabled = this.#at === 0;
    /** @type {HTMLButtonElement} */ (part('next')).disabled = this.#at === pages - 1;
  }

  /** The lines of rows: in groups, of which some are open, where that is chosen. @param {Item[]} items @returns {Item[]} */
  #linesOf(items) {
    if (!this.group || this.tab === 'nodes') return items;
    const of = new Map(items.map((i) => [i.row, i]));
    return grouped(items.map(row), this.group).flatMap((group) => [
      { key: `group ${group.name}`, row: null, node: null, group },
      ...(this.#openGroups.has(group.name) ? group.rows.map((r) => /** @type {Item} */ (of.get(r))) : []),
    ]);
  }

  #header() {
    const { column: by, down } = this.#sort[this.tab];
    const columns = `${this.tab} ${zone(this.now())}`;
    const head = `${columns} ${by} ${down}`;
    if (head === this.#head) return;
    const stays = this.#head.startsWith(`${columns} `);
    this.#head = head;
    const list = this.#lists[this.tab];
    write(part('caption'), list.title);
    if (!stays) this.#newHeader(list.columns);
    [...this.thead.querySelectorAll('th')].forEach((th, i) => {
      if (i === by) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
  }

  /** @param {Column[]} columns */
  #newHeader(columns) {
    this.#lines.clear();
    this.tbody.replaceChildren();
    const tr = element('tr');
    columns.forEach((c, i) => {
      const title = c.zoned ? `${c.title}, ${zone(this.now())}` : c.title;
      tr.append(element('th', { scope: 'col', className: c.at ?? '' }, button({}, () => this.#sortBy(i), title)));
    });
    this.thead.replaceChildren(tr);
  }

  /** @param {number} column */
  #sortBy(column) {
    const sort = this.#sort[this.tab];
    this.#sort[this.tab] = { column, down: sort.column === column && !sort.down };
    this.#at = 0;
    this.#render();
  }

  /** Puts the lines in place, and leaves alone what is there already. @param {Item[]} items */
  #body(items) {
    const focus = /** @type {HTMLElement | null} */ (document.activeElement);
    const keys = new Set(items.map((item) => item.key));
    for (const tr of /** @type {HTMLTableRowElement[]} */ ([...this.tbody.children])) if (!keys.has(tr.dataset.key ?? '')) tr.remove();
    const lines = new Map();
    /** @type {Element | null} */
    let at = this.tbody.firstElementChild;
    for (const item of items) {
      const tr = this.#lines.get(item.key) ?? this.#line(item);
      lines.set(item.key, tr);
      this.#fill(tr, item);
      const why = this.#why(item, tr);
      for (const line of why ? [tr, why] : [tr]) {
        if (line === at) at = at.nextElementSibling;
        else this.tbody.insertBefore(line, at);
      }
    }
    while (at) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    this.#lines = lines;
    if (focus && focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  }

  /** @param {Item} item */
  #line(item) {
    const { columns } = this.#lists[this.tab];
    const tr = item.group ? this.#groupLine(item.group.name) : element('tr', {}, ...columns.map((c) => element('td', { className: c.at ?? '' })));
    tr.dataset.key = item.key;
    return tr;
  }

  /** The line of a group: a button that opens it, and what is in it. @param {string} name */
  #groupLine(name) {
    const toggle = () => {
      if (!this.#openGroups.delete(name)) this.#openGroups.add(name);
      this.#render();
    };
    const open = button({ className: 'open' }, toggle, ...breakable(name));
    return element('tr', { className: 'group' }, element('td', { colSpan: this.#lists[this.tab].columns.length }, open, ' ', element('span')));
  }

  /** @param {HTMLTableRowElement} tr @param {Item} item */
  #fill(tr, item) {
    const now = this.now();
    if (item.group) {
      write(/** @type {HTMLElement} */ (tr.querySelector('span')), summary(item.group, now));
      tr.querySelector('.open')?.setAttribute('aria-expanded', String(this.#openGroups.has(item.group.name)));
      return;
    }
    this.#lists[this.tab].columns.forEach((c, i) => c.fill(item, tr.cells[i], now));
    tr.querySelector('.open')?.setAttribute('aria-expanded', String(item.key === this.#open));
  }

  /** The line below with the explanation, for the row that is open. @param {Item} item @param {HTMLTableRowElement} tr */
  #why(item, tr) {
    if (item.key !== this.#open || !item.row) return null;
    const below = /** @type {HTMLTableRowElement | null} */ (tr.nextElementSibling);
    const why = below?.classList.contains('why') && below.dataset.key === item.key ? below : element('tr', { className: 'why' });
    const content = explanation(item.row, this.#nodes, this.now());
    if (why.isConnected && why.textContent === content.textContent) return why;
    why.dataset.key = item.key;
    why.replaceChildren(element('td', { colSpan: tr.cells.length }, content));
    return why;
  }

  /** @param {Item} item */
  #toggle(item) {
    this.#open = this.#open === item.key ? null : item.key;
    this.#render();
  }

  /** Moves the countdowns on. */
  tick() {
    if (!part('table').hidden) this.#render();
  }
}

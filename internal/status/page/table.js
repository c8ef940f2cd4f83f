// A list as a table: sorted, paged, grouped, with rows that open.

/** @import {Row, Node} from './types.js' */
/** @import {Item, List} from './lists.js' */
import { button, element, part, place, write } from './dom.js';
import { copy, explanation } from './explain.js';
import { plural, zone } from './format.js';
import { grouped, summary } from './groups.js';
import { breakable, lists } from './lists.js';

/**
 * @typedef {object} Hooks
 * @property {() => number} now the time by the manager's clock
 * @property {(uid: string) => void} open opens a pod, or closes it
 * @property {(node: string) => void} lead shows the pods of a node
 */

export class Table {
  /** The name of the grouping; empty: none. */
  group = '';
  /** UID of the pod that is open. */
  open = '';
  /** @type {Map<string, Node>} by name */
  nodes = new Map();
  #list = lists.upcoming;
  /** @type {Item[]} */ #items = [];
  /** @type {Map<List, {column: number, down: boolean}>} */ #sort = new Map();
  /** @type {Set<string>} names of the groups that are open */ #openGroups = new Set();
  #at = 0;
  /** Whether to show the next items even while the pointer or the focus is in the list. */
  #fresh = true;
  /** UID of the pod whose page to show. */
  #sought = '';

  /** @param {HTMLElement} root @param {number} perPage @param {Hooks} hooks */
  constructor(root, perPage, hooks) {
    root.append(/** @type {HTMLTemplateElement} */ (part('lines')).content.cloneNode(true));
    const find = (/** @type {string} */ what) => /** @type {HTMLElement} */ (root.querySelector(what));
    this.perPage = perPage;
    this.hooks = hooks;
    this.table = find('table');
    this.caption = find('caption');
    this.thead = find('thead');
    this.tbody = find('tbody');
    this.empty = find('.empty');
    this.later = find('.later');
    this.pager = find('.pager');
    this.previous = /** @type {HTMLButtonElement} */ (this.pager.firstElementChild);
    this.next = /** @type {HTMLButtonElement} */ (this.pager.lastElementChild);
    this.tbody.addEventListener('click', (e) => this.#act(/** @type {Element} */ (e.target).closest('button')));
    for (const [turn, by] of /** @type {const} */ ([[this.previous, -1], [this.next, 1]])) {
      turn.addEventListener('click', () => { this.#at += by; this.#render(); });
    }
  }

  /** @param {HTMLButtonElement | null} button of a line */
  #act(button) {
    if (!button) return;
    if (button.className === 'copy') { copy(button); return; }
    const key = button.closest('tr')?.dataset.key ?? '';
    const item = this.#items.find((i) => i.key === key);
    if (item?.row) this.hooks.open(item.row.of.uid);
    else if (item?.node) this.hooks.lead(item.node.of.name);
    else {
      if (!this.#openGroups.delete(key)) this.#openGroups.add(key);
      this.#render();
    }
  }

  /** Goes to the first page, after the filter has changed. */
  first() {
    this.#at = 0;
    this.#fresh = true;
  }

  /** Goes to the page of a pod as soon as it is in the list. @param {string} uid */
  seek(uid) { this.#sought = uid; }

  /** Shows a list. @param {List} list @param {Item[]} items @param {string} nothing the text if there are none */
  show(list, items, nothing) {
    const still = list.still && list === this.#list && !this.#fresh && (this.tbody.matches(':hover') || this.tbody.contains(document.activeElement));
    const has = still ? new Set(this.#items.map((i) => i.key)) : null;
    const later = has ? items.filter((i) => !has.has(i.key)).length : 0;
    write(this.later, later ? `Stands still while you are in it; ${later.toLocaleString('en')} newer` : '');
    if (!still) this.#items = items;
    this.#list = list;
    this.#fresh = false;
    write(this.empty, nothing);
    this.#render();
  }

  #sorting() {
    return this.#sort.get(this.#list) ?? { column: this.#list.first, down: this.#list.down ?? false };
  }

  #render() {
    const { column, down } = this.#sorting();
    const key = this.#list.columns[column].by;
    const compare = (/** @type {Item} */ a, /** @type {Item} */ b) => {
      const x = key(a);
      const y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1) || (a.key < b.key ? -1 : 1);
    };
    const { perPage } = this;
    const lines = this.#linesOf([...this.#items].sort(compare));
    const pages = Math.max(1, Math.ceil(lines.length / perPage));
    const sought = this.#sought ? lines.findIndex((i) => i.row?.of.uid === this.#sought) : -1;
    if (sought >= 0) this.#at = Math.floor(sought / perPage);
    this.#at = Math.max(0, Math.min(this.#at, pages - 1));
    this.#header();
    this.#body(lines.slice(this.#at * perPage, (this.#at + 1) * perPage));
    this.table.hidden = lines.length === 0;
    this.empty.hidden = lines.length > 0;
    this.pager.hidden = pages === 1;
    write(/** @type {Element} */ (this.previous.nextElementSibling), `${this.#at * perPage + 1}–${Math.min(lines.length, (this.#at + 1) * perPage)} of ${plural(lines.length, 'line')}`);
    this.previous.disabled = this.#at === 0;
    this.next.disabled = this.#at === pages - 1;
    this.#sought = '';
    if (sought >= 0) this.tbody.querySelector(`[data-key="${CSS.escape(lines[sought].key)}"]`)?.scrollIntoView({ block: 'center' });
  }

  /** The lines to show: groups, with the lines of open ones, if a grouping is chosen. @param {Item[]} items @returns {Item[]} */
  #linesOf(items) {
    if (!this.group || this.#list === lists.nodes) return items;
    const of = new Map(items.map((i) => [i.row, i]));
    return grouped(items.map((i) => /** @type {Row} */ (i.row)), this.group).flatMap((group) => {
      const key = `group ${group.name}`;
      if (this.#sought && group.rows.some((r) => r.of.uid === this.#sought)) this.#openGroups.add(key);
      return [{ key, group }, ...(this.#openGroups.has(key) ? group.rows.map((r) => /** @type {Item} */ (of.get(r))) : [])];
    });
  }

  #header() {
    const { column, down } = this.#sorting();
    const { title, columns } = this.#list;
    write(this.caption, title);
    this.pager.ariaLabel = `Pages of ${title}`;
    const row = element('tr', {}, ...columns.map((c, i) => {
      const ariaSort = i !== column ? null : down ? 'descending' : 'ascending';
      const name = c.zoned ? `${c.title}, ${zone(this.hooks.now())}` : c.title;
      return element('th', { scope: 'col', className: c.at ?? '', ariaSort }, button({}, () => this.#sortBy(i), name));
    }));
    row.dataset.key = title;
    place(this.thead, [row]);
  }

  /** @param {number} column */
  #sortBy(column) {
    const was = this.#sorting();
    this.#sort.set(this.#list, { column, down: was.column === column && !was.down });
    this.#at = 0;
    this.#render();
  }

  /** Puts the lines in place, and leaves lines alone that are already there. @param {Item[]} items */
  #body(items) {
    const focus = /** @type {HTMLElement | null} */ (document.activeElement);
    place(this.tbody, items.flatMap((item) => this.#line(item)));
    if (focus && focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  }

  /** A line: a cell for each column or, for a group, a summary and a button that opens the group. The explanation is below an open row. @param {Item} item */
  #line(item) {
    const now = this.hooks.now();
    const { columns } = this.#list;
    const whole = (/** @type {(HTMLElement | string)[]} */ ...content) => element('td', { colSpan: columns.length }, ...content);
    const open = item.group ? this.#openGroups.has(item.key) : item.row?.of.uid === this.open && this.open !== '';
    const line = item.group
      ? element('tr', { className: 'group' }, whole(element('button', { type: 'button', className: 'open' }, ...breakable(item.group.name)), ' ', element('span', {}, summary(item.group, now))))
      : element('tr', {}, ...columns.map((c) => element('td', { className: c.at ?? '' }, ...[c.cell(item, now)].flat())));
    line.dataset.key = item.key;
    line.querySelector('.open')?.setAttribute('aria-expanded', String(open));
    if (!item.row || !open) return [line];
    const why = element('tr', { className: 'why' }, whole(explanation(item.row, this.nodes, now)));
    why.dataset.key = `why ${item.key}`;
    return [line, why];
  }

  /** Updates the countdowns. */
  tick() {
    if (!this.table.hidden) this.#render();
  }
}

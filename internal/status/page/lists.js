// The lists: stuck evictions, upcoming evictions, recent evictions, and nodes. Each has its columns.

/** @import {Row, Node} from './types.js' */
/** @import {Group} from './groups.js' */
/** @import {Lane} from './scale.js' */
import { element } from './dom.js';
import { answer } from './explain.js';
import { clock, lateness, span, stamp, until, zoned } from './format.js';
import { glyph, rank, stuck } from './states.js';

/**
 * @typedef {object} Item one line of a list: a row, a node or a group
 * @property {string} key
 * @property {Row} [row]
 * @property {NodeLine} [node]
 * @property {Group} [group]
 */

/** @typedef {{of: Node, lane: Lane, since: number}} NodeLine */

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [zoned] its times are in the zone that the title names
 * @property {(i: Item) => string | number} by what it is sorted by
 * @property {(i: Item, now: number) => string | (HTMLElement | string)[]} cell its content
 * @property {string} [at] class: where the column is shown
 */

/**
 * @typedef {object} List
 * @property {string} title
 * @property {string} empty text if the list is empty
 * @property {string} unknown text if it is unknown whether the list is empty
 * @property {Column[]} columns
 * @property {number} first the column that the list is sorted by at first
 * @property {boolean} [down]
 * @property {boolean} [still] while the pointer or the focus is in the list, the list does not change
 */

/** A text that may be broken after a slash, a dot or an equals sign rather than anywhere. @param {string} text */
export const breakable = (text) => text.split(/(?<=[/=.])/).flatMap((word) => [word, element('wbr')]);

/** A column. @param {string} title @param {Column['cell']} cell @param {Column['by']} by @param {string} [at] @returns {Column} */
const column = (title, cell, by, at) => ({ title, by, at, cell });

/** A column of names, which may be broken. @param {string} title @param {(i: Item) => string} name @param {Column['by']} by @param {string} at */
const names = (title, name, by, at) => column(title, (i) => breakable(name(i)), by, at);

/** @param {Item} i */
const row = (i) => /** @type {Row} */ (i.row);
/** @param {Item} i */
const node = (i) => /** @type {NodeLine} */ (i.node);
/** Sorts missing times last. @param {number} n */
const known = (n) => (Number.isFinite(n) ? n : Infinity);

const state = column('State', (i) => [
  element('span', { className: 'state' }, glyph(row(i).state), element('span', {}, ` ${row(i).state}`)),
], (i) => rank(row(i).state));

/** The pod's name, and below it, on a narrow screen, the content of the columns that are hidden there. */
const pod = column('Pod', (i, now) => {
  const { of, owner, state } = row(i);
  const why = stuck(state) ? answer(row(i), now) : of.taint.replace(/:NoExecute$/, '');
  const under = `${[state, owner, of.node].filter(Boolean).join(', ')}: ${why}`;
  const name = element('button', { type: 'button', className: 'open' }, element('span', { className: 'space' }, `${of.namespace}/`), of.pod);
  return [name, element('span', { className: 'under' }, ...breakable(under))];
}, (i) => `${row(i).of.namespace}/${row(i).of.pod}`, 'name pod');

/** Why the pod is evicted, or what its eviction waits for. @param {Row} r @param {number} now */
function reason(r, now) {
  if (r.state === 'held') return `held by ${r.of.heldBy}`;
  if (r.of.waitsFor) return `waiting for ${r.of.waitsFor}`;
  return zoned(r.of.because.replace(/^taint .* \(countdown started at [^)]*\) is /, ''), now);
}

const nodeOf = column('Node', (i) => row(i).of.node, (i) => row(i).of.node, 'wide name');
// The effect NoExecute is left out; the explanation shows it.
const taintOf = names('Taint', (i) => row(i).of.taint.replace(/:NoExecute$/, ''), (i) => row(i).of.taint, 'mid wide name taint');
const ownerOf = names('Owner', (i) => row(i).owner || 'none', (i) => row(i).owner || '\uffff', 'mid wide name');
const deadline = { zoned: true, ...column('Deadline', (i, now) => clock(row(i).due, now), (i) => row(i).due, 'wide time') };
const because = column('Reason', (i, now) => reason(row(i), now), (i) => reason(row(i), 0), 'wide long');
const countdown = column('Due', (i, now) => {
  const { due, state } = row(i);
  if (state === 'terminating') return '';
  return [element('span', { className: now - due > 1000 ? 'late' : '' }, coming(due, now))];
}, (i) => row(i).due, 'time');
/** When an eviction is due, or since when it is late. @param {number} ms @param {number} now */
const coming = (ms, now) => (now - ms > 1000 ? `${span(now - ms)} late` : until(ms, now));
const nextTry = column('Next attempt', (i, now) => (now - row(i).next > 1000 ? `was due ${until(row(i).next, now)}` : until(row(i).next, now)) || 'in flight', (i) => known(row(i).next), 'wide time');

const name = column('Node', (i) => [
  element('button', { type: 'button', className: 'lead', title: 'Show its pods' }, ...breakable(node(i).of.name)),
], (i) => node(i).of.name, 'name');

/** @type {Record<'stuck' | 'upcoming' | 'evicted' | 'nodes', List>} */
export const lists = {
  stuck: {
    title: 'Stuck', empty: 'No stuck evictions match the filter.', unknown: '', first: 4,
    columns: [state, pod, ownerOf, nodeOf, countdown, column('Last result', (i, now) => answer(row(i), now), (i) => answer(row(i), 0), 'wide long'), nextTry],
  },
  upcoming: {
    title: 'Upcoming', empty: 'No scheduled evictions match the filter.', unknown: 'Scheduled evictions are unknown.', first: 6,
    columns: [state, pod, ownerOf, nodeOf, taintOf, deadline, countdown, because],
  },
  evicted: {
    title: 'Recently evicted', empty: 'No evictions of this replica in the last hour match the filter.', unknown: 'Recent evictions are unknown.', first: 5, down: true, still: true,
    columns: [pod, ownerOf, nodeOf, taintOf, deadline, { zoned: true, ...column('Evicted', (i, now) => clock(row(i).ended, now), (i) => row(i).ended, 'time') },
      column('Late by', (i) => lateness(Math.max(0, row(i).ended - row(i).due) / 1000), (i) => row(i).ended - row(i).due, 'wide time'), because],
  },
  nodes: {
    title: 'Nodes', empty: 'No nodes with taints that evict pods match the filter.', unknown: 'Tainted nodes are unknown.', first: 3, down: true,
    columns: [name,
      column('Taints', (i, now) => node(i).of.taints.map((t) => `${t.taint} since ${stamp(Date.parse(t.since), now)}`).join(', '), (i) => node(i).of.taints[0]?.taint ?? '', 'long'),
      column('Tainted', (i, now) => until(node(i).since, now), (i) => known(node(i).since), 'wide time'),
      column('Pending', (i) => String(node(i).lane.pending), (i) => node(i).lane.pending),
      column('Stuck', (i) => String(node(i).lane.stuck), (i) => node(i).lane.stuck, 'wide'),
      column('Next eviction', (i, now) => coming(node(i).lane.first, now), (i) => known(node(i).lane.first), 'wide time')],
  },
};

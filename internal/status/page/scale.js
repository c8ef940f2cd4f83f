// The arithmetic of the timeline: steps, bins and lanes. Pure.

/** @import {Row} from './types.js' */
import { stuck, rank, states } from './states.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Lengths of time that people count in. */
const steps = [
  100, 200, 500, second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute,
  10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day,
  28 * day, 84 * day, 364 * day, 3640 * day, 36400 * day, 364000 * day,
];

/** The shortest step of at least ms. @param {number} ms */
export const stepOf = (ms) => steps.find((step) => step >= ms) ?? steps[steps.length - 1];

/**
 * The marks of the axis.
 * @param {number} from @param {number} to @param {number} most how many at most
 */
export function ticks(from, to, most) {
  const step = stepOf((to - from) / most);
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
  return list;
}

/**
 * @typedef {object} Bin some rows of a node, of one state, that are shown as one mark
 * @property {number} at their mean time
 * @property {number} from
 * @property {number} to the end, exclusive
 * @property {number} count
 * @property {string} state
 * @property {boolean} [late] they are due, and still there
 */

/**
 * The rows of each node in bins of one width, in the order of time.
 * @param {Iterable<Row>} rows @param {number} width in milliseconds @param {number} now
 * @returns {Map<string, Bin[]>}
 */
export function binned(rows, width, now) {
  /** @type {Map<string, Map<number | string, Bin>>} */
  const nodes = new Map();
  for (const row of rows) {
    let bins = nodes.get(row.of.node);
    if (!bins) nodes.set(row.of.node, (bins = new Map()));
    const late = row.state !== 'evicted' && row.due <= now;
    const index = Math.floor(row.shown / width);
    const key = late ? row.state : index * states.length + rank(row.state);
    const bin = bins.get(key);
    if (!bin) {
      const range = late ? { from: -Infinity, to: now, late } : { from: index * width, to: (index + 1) * width };
      bins.set(key, { at: row.shown, count: 1, state: row.state, ...range });
      continue;
    }
    bin.count++;
    bin.at += (row.shown - bin.at) / bin.count;
  }
  const sorted = new Map();
  for (const [node, bins] of nodes) sorted.set(node, [...bins.values()].sort((a, b) => a.at - b.at));
  return sorted;
}

/**
 * @typedef {object} Lane
 * @property {string} node
 * @property {number} pending
 * @property {number} stuck
 * @property {number} evicted
 * @property {number} first the earliest deadline of the pending evictions; Infinity if there are none
 */

/**
 * A lane for each node, the busiest first: ordered by pending evictions, then by evicted pods.
 * @param {Iterable<Row>} rows @param {Iterable<string>} tainted nodes that have a lane even if they have no row
 * @returns {Lane[]}
 */
export function lanesOf(rows, tainted) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const lane = (/** @type {string} */ node) => {
    let l = lanes.get(node);
    if (!l) lanes.set(node, (l = { node, pending: 0, stuck: 0, evicted: 0, first: Infinity }));
    return l;
  };
  for (const node of tainted) lane(node);
  for (const row of rows) {
    const l = lane(row.of.node);
    if (row.state === 'evicted') { l.evicted++; continue; }
    if (row.state !== 'terminating') l.pending++;
    if (stuck(row.state)) l.stuck++;
    l.first = Math.min(l.first, row.due);
  }
  return [...lanes.values()].sort((a, b) => b.pending - a.pending || b.evicted - a.evicted || (a.node < b.node ? -1 : 1));
}

/** A round length of time, a little longer than ms. @param {number} ms */
const roundUp = (ms) => Math.ceil(ms / stepOf(ms / 30)) * stepOf(ms / 30);

/**
 * How far the view reaches into the future so that it shows all pending evictions, and little more. A few that are
 * much later than the rest are left out; the timeline counts them at its edge.
 * @param {Iterable<Row>} rows @param {number} now
 */
export function reach(rows, now) {
  const ahead = [];
  for (const row of rows) if (row.state !== 'evicted' && row.due > now) ahead.push(row.due - now);
  if (!ahead.length) return 2 * minute;
  ahead.sort((a, b) => a - b);
  const last = ahead[ahead.length - 1];
  const most = ahead[Math.floor((ahead.length - 1) * 0.98)];
  return roundUp(Math.max((last > 3 * most ? most : last) * 1.1, 20 * second));
}

/** Pixels at an end of a lane that are reserved for a counter. */
export const edge = 46;

/** @typedef {{bin: Bin, x: number, left: number, right: number}} Mark a bin where it is drawn: its middle and its ends */

/**
 * The marks of a lane, at their positions. Upcoming evictions are right of now, past ones left of it, and late ones
 * at now. Marks that would overlap move away from now. Marks that do not fit are counted at the ends.
 * @param {Bin[]} bins @param {{from: number, scale: number, now: number, width: number}} view
 * @param {(bin: Bin) => {radius: number, extent: number}} sizeOf
 */
export function placed(bins, { from, scale, now, width }, sizeOf) {
  const at = (/** @type {Bin} */ bin) => (bin.at - from) * scale;
  const line = (now - from) * scale;
  const over = bins.filter((bin) => bin.state === 'evicted');
  const late = bins.filter((bin) => bin.state !== 'evicted' && (bin.late || bin.at <= now)).sort((a, b) => rank(a.state) - rank(b.state));
  const ahead = bins.filter((bin) => bin.state !== 'evicted' && !bin.late && bin.at > now);
  /** @type {Mark[]} */
  const marks = [];
  let free = line + 3;
  for (const bin of [...late, ...ahead]) {
    const { radius, extent } = sizeOf(bin);
    const x = Math.max(late.includes(bin) ? line : at(bin), free + radius);
    marks.push({ bin, x, left: x - radius, right: x - radius + extent });
    free = x - radius + extent + 2;
  }
  free = line - 2;
  for (const bin of over.reverse()) {
    const { radius, extent } = sizeOf(bin);
    const x = Math.min(at(bin), free - extent + radius);
    marks.push({ bin, x, left: x - radius, right: x - radius + extent });
    free = x - radius - 2;
  }
  return cut(marks, width);
}

/** Keeps the marks that fit, and counts the pending evictions of the others. @param {Mark[]} marks @param {number} width */
function cut(marks, width) {
  const pending = marks.filter((m) => m.bin.state !== 'evicted');
  const least = pending.some((m) => m.left < 0) ? edge : 0;
  const most = pending.some((m) => m.right > width) ? width - edge : width;
  const sum = (/** @type {Mark[]} */ list) => list.reduce((n, m) => n + m.bin.count, 0);
  return {
    marks: marks.filter((m) => m.left >= least && m.right <= most),
    before: sum(pending.filter((m) => m.left < least)),
    after: sum(pending.filter((m) => m.left >= least && m.right > most)),
  };
}

/** The middle of a label at x, moved so that the label stays between the ends. @param {number} x @param {number} half @param {number} width */
export const within = (x, half, width) => Math.min(Math.max(x, half), Math.max(half, width - half));

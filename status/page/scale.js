// The arithmetic of the timeline: steps, bins and lanes. Pure.

/** @import {Row} from './types.js' */
import { hindered, rank, states } from './states.js';

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

/** The shortest step that is not below ms. @param {number} ms */
export const stepOf = (ms) => steps.find((step) => step >= ms) ?? steps[steps.length - 1];

/**
 * Where the axis has its marks.
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
 * @property {number} to the end, not in it
 * @property {number} count
 * @property {string} state
 */

/**
 * The rows of each node in bins of one width, in the order of time.
 * @param {Iterable<Row>} rows @param {number} width in milliseconds
 * @returns {Map<string, Bin[]>}
 */
export function binned(rows, width) {
  /** @type {Map<string, Map<number, Bin>>} */
  const nodes = new Map();
  for (const row of rows) {
    let bins = nodes.get(row.of.node);
    if (!bins) nodes.set(row.of.node, (bins = new Map()));
    const index = Math.floor(row.shown / width);
    const key = index * states.length + rank(row.state);
    const bin = bins.get(key);
    if (!bin) {
      bins.set(key, { at: row.shown, from: index * width, to: (index + 1) * width, count: 1, state: row.state });
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
 * @property {number} held
 * @property {number} evicted
 */

/**
 * A lane for each node, the busiest first: those with most pending evictions, then with most evicted.
 * @param {Iterable<Row>} rows @param {Iterable<string>} tainted nodes that have a lane without any row
 * @returns {Lane[]}
 */
export function lanesOf(rows, tainted) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const lane = (/** @type {string} */ node) => {
    let l = lanes.get(node);
    if (!l) lanes.set(node, (l = { node, pending: 0, held: 0, evicted: 0 }));
    return l;
  };
  for (const node of tainted) lane(node);
  for (const row of rows) {
    const l = lane(row.of.node);
    if (row.state === 'evicted') l.evicted++;
    else l.pending++;
    if (hindered(row.state)) l.held++;
  }
  return [...lanes.values()].sort((a, b) => b.pending - a.pending || b.evicted - a.evicted || (a.node < b.node ? -1 : 1));
}

/**
 * How far the view reaches into the future so that nearly all that is pending is in it.
 * @param {Iterable<Row>} rows @param {number} now
 */
export function reach(rows, now) {
  const ahead = [];
  for (const row of rows) if (row.state !== 'evicted' && row.due > now) ahead.push(row.due - now);
  ahead.sort((a, b) => a - b);
  const far = ahead.length ? ahead[Math.min(ahead.length - 1, Math.floor(ahead.length * 0.98))] : 0;
  return stepOf(Math.max(far * 1.08, 2 * minute));
}

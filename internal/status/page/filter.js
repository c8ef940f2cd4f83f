// What the page shows: the filter, and everything else that the page's address holds. Pure.

/** @import {Row} from './types.js' */
import { groupings } from './groups.js';

/** Fields of the filter that hold a text. */
export const fields = /** @type {const} */ (['search', 'node', 'namespace', 'taint', 'policy']);

/** @typedef {Record<'node' | 'namespace' | 'taint' | 'policy', Set<string>>} Names the known names */

/**
 * @typedef {object} Filter
 * @property {string} search
 * @property {string} node
 * @property {string} namespace
 * @property {string} taint
 * @property {string} policy
 * @property {Set<string>} off states that are not shown
 * @property {{from: number, to: number, late?: boolean} | null} range of time; late: evictions that were due by its end and are still pending
 */

/** @returns {Filter} a filter that lets everything through */
export const everything = () => ({ search: '', node: '', namespace: '', taint: '', policy: '', off: new Set(), range: null });

/** Whether a filter lets everything through. @param {Filter} f */
export const isEmpty = (f) => fields.every((name) => !f[name]) && !f.off.size && !f.range;

/** The test of a search, for a text in lower case. @param {string} search @returns {(text: string) => boolean} */
export function searcher(search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.includes(word));
}

/**
 * The test of a field whose text is a list with commas: a value must match one of its items. A known name matches
 * exactly; any other text matches a part of a name.
 * @param {string} list @param {Set<string>} known @returns {(value: string) => boolean}
 */
export function chooser(list, known) {
  const wanted = list.split(',').map((name) => name.trim()).filter(Boolean);
  return (value) => !wanted.length || wanted.some((name) => (known.has(name) ? value === name : value.includes(name)));
}

/** The test of a filter. @param {Filter} f @param {Names} known @returns {(row: Row) => boolean} */
export function matcher(f, known) {
  const found = searcher(f.search);
  const choosers = /** @type {const} */ (['node', 'namespace', 'taint', 'policy']).filter((name) => f[name])
    .map((name) => /** @type {const} */ ([name, chooser(f[name], known[name])]));
  return (row) => {
    if (f.off.has(row.state)) return false;
    if (f.range?.late ? row.state === 'evicted' || row.due > f.range.to : f.range && !(row.shown >= f.range.from && row.shown < f.range.to)) return false;
    return choosers.every(([name, chosen]) => chosen(row.of[name] ?? '')) && found(row.text);
  };
}

/**
 * @typedef {object} View what the address holds
 * @property {Filter} filter
 * @property {'upcoming' | 'evicted' | 'nodes'} list
 * @property {string} group
 * @property {string} open UID of the pod that is open
 * @property {string} zone "UTC", "local", or empty if the address has none
 * @property {number} across milliseconds that the timeline shows; 0: as many as fit
 * @property {number} moved milliseconds by which the timeline is moved from now
 */

/** A view as the hash of an address. @param {View} v */
export function toHash({ filter, list, group, open, zone, across, moved }) {
  const p = new URLSearchParams();
  const set = (/** @type {string} */ name, /** @type {string | number} */ value) => { if (value) p.set(name, String(value)); };
  for (const name of fields) set(name, filter[name]);
  set('hide', [...filter.off].join());
  const { range } = filter;
  if (range) set('range', [range.late ? '..' : iso(range.from), iso(range.to)].join('/'));
  if (list !== 'upcoming') set('list', list);
  set('group', group);
  set('open', open);
  set('zone', zone);
  set('across', Math.round(across / 1000));
  set('moved', Math.round(moved / 1000));
  return `#${String(p).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/')}`;
}

/** @param {number} ms */
const iso = (ms) => new Date(ms).toISOString();

/** The view of an address. Unknown values are left out. @param {string} hash @returns {View} */
export function fromHash(hash) {
  const p = new URLSearchParams(hash.replace(/^#/, ''));
  const text = (/** @type {string} */ name) => p.get(name) ?? '';
  const filter = everything();
  for (const name of fields) filter[name] = text(name);
  for (const state of text('hide').split(',')) if (state) filter.off.add(state);
  const [begin, to] = text('range').split('/').map((time) => Date.parse(time));
  const late = text('range').startsWith('../');
  if (to && (late || begin)) filter.range = late ? { from: -Infinity, to, late } : { from: begin, to };
  return {
    filter,
    list: /** @type {View['list']} */ (['evicted', 'nodes'].find((name) => name === text('list')) ?? 'upcoming'),
    group: groupings[text('group')] ? text('group') : '',
    open: text('open'),
    zone: ['UTC', 'local'].find((name) => name === text('zone')) ?? '',
    across: 1000 * Number(text('across')) || 0,
    moved: 1000 * Number(text('moved')) || 0,
  };
}

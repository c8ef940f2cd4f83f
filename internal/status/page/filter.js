// Which rows are shown. Pure.

/** @import {Row} from './types.js' */

/**
 * @typedef {object} Filter
 * @property {string} search
 * @property {string} node
 * @property {string} namespace
 * @property {string} taint
 * @property {string} policy
 * @property {Set<string>} off states that are not shown
 * @property {{from: number, to: number, late?: boolean} | null} range of time; late: what was due by its end, and is still there
 */

/** @returns {Filter} one that lets everything through */
export const everything = () => ({ search: '', node: '', namespace: '', taint: '', policy: '', off: new Set(), range: null });

/** Whether a filter lets everything through. @param {Filter} f */
export const isEmpty = (f) => !f.search && !f.node && !f.namespace && !f.taint && !f.policy && !f.off.size && !f.range;

/**
 * The test that a filter is. A name that is known is meant exactly; anything else is a part of one.
 * @param {Filter} f @param {Record<'node' | 'namespace' | 'taint' | 'policy', Set<string>>} known
 * @returns {(row: Row) => boolean}
 */
export function matcher(f, known) {
  const words = f.search.toLowerCase().split(/\s+/).filter(Boolean);
  const fields = /** @type {const} */ (['node', 'namespace', 'taint', 'policy']).filter((name) => f[name] !== '');
  return (row) => {
    if (f.off.has(row.state)) return false;
    if (f.range?.late ? row.state === 'evicted' || row.due > f.range.to : f.range && !(row.shown >= f.range.from && row.shown < f.range.to)) return false;
    for (const name of fields) {
      const value = row.of[name] ?? '';
      if (known[name].has(f[name]) ? value !== f[name] : !value.includes(f[name])) return false;
    }
    return words.every((word) => row.text.includes(word));
  };
}

/** The filter as a part of an address. @param {Filter} f @param {string} tab @param {string} group */
export function toHash(f, tab, group) {
  const p = new URLSearchParams();
  for (const name of /** @type {const} */ (['search', 'node', 'namespace', 'taint', 'policy'])) if (f[name]) p.set(name, f[name]);
  if (f.off.size) p.set('hide', [...f.off].join(','));
  if (tab !== 'evictions') p.set('list', tab);
  if (group) p.set('group', group);
  return p.size ? `#${p}` : '';
}

/** The filter of an address. @param {string} hash @returns {{filter: Filter, tab: string, group: string}} */
export function fromHash(hash) {
  const p = new URLSearchParams(hash.replace(/^#/, ''));
  const filter = everything();
  for (const name of /** @type {const} */ (['search', 'node', 'namespace', 'taint', 'policy'])) filter[name] = p.get(name) ?? '';
  for (const state of (p.get('hide') ?? '').split(',')) if (state) filter.off.add(state);
  return { filter, tab: p.get('list') ?? 'evictions', group: p.get('group') ?? '' };
}

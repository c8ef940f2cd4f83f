// The rows of a list in groups: by owner, budget, node, taint or policy. Pure.

/** @import {Row} from './types.js' */
import { plural, span, until } from './format.js';
import { stuck } from './states.js';

/** The attributes by which a list can be grouped, and the text for a row without the attribute. @type {Record<string, {none: string, of: (r: Row) => string}>} */
export const groupings = {
  owner: { none: 'no owner', of: (r) => r.owner && `${r.of.namespace}/${r.owner}` },
  budget: { none: 'no budget known', of: (r) => r.budget && `${r.of.namespace}/${r.budget}` },
  node: { none: 'no node', of: (r) => r.of.node },
  taint: { none: 'no taint', of: (r) => r.of.taint },
  policy: { none: 'no policy', of: (r) => r.policy },
};

/**
 * @typedef {object} Group
 * @property {string} name
 * @property {Row[]} rows in the order in which they came
 * @property {number} stuck
 * @property {number} first the earliest deadline
 */

/** The groups, ordered by their stuck evictions, then by size. @param {Row[]} rows @param {string} by @returns {Group[]} */
export function grouped(rows, by) {
  const { of, none } = groupings[by];
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const row of rows) {
    const name = of(row) || none;
    let group = groups.get(name);
    if (!group) groups.set(name, (group = { name, rows: [], stuck: 0, first: Infinity }));
    group.rows.push(row);
    if (stuck(row.state)) group.stuck++;
    group.first = Math.min(group.first, row.due);
  }
  return [...groups.values()].sort((a, b) => b.stuck - a.stuck || b.rows.length - a.rows.length || (a.name < b.name ? -1 : 1));
}

/** The text next to the name of a group. @param {Group} g @param {number} now */
export function summary(g, now) {
  const parts = [plural(g.rows.length, 'pod')];
  if (g.stuck) parts.push(`${g.stuck.toLocaleString('en')} stuck`);
  if (g.rows.some((r) => r.state !== 'evicted')) parts.push(g.first < now - 1000 ? `the first ${span(now - g.first)} late` : `the first is due ${until(g.first, now)}`);
  return parts.join(', ');
}

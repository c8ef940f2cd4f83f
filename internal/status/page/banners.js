// The banners above everything else: trouble of the manager, and doubts about the state that is shown. Pure.

/** @import {Manager, Row} from './types.js' */
import { sentence } from './explain.js';
import { stamp, zoned } from './format.js';

/** The pod's name in an identity. @param {string | undefined} identity */
export const podOf = (identity) => (identity ?? '').replace(/_[^_]*$/, '');

/** The group of a trip as sentences name it. @param {string} group */
const groupWords = (group) => (group === '<none>' ? 'the nodes without the label of its topologyKey' : group);

/** How a banner looks: bad, or just said. @typedef {'bad' | ''} How */

/** Of a manager that does not answer. @param {{refusal: string, at: number}} source @param {number} now @returns {[string, How][]} */
export const away = ({ refusal, at }, now) => [[refusal
  ? `What is shown is of the past: ${refusal}.`
  : `No word from taint-manager since ${stamp(at, now)}. What is shown may be of the past. It is tried again; if you came by kubectl port-forward, see whether that still runs.`, 'bad']];

/** Of a manager's state. @param {Manager} m @param {number} now @returns {[string, How][]} */
export function banners(m, now) {
  /** @type {[string, How][]} */
  const list = [];
  if (m.trouble) list.push([`Watch broken: ${zoned(m.trouble, now)}\nNew taints and pods are not seen, and what is shown may be of the past.`, 'bad']);
  if (m.paused) list.push(['Paused: no eviction starts, and what is due waits, until the configuration has paused: false.', 'bad']);
  for (const t of m.trips ?? []) list.push([`Breaker ${t.breaker} is tripped${t.group ? ` for ${groupWords(t.group)}` : ''} since ${stamp(Date.parse(t.since), now)}: too many nodes are affected. The evictions that it guards are held; all others go on.`, 'bad']);
  if (m.warning) list.push([`Warning: ${zoned(m.warning, now)}.`, 'bad']);
  if (m.role !== 'leading') list.push([m.leader ? `This replica stands by; ${podOf(m.leader)} leads. Its page shows what was evicted, and what is blocked, refused or delayed.` : 'This replica stands by, and it knows of no leader: nothing is evicted until a replica leads.', m.leader ? '' : 'bad']);
  if (m.dryRun) list.push(['Dry run: no pod is evicted. The page shows what would be.', '']);
  return list;
}

/** Of the pod that is open, where the lists no longer have it. @param {Row | undefined} evicted @param {number} now @returns {[string, How]} */
export const missed = (evicted, now) => [evicted ? sentence(evicted, now) : 'The pod that this address opens is not here: it stays, is gone, or was evicted more than an hour ago.', ''];

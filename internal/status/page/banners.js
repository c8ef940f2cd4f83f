// The banners above everything else: problems of the manager, and doubts about the state on the page. Pure.

/** @import {Manager, Row} from './types.js' */
import { sentence } from './explain.js';
import { stamp, zoned } from './format.js';

/** The pod's name in an identity. @param {string | undefined} identity */
export const podOf = (identity) => (identity ?? '').replace(/_[^_]*$/, '');

/** The group of a trip, for a sentence. @param {string} group */
const groupWords = (group) => (group === '<none>' ? 'the nodes without the label of its topologyKey' : group);

/** How a banner looks: bad, or plain. @typedef {'bad' | ''} How */

/** The banners about a manager that does not answer. @param {{refusal: string, at: number}} source @param {number} now @returns {[string, How][]} */
export const away = ({ refusal, at }, now) => [[refusal
  ? `This page is out of date: ${refusal}.`
  : `taint-manager has not answered since ${stamp(at, now)}, so this page may be out of date. Retrying; check that kubectl port-forward still runs.`, 'bad']];

/** The banners about the state of a manager. @param {Manager} m @param {number} now @returns {[string, How][]} */
export function banners(m, now) {
  /** @type {[string, How][]} */
  const list = [];
  if (m.trouble) list.push([`Watch broken: ${zoned(m.trouble, now)}\nNew taints and pods are not visible, and this page may be out of date.`, 'bad']);
  if (m.paused) list.push(['Paused: no eviction starts until the configuration has paused: false.', 'bad']);
  for (const t of m.trips ?? []) list.push([`Breaker ${t.breaker} is tripped${t.group ? ` for ${groupWords(t.group)}` : ''} since ${stamp(Date.parse(t.since), now)}: too many nodes are affected. It holds the evictions that it covers; all others continue.`, 'bad']);
  for (const why of m.idle ?? []) list.push([`Note: ${why}.`, '']);
  if (m.part) list.push([`${m.part}.`, '']);
  if (m.warning) list.push([`Warning: ${zoned(m.warning, now)}.`, 'bad']);
  if (m.role !== 'leading') list.push([m.leader ? `This replica is on standby; ${podOf(m.leader)} leads. Only the page of the leader shows evicted pods, and blocked, refused or delayed evictions.` : 'This replica is on standby and knows no leader: no pod is evicted until a replica leads.', m.leader ? '' : 'bad']);
  if (m.dryRun) list.push(['Dry run: no pod is evicted. This page shows what would be evicted.', '']);
  return list;
}

/** The banner about the open pod, if the lists no longer have it. @param {Row | undefined} evicted @param {number} now @returns {[string, How]} */
export const missed = (evicted, now) => [evicted ? sentence(evicted, now) : 'The pod of this address is not listed: it stays, is gone, or was evicted more than an hour ago.', ''];

// The state of the page: a snapshot, and the changes since. Pure except for its own state.

/** @import {Eviction, Row, Node, Minute, Manager, Totals, Message} from './types.js' */
import { stuck } from './states.js';

const hour = 3600_000;
const maxEvicted = 4096;

/** @param {string | undefined} text */
const moment = (text) => (text ? Date.parse(text) : NaN);

/** The name of a workload, with its group unless that is one of Kubernetes' own. @param {Eviction['owner']} o */
const nameOf = (o) => (o ? `${o.kind}${o.group?.includes('.') ? `.${o.group}` : ''}/${o.name}` : '');

/** The fields of an eviction that the page keeps, with times in milliseconds. A missing time is NaN, a missing text is empty. @param {Eviction} of @param {boolean} past */
export function rowOf(of, past) {
  const due = moment(of.deadline);
  const ended = moment(of.at); // when it was evicted
  const owner = nameOf(of.owner); // its workload
  const budget = of.budget ?? ''; // the PodDisruptionBudget that blocks it
  const policy = of.policy ?? ''; // the policy that decides
  const state = past ? 'evicted' : of.state;
  return {
    of, due, ended, owner, budget, policy, state,
    key: past ? `${of.uid} ${of.at}` : of.uid,
    shown: past ? ended : due, // its time on the timeline
    next: moment(of.nextTry),
    /** The text that a search searches. */
    text: `${of.namespace}/${of.pod} ${of.node} ${of.taint} ${owner} ${budget} ${policy} ${of.heldBy ?? ''} ${of.waitsFor ?? ''} ${of.cause ?? ''} ${state} ${stuck(state) ? 'stuck' : ''}`.toLowerCase(),
  };
}

export class Store {
  /** @type {Map<string, Row>} by UID */
  rows = new Map();
  /** @type {Row[]} recent evictions, oldest first */
  evicted = [];
  /** @type {Map<string, Node>} by name */
  nodes = new Map();
  /** @type {Map<number, Minute>} by start */
  minutes = new Map();
  /** @type {Totals} */
  totals = {};
  /** Null before the first snapshot: until then, a count of 0 means unknown. @type {Manager | null} */
  manager = null;

  /** Applies an answer: a snapshot, or changes. @param {Message} m */
  apply(m) {
    if (m.kind === 'Snapshot') {
      this.rows = new Map();
      this.evicted = [];
      this.nodes = new Map();
    }
    for (const e of m.evictions) this.rows.set(e.uid, rowOf(e, false));
    for (const uid of m.gone ?? []) this.rows.delete(uid);
    for (const n of m.nodes) this.nodes.set(n.name, n);
    for (const name of m.nodesGone ?? []) this.nodes.delete(name);
    const from = moment(m.at) - hour;
    this.evicted = this.evicted.concat(m.evicted.map((e) => rowOf(e, true))).filter((row) => row.ended >= from).slice(-maxEvicted);
    this.minutes = new Map(m.minutes.map((minute) => [moment(minute.start), minute]));
    this.totals = m.totals;
    this.manager = m.manager;
  }

  /** All rows: pending evictions, then past ones. */
  all() {
    return [...this.rows.values(), ...this.evicted];
  }
}

// What the page knows: the stream's messages, put together. Pure except for its own state.

/** @import {Eviction, Row, Node, Minute, Manager, Totals, Message} from './types.js' */

const hour = 3600_000;
const maxEvicted = 4096;

/** @param {string | undefined} text */
const moment = (text) => (text ? Date.parse(text) : NaN);

/** @param {Eviction} of @param {boolean} past @returns {Row} */
export function rowOf(of, past) {
  const due = moment(of.deadline);
  const ended = moment(of.at);
  const owner = of.owner ? `${of.owner.kind}/${of.owner.name}` : '';
  const budget = of.budget ?? '';
  const policy = of.policy ?? '';
  return {
    of, due, ended, owner, budget, policy,
    key: past ? `${of.uid} ${of.at}` : of.uid,
    state: past ? 'evicted' : of.state,
    shown: past ? ended : due,
    next: moment(of.nextTry),
    text: `${of.namespace}/${of.pod} ${of.node} ${of.taint} ${owner} ${budget} ${policy} ${of.heldBy ?? ''} ${of.waitsFor ?? ''} ${of.cause ?? ''}`.toLowerCase(),
  };
}

export class Store {
  /** @type {Map<string, Row>} by UID */
  rows = new Map();
  /** @type {Row[]} what was evicted lately, oldest first */
  evicted = [];
  /** @type {Map<string, Node>} by name */
  nodes = new Map();
  /** @type {Map<number, Minute>} by start */
  minutes = new Map();
  /** @type {Totals} */
  totals = {};
  /** @type {Manager | null} */
  manager = null;
  /** Whether a snapshot is complete. Before that, a count of 0 says nothing. */
  ready = false;
  /** The moment of the last message, by the manager's clock. */
  at = NaN;
  /** Grows with each change of anything. */
  version = 0;

  /** @type {Map<string, Row> | null} rows of a snapshot that is not complete */
  #coming = null;

  /** Takes in a message of the stream. @param {string} kind @param {Message} m */
  apply(kind, m) {
    if (kind === 'snapshot') this.#begin(m);
    const into = this.#coming ?? this.rows;
    for (const e of m.evictions ?? []) into.set(e.uid, rowOf(e, false));
    for (const uid of m.gone ?? []) into.delete(uid);
    if (kind !== 'change' && !m.more && this.#coming) {
      this.rows = this.#coming; // all at once, so that a snapshot that comes again does not flicker
      this.#coming = null;
      this.ready = true;
    }
    this.#rest(m);
    this.version++;
  }

  /** @param {Message} m */
  #begin(m) {
    this.#coming = new Map();
    this.evicted = [];
    this.nodes = new Map();
    this.minutes = new Map();
    this.manager = m.manager ?? null;
  }

  /** @param {Message} m */
  #rest(m) {
    if (m.at) this.at = moment(m.at);
    if (m.totals) this.totals = m.totals;
    if (m.manager) this.manager = m.manager;
    for (const n of m.nodes ?? []) this.nodes.set(n.name, n);
    for (const name of m.nodesGone ?? []) this.nodes.delete(name);
    for (const minute of m.minutes ?? []) this.minutes.set(moment(minute.start), minute);
    if (m.evicted?.length) this.evicted = this.evicted.concat(m.evicted.map((e) => rowOf(e, true)));
    this.#forget();
  }

  /** Forgets what is more than an hour ago. */
  #forget() {
    const from = this.at - hour;
    let old = Math.max(0, this.evicted.length - maxEvicted);
    while (old < this.evicted.length && this.evicted[old].ended < from) old++;
    if (old > 0) this.evicted = this.evicted.slice(old);
    for (const start of this.minutes.keys()) if (start < from) this.minutes.delete(start);
  }

  /** All rows: those that are pending, then what was evicted. */
  all() {
    return [...this.rows.values(), ...this.evicted];
  }
}

// The shapes of docs/reference/api.md, for editors and people.

/**
 * @typedef {object} Eviction
 * @property {string} uid
 * @property {string} namespace
 * @property {string} pod
 * @property {string} node
 * @property {{kind: string, group?: string, name: string}} [owner]
 * @property {string} state
 * @property {string} deadline
 * @property {string} taint
 * @property {string} exposedSince
 * @property {string} because
 * @property {number} [returned]
 * @property {string} [policy]
 * @property {string} [method]
 * @property {string} [deleteAt]
 * @property {string} [heldBy]
 * @property {string} [waitsFor]
 * @property {string} [nextTry]
 * @property {number} [attempts]
 * @property {string} [cause]
 * @property {string} [message]
 * @property {string} [budget]
 * @property {string} [at] set for an evicted pod
 * @property {boolean} [dryRun]
 */

/** @typedef {ReturnType<typeof import('./store.js').rowOf>} Row an eviction, as the page keeps it */

/** @typedef {{taint: string, since: string}} Taint */
/** @typedef {{name: string, uid: string, taints: Taint[], evictions: number}} Node */
/** @typedef {{start: string, evicted: number, meanLateSeconds: number, maxLateSeconds: number}} Minute */
/** @typedef {{version?: string, identity?: string, role: string, leader?: string, dryRun?: boolean, cluster?: string, evictionMethod?: string, maxEvictionsPerSecond?: number, synced: boolean, trouble?: string, warning?: string, part?: string, paused?: boolean, idle?: string[], trips?: {breaker: string, group?: string, since: string, reset?: string}[], policies?: string[]}} Manager */
/** @typedef {Record<string, number>} Totals */

/**
 * @typedef {object} Message an answer: a snapshot, or what has changed since an earlier one
 * @property {string} kind
 * @property {string} at
 * @property {string} tag
 * @property {Totals} totals
 * @property {Manager} manager
 * @property {Eviction[]} evictions
 * @property {string[]} [gone]
 * @property {Node[]} nodes
 * @property {string[]} [nodesGone]
 * @property {Eviction[]} evicted
 * @property {Minute[]} minutes
 */

export {};

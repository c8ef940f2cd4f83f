// The states: their order, meanings and shapes. A state is shown by its shape, its colour and its word.

/** The states, ordered by how much they need attention. */
export const states = ['blocked', 'refused', 'delayed', 'due', 'in-flight', 'held', 'scheduled', 'terminating', 'evicted'];

/**
 * What the states mean, in the order in which an eviction may go through them: the states and texts of package eviction
 * (a test compares them), and that of a past eviction.
 * @type {Record<string, string>}
 */
export const meanings = {
  scheduled: 'its deadline is in the future',
  held: 'a policy or a tripped breaker keeps the pod from being evicted',
  due: 'its deadline has passed: it waits, or is retried soon after a failed call',
  'in-flight': 'a call is in flight',
  blocked: 'a PodDisruptionBudget does not permit it now',
  refused: 'admission or a missing permission forbids it',
  delayed: 'its calls failed several times in a row for another cause',
  terminating: 'the API server has accepted the deletion, and the pod is still there: in its grace period, with a finalizer, or on a dead node; in a dry run, the pod would have been evicted',
  evicted: 'evicted within the last hour',
};

/** Whether a call has failed, so that somebody may have to act: blocked, refused or delayed. @param {string} state */
export const stuck = (state) => state === 'blocked' || state === 'refused' || state === 'delayed';

/** Rank of a state: 0 needs most attention. @param {string} state */
export const rank = (state) => states.indexOf(state);

/** @param {number} r */
const circle = (r) => `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`;

/** The outline of a state's mark around 0,0 within a radius of 1, and whether it is filled. @type {Record<string, {full: boolean, path: string}>} */
const shapes = {
  scheduled: { full: true, path: circle(0.85) },
  held: { full: true, path: 'M-.75 -.9H-.2V.9H-.75ZM.2 -.9H.75V.9H.2Z' },
  due: { full: true, path: 'M0 -1L1 .8H-1Z' },
  'in-flight': { full: false, path: 'M-.8 -.8L0 0L-.8 .8M.1 -.8L.9 0L.1 .8' },
  blocked: { full: true, path: 'M-.85 -.85H.85V.85H-.85Z' },
  refused: { full: false, path: 'M-.8 -.8L.8 .8M.8 -.8L-.8 .8' },
  delayed: { full: true, path: 'M0 -1.05L1.05 0L0 1.05L-1.05 0Z' },
  terminating: { full: false, path: circle(0.8) },
  evicted: { full: false, path: 'M-.85 .05L-.25 .7L.9 -.7' },
};
/** A mark as an element, for legends and tables. @param {string} state */
export function glyph(state) {
  const root = vector('svg', { viewBox: '-1.33 -1.33 2.66 2.66', class: `glyph s-${state}`, 'aria-hidden': 'true' });
  root.append(vector('path', { d: shapes[state].path, class: shapes[state].full ? 'full' : '' }));
  return root;
}

/** @param {'svg' | 'path'} tag @param {Record<string, string>} attributes */
function vector(tag, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

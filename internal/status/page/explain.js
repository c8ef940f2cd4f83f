// The explanation of one eviction: why, since when, what blocks it, and what to do next.

/** @import {Row, Node} from './types.js' */
import { element } from './dom.js';
import { span, stamp, until, zoned } from './format.js';
import { stuck, meanings } from './states.js';

/** @type {Record<string, string>} */
const advice = {
  pdb: 'A PodDisruptionBudget blocks the eviction until it allows a disruption. Check the budget, and whether its other pods are ready:',
  rbac: 'taint-manager lacks the permission. Check that the ClusterRole taint-manager-evictions grants it, and that its binding exists:',
  admission: 'Admission rejects the eviction. The message above names the webhook or policy; ask its owner.',
  namespace: 'The namespace is being deleted, which also deletes the pod.',
  webhook: 'An admission webhook does not answer. The message above names it; check that its pods run.',
  unauthenticated: 'The API server rejects the credentials of taint-manager: they are missing or have expired.',
};

/** @param {Row} row */
function commands(row) {
  const { namespace, pod, node, cause, budget } = row.of;
  const list = [];
  if (cause === 'pdb') list.push(`kubectl -n ${namespace} ${budget ? `describe pdb ${budget}` : 'get pdb'}`);
  if (cause === 'rbac') list.push('kubectl describe clusterrolebinding,clusterrole taint-manager-evictions');
  if (row.state !== 'evicted') list.push(`kubectl -n ${namespace} describe pod ${pod}`);
  return [...list, `kubectl describe node ${node}`];
}

/** One sentence. @param {Row} row @param {number} now */
export function sentence(row, now) {
  const { namespace, pod, node, because, dryRun } = row.of;
  const name = `${namespace}/${pod}`;
  const why = zoned(because, now);
  const when = stamp(row.due, now);
  if (row.state === 'evicted') {
    const late = Math.max(0, row.ended - row.due) / 1000;
    return `${name} was ${dryRun ? 'due to be evicted (dry run)' : 'evicted'} from ${node} at ${stamp(row.ended, now)}, ${late.toFixed(2)} s after its deadline: ${why}.`;
  }
  if (row.state === 'held') return `${name} is held on ${node} by ${row.of.heldBy}; its deadline is ${when} (${until(row.due, now)}): ${why}.`;
  const tense = row.due > now ? 'will be evicted' : 'was due to be evicted';
  return `${name} ${tense} from ${node} at ${when} (${until(row.due, now)}): ${why}.`;
}

/** The outcome of the last call: its cause, and the server's message. @param {Row} row @param {number} now */
export const answer = (row, now) => zoned([row.of.cause, row.of.message].filter(Boolean).join(': '), now);

/** @param {Row} row @param {Map<string, Node>} nodes @param {number} now */
function facts(row, nodes, now) {
  const e = row.of;
  /** @type {[string, string][]} */
  const list = [['State', `${row.state}: ${meanings[row.state]}`]];
  if (row.owner) list.push(['Owner', row.owner]);
  if (row.policy) list.push(['Policy', e.method && e.state !== 'held' ? `${row.policy}, method ${e.method}` : row.policy]);
  if (e.heldBy) list.push(['Held by', e.heldBy]);
  if (e.waitsFor) list.push(['Waiting for', e.waitsFor]);
  if (e.deleteAt) list.push(['Deleted', `${stamp(Date.parse(e.deleteAt), now)}, if its eviction is still refused`]);
  if (row.budget) list.push(['Budget', row.budget]);
  if (e.exposedSince) list.push(['Countdown since', `${stamp(Date.parse(e.exposedSince), now)}, ${span(row.due - Date.parse(e.exposedSince))} before the deadline`]);
  if (e.attempts) list.push(['Attempts', String(e.attempts)]);
  if (stuck(row.state) && Number.isFinite(row.next)) list.push(row.next > now ? ['Next attempt', `${stamp(row.next, now)}, ${until(row.next, now)}`] : ['Next attempt', `was due at ${stamp(row.next, now)}, ${until(row.next, now)}`]);
  if (answer(row, now)) list.push(['Last result', answer(row, now)]);
  const node = nodes.get(e.node);
  for (const t of node?.taints ?? []) list.push(['Node taint', `${t.taint} since ${stamp(Date.parse(t.since), now)}`]);
  list.push(['Pod UID', e.uid]);
  return list;
}

/** The content of the open row. What blocks the eviction and what to do come first. @param {Row} row @param {Map<string, Node>} nodes @param {number} now */
export function explanation(row, nodes, now) {
  const list = facts(row, nodes, now).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]);
  const hint = stuck(row.state) ? advice[row.of.cause ?? ''] : undefined;
  return element('div', {}, element('p', {}, sentence(row, now)), ...(hint ? [element('p', {}, hint)] : []), ...commands(row).map(line), element('dl', {}, ...list));
}

/** A command, with a button that copies it. @param {string} command */
function line(command) {
  return element('p', { className: 'command' }, element('code', {}, command), element('button', { type: 'button', className: 'copy', title: command }, 'Copy'));
}

/** Copies the command next to a button, and says so for a moment. @param {HTMLButtonElement} button */
export async function copy(button) {
  const code = /** @type {HTMLElement} */ (button.previousElementSibling);
  // Without permission to write to the clipboard, the command is selected, to be copied by hand.
  const done = await navigator.clipboard.writeText(code.textContent ?? '').then(() => 'Copied', () => 'Selected');
  if (done === 'Selected') getSelection()?.selectAllChildren(code);
  button.textContent = done;
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

// The states: their names, order and shapes. A state is shown by its shape, its colour and its word.

/** The states from the one that needs people most to the one that needs them least. */
export const states = ['blocked', 'refused', 'delayed', 'due', 'in-flight', 'held', 'scheduled', 'done', 'evicted'];

/** @type {Record<string, string>} */
export const titles = {
  scheduled: 'scheduled', held: 'held', due: 'due', 'in-flight': 'in flight', blocked: 'blocked', refused: 'refused', delayed: 'delayed',
  done: 'accepted', evicted: 'evicted',
};

/** @type {Record<string, string>} */
export const meanings = {
  scheduled: 'waits for its deadline', held: 'a policy or a tripped breaker keeps it from going', due: 'its deadline has come', 'in-flight': 'a call is under way',
  blocked: 'a PodDisruptionBudget does not permit it now', refused: 'admission or a missing permission forbids it',
  delayed: 'another cause has failed its calls several times in a row', done: 'the API server took it; the pod is still there',
  evicted: 'gone, within the last hour',
};

/** Whether a call has failed, so that people may have to do something: blocked, refused or delayed. @param {string} state */
export const stuck = (state) => state === 'blocked' || state === 'refused' || state === 'delayed';

/** Rank of a state: 0 needs people most. @param {string} state */
export const rank = (state) => states.indexOf(state);

/**
 * The outline of a state's mark round 0,0 within a radius of 1, as steps of a path.
 * @type {Record<string, {full: boolean, path: [string, ...number[]][]}>}
 */
export const shapes = {
  scheduled: { full: true, path: [['circle', 0, 0, 0.85]] },
  held: { full: true, path: [['M', -0.75, -0.9], ['L', -0.2, -0.9], ['L', -0.2, 0.9], ['L', -0.75, 0.9], ['Z'], ['M', 0.2, -0.9], ['L', 0.75, -0.9], ['L', 0.75, 0.9], ['L', 0.2, 0.9], ['Z']] },
  due: { full: true, path: [['M', 0, -1], ['L', 1, 0.8], ['L', -1, 0.8], ['Z']] },
  'in-flight': { full: false, path: [['M', -0.8, -0.8], ['L', 0, 0], ['L', -0.8, 0.8], ['M', 0.1, -0.8], ['L', 0.9, 0], ['L', 0.1, 0.8]] },
  blocked: { full: true, path: [['M', -0.85, -0.85], ['L', 0.85, -0.85], ['L', 0.85, 0.85], ['L', -0.85, 0.85], ['Z']] },
  refused: { full: false, path: [['M', -0.8, -0.8], ['L', 0.8, 0.8], ['M', 0.8, -0.8], ['L', -0.8, 0.8]] },
  delayed: { full: true, path: [['M', 0, -1.05], ['L', 1.05, 0], ['L', 0, 1.05], ['L', -1.05, 0], ['Z']] },
  done: { full: false, path: [['circle', 0, 0, 0.8]] },
  evicted: { full: false, path: [['M', -0.85, 0.05], ['L', -0.25, 0.7], ['L', 0.9, -0.7]] },
};

const svg = 'http://www.w3.org/2000/svg';

/** A mark as an element, for legends and tables. @param {string} state */
export function glyph(state) {
  const root = document.createElementNS(svg, 'svg');
  root.setAttribute('viewBox', '-8 -8 16 16');
  root.setAttribute('class', `glyph s-${state}`);
  root.setAttribute('aria-hidden', 'true');
  const { full, path } = shapes[state];
  const r = 6;
  const first = path[0];
  const shape = document.createElementNS(svg, first[0] === 'circle' ? 'circle' : 'path');
  if (first[0] === 'circle') shape.setAttribute('r', String(r * Number(first[3])));
  else shape.setAttribute('d', path.map(([step, ...at]) => step + at.map((n) => Number(n) * r).join(' ')).join(''));
  if (full) shape.setAttribute('class', 'full');
  root.append(shape);
  return root;
}

/**
 * Draws a mark on a canvas, in the current fill and stroke colour.
 * @param {CanvasRenderingContext2D} c @param {string} state @param {number} x @param {number} y @param {number} r
 */
export function draw(c, state, x, y, r) {
  const { full, path } = shapes[state];
  c.beginPath();
  for (const [step, ...at] of path) {
    if (step === 'circle') c.arc(x, y, r * Number(at[2]), 0, 2 * Math.PI);
    else if (step === 'M') c.moveTo(x + r * at[0], y + r * at[1]);
    else if (step === 'L') c.lineTo(x + r * at[0], y + r * at[1]);
    else c.closePath();
  }
  if (full) c.fill();
  else c.stroke();
}

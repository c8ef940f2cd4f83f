// The two small plots: a bar for each minute of the last hour.

/** @import {Minute} from './types.js' */
import { part, write } from './dom.js';
import { lateness } from './format.js';

const svg = 'http://www.w3.org/2000/svg';
const bars = 60;
const width = 240 / bars;
const height = 48;

/**
 * Draws a bar for each of the last 60 minutes.
 * @param {Element} plot @param {Map<number, Minute>} minutes @param {number} now @param {(m: Minute) => number} value
 * @returns {number} the greatest value
 */
function draw(plot, minutes, now, value) {
  const last = Math.floor(now / 60_000) * 60_000;
  const values = [];
  for (let i = bars - 1; i >= 0; i--) {
    const m = minutes.get(last - i * 60_000);
    values.push(m ? value(m) : 0);
  }
  const most = Math.max(...values);
  const base = document.createElementNS(svg, 'path');
  base.setAttribute('d', `M0 ${height - 0.5}H240`);
  plot.replaceChildren(base, ...values.flatMap((v, i) => (v > 0 ? [bar(i, Math.max(2, (v / most) * (height - 4)))] : [])));
  return most;
}

/** @param {number} i @param {number} h */
function bar(i, h) {
  const rect = document.createElementNS(svg, 'rect');
  rect.setAttribute('x', String(i * width + 0.5));
  rect.setAttribute('y', String(height - h));
  rect.setAttribute('width', String(width - 1));
  rect.setAttribute('height', String(h));
  return rect;
}

/** @param {Map<number, Minute>} minutes @param {number} now @param {boolean} certain whether no bar means no eviction */
export function plots(minutes, now, certain) {
  const most = draw(part('rate'), minutes, now, (m) => m.evicted);
  write(part('rate-text'), most ? `Evicted per minute, peak ${most.toLocaleString('en')}` : `Evicted per minute: ${certain ? 'none' : 'not known'}`);
  const late = draw(part('late'), minutes, now, (m) => m.maxLateSeconds);
  write(part('late-text'), most ? `Worst lateness ${lateness(late)}` : `Worst lateness: ${certain ? 'none' : 'not known'}`);
}

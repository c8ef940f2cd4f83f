// The two small plots: a bar for each minute of the last hour.

/** @import {Minute} from './types.js' */
import { part, write } from './dom.js';
import { lateness } from './format.js';

const bars = 60;
const width = 240 / bars;
const height = 48;

/**
 * Draws a bar for each of the last 60 minutes.
 * @param {string} plot @param {Map<number, Minute>} minutes @param {number} now @param {(m: Minute) => number} value
 * @returns {number} the greatest value
 */
function draw(plot, minutes, now, value) {
  const first = (Math.floor(now / 60_000) - bars + 1) * 60_000;
  const values = Array.from({ length: bars }, (_, i) => {
    const minute = minutes.get(first + i * 60_000);
    return minute ? value(minute) : 0;
  });
  const most = Math.max(...values);
  const outlines = values.map((v, i) => (v > 0 ? `M${i * width + 0.5} ${height}v${-Math.max(2, (v / most) * (height - 4))}h${width - 1}V${height}` : ''));
  part(plot).lastElementChild?.setAttribute('d', outlines.join(''));
  return most;
}

/** @param {Map<number, Minute>} minutes @param {number} now @param {boolean} certain whether a missing bar means no eviction */
export function plots(minutes, now, certain) {
  const most = draw('rate', minutes, now, (m) => m.evicted);
  write(part('rate-text'), most ? `Evicted per minute, peak ${most.toLocaleString('en')}` : `Evicted per minute: ${certain ? 'none' : 'not known'}`);
  const late = draw('late', minutes, now, (m) => m.maxLateSeconds);
  write(part('late-text'), most ? `Worst lateness ${lateness(late)}` : `Worst lateness: ${certain ? 'none' : 'not known'}`);
}

// When the backlog will be done: the due evictions, divided by the recent rate of evictions. Pure.

/** @import {Row} from './types.js' */
import { plural, rate as rateOf, span, stamp } from './format.js';
import { stuck } from './states.js';

const second = 1000;
const lately = 60 * second;
const tolerated = 5 * second; // of lateness, before it is called a backlog

/** Evictions a second within the last minute. @param {Row[]} evicted oldest first @param {number} now */
export function rate(evicted, now) {
  const recent = evicted.filter((row) => row.ended > now - lately);
  const seconds = recent.length > 1 ? Math.max(1, (now - recent[0].ended) / second) : lately / second;
  return recent.length / seconds;
}

/**
 * The number of evictions that are due and not stuck, and when all of them, and those that become due meanwhile, will
 * be done at the present rate; null if none is late.
 * @param {Iterable<Row>} rows @param {Row[]} evicted @param {number} now
 */
export function backlog(rows, evicted, now) {
  const dues = [];
  let late = 0;
  let count = 0;
  let stalled = 0;
  for (const row of rows) {
    if (stuck(row.state)) stalled++;
    if (row.state !== 'due' && row.state !== 'in-flight' && row.state !== 'scheduled') continue;
    dues.push(row.due);
    if (row.due > now) continue;
    count++;
    late = Math.max(late, now - row.due);
  }
  if (late < tolerated) return null;
  const perSecond = rate(evicted, now);
  if (perSecond === 0) return { count, stuck: stalled, perSecond, done: NaN };
  dues.sort((a, b) => a - b);
  let done = now;
  for (const due of dues) {
    if (due > done) break;
    done += second / perSecond;
  }
  return { count, stuck: stalled, perSecond, done };
}

/** The backlog as a sentence. A pause has no known end. @param {ReturnType<typeof backlog>} b @param {number} now @param {boolean} [paused] */
export function told(b, now, paused = false) {
  if (!b) return '';
  const begun = `Backlog: ${plural(b.count, 'pod')} ${b.count === 1 ? 'is' : 'are'} due`;
  const rest = b.stuck ? ` ${plural(b.stuck, 'pod')} stuck ${b.stuck === 1 ? 'is' : 'are'} not counted.` : '';
  if (paused) return `${begun}, and wait${b.count === 1 ? 's' : ''} for the end of the pause.${rest}`;
  if (!Number.isFinite(b.done)) return `${begun}, and none was evicted in the last minute: no end is in sight.${rest}`;
  return `${begun}. At the present rate, ${rateOf(b.perSecond)}, it is done in about ${span(b.done - now)}, at ${stamp(b.done, now)}.${rest}`;
}

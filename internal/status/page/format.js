// Times and numbers for people. Everything here is pure.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Two digits. @param {number} n */
const two = (n) => String(n).padStart(2, '0');

/** Whether times are shown in the browser's time zone; otherwise in UTC. */
let local = false;
/** @param {boolean} on */
export const tellLocal = (on) => { local = on; };

/** Date and time of day in the chosen zone. @param {number} ms */
function text(ms) {
  // A time in the zone is written like the UTC time that differs by the zone's offset.
  return new Date(local ? ms - new Date(ms).getTimezoneOffset() * minute : ms).toISOString();
}

/** The name of the chosen zone at a moment. @param {number} ms */
export function zone(ms) {
  if (!local) return 'UTC';
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? 'local';
}

/** The date. @param {number} ms */
export const date = (ms) => text(ms).slice(0, 10);

/** The time of day, and the date if it is not today's. @param {number} ms @param {number} now */
export function clock(ms, now) {
  if (!Number.isFinite(ms)) return '';
  const time = text(ms).slice(11, 19);
  return date(ms) === date(now) ? time : `${date(ms)} ${time}`;
}

/** The time as clock tells it, with the zone. @param {number} ms @param {number} now */
export const stamp = (ms, now) => `${clock(ms, now)} ${zone(ms)}`;

/** A text of the manager, with its UTC times converted to the chosen zone. @param {string} of @param {number} now */
export const zoned = (of, now) => of.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => stamp(Date.parse(time), now));

/** A length of time in its two largest units. @param {number} ms */
export function span(ms) {
  const n = Math.abs(ms);
  if (n < minute) return `${Math.floor(n / second)} s`;
  if (n < hour) return `${Math.floor(n / minute)} min ${two(Math.floor((n % minute) / second))} s`;
  if (n < day) return `${Math.floor(n / hour)} h ${two(Math.floor((n % hour) / minute))} min`;
  return `${Math.floor(n / day)} d ${Math.floor((n % day) / hour)} h`;
}

/** A lateness, with tenths or hundredths of a second if it is short. @param {number} seconds */
export function lateness(seconds) {
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  return span(seconds * second);
}

/** A moment relative to now: "in 4 min 05 s", "12 s ago". @param {number} ms @param {number} now */
export function until(ms, now) {
  if (!Number.isFinite(ms)) return '';
  const left = ms - now;
  if (left >= second) return `in ${span(left)}`;
  return left > -second ? 'now' : `${span(left)} ago`;
}

/** A length of time in the one unit that fits it, for the axis. @param {number} ms */
export function about(ms) {
  const n = Math.abs(ms);
  if (n >= day) return `${Number((n / day).toFixed(n < 10 * day ? 1 : 0))} d`;
  if (n >= hour) return `${Number((n / hour).toFixed(n < 10 * hour ? 1 : 0))} h`;
  if (n >= minute && n % minute < second) return `${Math.floor(n / minute)} min`;
  if (n >= minute) return `${Math.floor(n / minute)}:${two(Math.floor((n % minute) / second))} min`;
  return n < 10 * second ? `${Number((n / second).toFixed(1))} s` : `${Math.round(n / second)} s`;
}

/** A count that fits into a mark. @param {number} n */
export function short(n) {
  if (n < 1000) return String(n);
  return n < 10000 ? `${(n / 1000).toFixed(1)}k` : `${Math.round(n / 1000)}k`;
}

/** "1 pod", "3 pods". @param {number} n @param {string} noun */
export const plural = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;

/**
 * A count as text. If the present state is unknown, 0 would claim that there is nothing.
 * @param {number | undefined} n @param {boolean} certain
 */
export const counted = (n, certain) => (n === undefined || (n === 0 && !certain) ? '–' : n.toLocaleString('en'));

/** A rate. @param {number} perSecond */
export function rate(perSecond) {
  const each = perSecond >= 1 || perSecond === 0 ? perSecond : perSecond * 60;
  return `${each < 10 ? Number(each.toFixed(1)) : Math.round(each).toLocaleString('en')} a ${perSecond >= 1 || perSecond === 0 ? 'second' : 'minute'}`;
}

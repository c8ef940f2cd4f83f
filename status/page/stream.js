// The stream of events: it opens again by itself, knows the manager's clock, and when it is stale.

/** @import {Message} from './types.js' */

const staleAfter = 15_000; // milliseconds without a word; the manager speaks every 10 s at least
const again = 3_000;

export class Stream {
  /** Whether the connection is there, as far as the browser knows. */
  open = false;
  /** performance.now() of the last message; NaN before the first. */
  heard = NaN;
  /** Why the manager refuses the stream, in its words; empty when it does not. */
  refusal = '';
  #offset = -Infinity;
  /** @type {EventSource | null} */
  #source = null;
  #url;
  #take;

  /** @param {string} url @param {(kind: string, m: Message) => void} take */
  constructor(url, take) {
    this.#url = url;
    this.#take = take;
    this.#connect();
    // A page that comes back from sleep does not wait for the browser to notice that its connection is dead.
    addEventListener('online', () => this.#renew());
    document.addEventListener('visibilitychange', () => document.hidden || !this.stale() || this.#renew());
  }

  /** The time by the manager's clock. */
  now() {
    return Number.isFinite(this.#offset) ? Date.now() + this.#offset : Date.now();
  }

  /** Whether what is shown may be of the past. */
  stale() {
    return !this.open || !(performance.now() - this.heard < staleAfter);
  }

  #renew() {
    if (!Number.isNaN(this.heard)) this.#connect();
  }

  #connect() {
    this.#source?.close();
    const source = new EventSource(this.#url);
    this.#source = source;
    source.onopen = () => { this.open = true; };
    source.onerror = () => {
      this.open = false;
      // After an answer that is no stream, the browser gives up: the page does not.
      if (source.readyState === EventSource.CLOSED) this.#ask();
      if (source.readyState === EventSource.CLOSED && source === this.#source) setTimeout(() => source === this.#source && this.#connect(), again);
    };
    for (const kind of ['snapshot', 'rows', 'change']) {
      source.addEventListener(kind, (event) => this.#message(kind, JSON.parse(event.data)));
    }
  }

  /** Asks why there is no stream: an EventSource does not tell. */
  async #ask() {
    const stop = new AbortController();
    try {
      const answer = await fetch(this.#url, { signal: stop.signal });
      this.refusal = answer.ok ? '' : (await answer.json()).message;
    } catch {
      this.refusal = '';
    }
    stop.abort();
  }

  /** @param {string} kind @param {Message} m */
  #message(kind, m) {
    this.open = true;
    this.refusal = '';
    this.heard = performance.now();
    if (m.at) {
      // A message is late, never early: of the last offsets the greatest is the truest. A step of either clock shows at once.
      const offset = Date.parse(m.at) - Date.now();
      this.#offset = Math.abs(offset - this.#offset) > 5_000 ? offset : Math.max(offset, this.#offset - 20);
    }
    this.#take(kind, m);
  }
}

// Asks the manager for its state once a second, follows the manager's clock, and knows when the state is stale.

/** @import {Message} from './types.js' */

const staleAfter = 15_000; // milliseconds after an answer
const patience = 10_000; // for an answer to begin
const longPatience = 120_000; // for an answer to end: the first one may be long
const again = 1_000; // from an answer to the next request
const longest = 10_000; // between two requests while the manager does not answer

export class Source {
  /** The manager's reason for refusing an answer; empty if it does not refuse. */
  refusal = '';
  /** The moment of the last answer, by the manager's clock. */
  at = NaN;
  /** performance.now() of the last answer; NaN before the first. */
  #heard = NaN;
  /** How many requests have failed since the last answer. */
  #failures = 0;
  #asking = false;
  #offset = -Infinity;
  /** The tag of the state that the page has, for the next request. */
  #tag = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #next;
  #url;
  #take;

  /** @param {string} url @param {(m: Message) => void} take */
  constructor(url, take) {
    this.#url = url;
    this.#take = take;
    this.#ask();
    // A page that becomes visible or gets its network back asks at once.
    addEventListener('online', () => this.#ask());
    document.addEventListener('visibilitychange', () => this.#ask());
  }

  /** The time by the manager's clock. */
  now() {
    return Number.isFinite(this.#offset) ? Date.now() + this.#offset : Date.now();
  }

  /** Whether the state on the page may be out of date. */
  stale() {
    return this.#failures > 0 || !(performance.now() - this.#heard < staleAfter);
  }

  /** Asks, unless a request is in flight or the page is hidden. */
  async #ask() {
    if (this.#asking || document.hidden) return;
    this.#asking = true;
    clearTimeout(this.#next);
    try {
      await this.#fetch();
      this.#failures = 0;
      this.refusal = '';
    } catch (e) {
      this.#failures++;
      this.refusal = String(/** @type {Error} */ (e).cause ?? '');
    }
    this.#asking = false;
    this.#next = setTimeout(() => this.#ask(), Math.min(again * 2 ** this.#failures, longest));
  }

  async #fetch() {
    const stop = new AbortController();
    const within = (/** @type {number} */ ms) => setTimeout(() => stop.abort(), ms);
    const begin = within(patience);
    const answer = await fetch(this.#url + (this.#tag && `?since=${this.#tag}`), { signal: stop.signal }).finally(() => clearTimeout(begin));
    const end = within(longPatience);
    const message = answer.status === 204 ? null : await answer.json().finally(() => clearTimeout(end));
    if (!answer.ok) throw new Error('the manager refuses', { cause: message.message });
    this.#hear(Math.max(Date.parse(answer.headers.get('Date') ?? ''), message ? Date.parse(message.at) : 0));
    if (!message) return;
    this.#tag = message.tag;
    this.#take(message);
  }

  /** Records the time of an answer. @param {number} at */
  #hear(at) {
    this.#heard = performance.now();
    // Answers arrive late, never early, so the greatest recent offset is the best. A step of either clock counts at once.
    const offset = at - Date.now();
    this.#offset = Math.abs(offset - this.#offset) > 5_000 ? offset : Math.max(offset, this.#offset - 20);
    this.at = this.now();
  }
}

// The timeline: a lane for each node, a mark for each bin of evictions, moving with the clock.

/** @import {Row} from './types.js' */
/** @import {Bin, Lane} from './scale.js' */
import { button, element, fill, part, write } from './dom.js';
import { about, clock, date, plural, short, stamp } from './format.js';
import { binned, lanesOf, placed, reach, stepOf, ticks, within } from './scale.js';
import { glyph } from './states.js';

const binWidth = 36; // pixels, at least
const pageOfLanes = 14;
const fewLanes = 4; // at first, on a small screen
const past = 0.22; // the part of the width to the left of now, if there were evictions
const noPast = 0.04; // if there were none
const shortest = 10_000; // milliseconds across
const day = 86_400_000;
const longest = 3650 * day;

/**
 * @typedef {object} Hooks
 * @property {() => number} now the time by the manager's clock
 * @property {(node: string) => void} pick a node
 * @property {(node: string, bin: Bin) => void} openBin
 */

/** What a mark stands for. @typedef {{lane: Lane, bin: Bin}} Hit */

/** @typedef {{from: number, scale: number, now: number, width: number}} View the time at the left edge, and pixels for each millisecond */

/** Pixels from the middle of a mark to its edge, and to the end of its number. @param {Bin} bin */
function sizeOf(bin) {
  if (bin.count === 1) return bin.state === 'evicted' ? { radius: 4, extent: 8 } : { radius: 5, extent: 10 };
  const radius = Math.min(5 + Math.log2(bin.count) * 0.5, 8);
  return { radius, extent: 2 * radius + 2 + 7.6 * short(bin.count).length };
}

/** The times of a bin, in the right tense. @param {Bin} bin @param {number} now */
function times(bin, now) {
  if (bin.count === 1) return bin.late ? `was due at ${stamp(bin.at, now)}` : stamp(bin.at, now);
  return bin.late ? `were due by ${stamp(bin.to, now)}` : `${clock(bin.from, now)} to ${stamp(bin.to, now)}`;
}

/** Moves an element to a place on the time axis. @param {Element} e @param {number} x */
const moveTo = (e, x) => { /** @type {HTMLElement} */ (e).style.transform = `translateX(${x}px)`; };

export class Timeline {
  /** Milliseconds across; 0 while unknown. */
  #across = 0;
  /** Milliseconds by which the view is moved from now. */
  #moved = 0;
  #shown = matchMedia('(max-width: 700px)').matches ? fewLanes : pageOfLanes;
  /** The part of the width to the left of now. */
  #past = noPast;
  /** Whether the user has chosen the visible range; until then it fits the evictions. */
  #chosen = false;
  /** @type {Row[]} */ #rows = [];
  /** @type {Lane[]} */ #lanes = [];
  /** @type {Map<string, Bin[]>} */ #bins = new Map();
  #binned = 0;
  #dirty = true;
  #drawnAt = NaN;
  #sorted = -Infinity;
  #width = 0;
  /** Whether the filter names a node. @type {(node: string) => boolean} */ #named = () => false;
  /** @type {WeakMap<Element, Hit>} by their elements */ #hits = new WeakMap();

  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.plot = part('plot');
    this.calm = matchMedia('(prefers-reduced-motion: reduce)');
    new ResizeObserver(() => { this.#width = this.plot.clientWidth; this.#bin(); }).observe(this.plot);
    part('more').addEventListener('click', () => { this.#shown += pageOfLanes; this.#layOut(); });
    this.#pointer();
    part('stage').addEventListener('keydown', (e) => this.#key(e));
    const frame = () => { this.#frame(); requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  /** Shows these rows, with a lane for each tainted node. @param {Row[]} rows @param {Iterable<string>} tainted @param {(node: string) => boolean} named whether the filter names a node */
  show(rows, tainted, named) {
    this.#rows = rows;
    this.#named = named;
    const now = performance.now();
    const lanes = lanesOf(rows, tainted);
    // Nobody can read lanes that change places all the time, so they are sorted only every few seconds.
    if (now - this.#sorted > 5000 || lanes.length !== this.#lanes.length) {
      this.#lanes = lanes;
      this.#sorted = now;
    } else {
      const fresh = new Map(lanes.map((l) => [l.node, l]));
      this.#lanes = this.#lanes.every((l) => fresh.has(l.node)) ? this.#lanes.map((l) => fresh.get(l.node) ?? l) : lanes;
    }
    if (!this.#chosen) this.#fit();
    this.#bin();
    this.#layOut();
  }

  /** Puts pods that have become late into separate bins. */
  tick() { this.#bin(); }

  /** The chosen range: its length and its distance from now. */
  get chosen() { return { across: this.#chosen ? this.#across : 0, moved: this.#moved }; }

  /** Shows a range that was chosen earlier; without a range, the range that fits. @param {{across: number, moved: number}} chosen */
  restore({ across, moved }) {
    this.fit();
    if (across <= 0) return;
    this.#moved = moved;
    this.zoom(across / this.#across);
  }

  /** @param {number} factor */
  zoom(factor, at = this.#past) {
    const from = this.#from() + at * this.#across; // stays where it is
    const across = Math.min(longest, Math.max(shortest, this.#across * factor));
    this.#moved += from - (this.hooks.now() + this.#moved - this.#past * across + at * across);
    this.#across = across;
    this.#chosen = true;
    this.#bin();
  }

  /** Moves the view by a part of its width. @param {number} part */
  move(part) {
    this.#moved += part * this.#across;
    this.#chosen = true;
    this.#dirty = true;
  }

  back() {
    this.#moved = 0;
    this.#dirty = true;
  }

  fit() {
    this.#chosen = false;
    this.#moved = this.#across = 0;
    this.#fit();
    this.#bin();
  }

  #fit() {
    this.#past = this.#rows.some((row) => row.state === 'evicted') ? past : noPast;
    const across = reach(this.#rows, this.hooks.now()) / (1 - this.#past);
    // Small changes do not make the view jump.
    if (across > this.#across || across < this.#across * 0.7) this.#across = across;
  }

  #from() { return this.hooks.now() + this.#moved - this.#past * this.#across; }

  #bin() {
    this.#binned = stepOf((this.#across / Math.max(this.#width, 1)) * binWidth);
    this.#bins = binned(this.#rows, this.#binned, this.hooks.now());
    this.#dirty = true;
  }

  #visible() { return this.#lanes.slice(0, this.#shown); }

  #layOut() {
    const lanes = this.#visible();
    fill(part('lanes'), lanes, () => this.#label(), (label, lane) => {
      label.dataset.node = label.title = lane.node;
      label.ariaPressed = String(this.#named(lane.node));
      const [name, count, rest] = label.children;
      write(name, lane.node);
      write(count, lane.pending ? String(lane.pending) : '');
      write(rest, ` pending${lane.stuck ? `, ${lane.stuck} stuck` : ''}; show only this node`);
    });
    const rest = this.#lanes.length - lanes.length;
    part('more').hidden = rest <= 0;
    write(part('more'), rest > pageOfLanes ? `Show ${pageOfLanes} of ${rest} more nodes` : `Show ${plural(rest, 'more node')}`);
    this.#dirty = true;
  }

  #label() {
    const hidden = element('span', { className: 'hidden' });
    const label = button({}, () => this.hooks.pick(label.dataset.node ?? ''), element('span'), ' ', element('i'), hidden);
    return label;
  }

  #frame() {
    if (!this.#width || !this.#across || document.hidden) return;
    const now = this.hooks.now();
    const pixels = (Math.abs(now - this.#drawnAt) / this.#across) * this.#width;
    if (!this.#dirty && pixels < (this.calm.matches ? 8 : 0.5)) return;
    this.#dirty = false;
    this.#drawnAt = now;
    this.#draw(now);
  }

  /** @param {number} now */
  #draw(now) {
    const view = { from: this.#from(), scale: this.#width / this.#across, now, width: this.#width };
    const lanes = this.#visible();
    this.#axis(view);
    const x = (now - view.from) * view.scale;
    moveTo(part('line'), x);
    moveTo(/** @type {Element} */ (part('line').firstElementChild), within(x, 16, this.#width) - x);
    part('line').hidden = x < 0 || x > this.#width;
    fill(part('rows'), lanes, () => element('div', {}, element('div'), element('span'), element('span')), (row, lane) => this.#lane(row, lane, view));
    write(part('timeline-note'), lanes.length ? `${about(this.#across * (1 - this.#past))} ahead; numbers count evictions within ${about(this.#binned)}` : '');
  }

  /** Leaves out labels that would be cut at an end, or covered by the label of now. @param {View} view */
  #axis({ from, scale, now, width }) {
    const list = ticks(from, from + this.#across, Math.max(2, Math.floor(width / 110)));
    fill(part('axis'), list, () => element('div', {}, element('span'), element('i')), (tick, at) => {
      const x = Math.round((at - from) * scale);
      const told = x >= 28 && x <= width - 34 && Math.abs(at - now) * scale >= 50;
      const [time, away] = tick.children;
      moveTo(tick, x);
      write(time, told ? (this.#across > 3 * day ? date(at) : clock(at, at)) : '');
      write(away, told ? (at < now ? `${about(at - now)} ago` : `in ${about(at - now)}`) : '');
    });
  }

  /** Draws a lane, and at its ends the numbers of evictions beyond them. @param {Element} row @param {Lane} lane @param {View} view */
  #lane(row, lane, view) {
    const [all, left, right] = row.children;
    const { marks, before, after } = placed(this.#bins.get(lane.node) ?? [], view, sizeOf);
    write(left, before ? `‹ ${short(before)}` : '');
    write(right, after ? `${short(after)} ›` : '');
    fill(all, marks, () => element('span'), (mark, { bin, x }) => {
      if (mark.dataset.state !== bin.state) {
        mark.dataset.state = bin.state;
        mark.className = `mark s-${bin.state}`;
        mark.replaceChildren(glyph(bin.state), element('b'));
      }
      mark.style.fontSize = `${sizeOf(bin).radius}px`;
      moveTo(mark, x);
      write(/** @type {Element} */ (mark.lastElementChild), bin.count > 1 ? short(bin.count) : '');
      this.#hits.set(mark, { lane, bin });
    });
  }

  #pointer() {
    const { plot } = this;
    /** @type {{x: number, moved: number, far: boolean, hit?: Hit} | null} */
    let grip = null;
    const hit = (/** @type {PointerEvent} */ e) => this.#hits.get(/** @type {Element} */ (e.target).closest('.mark') ?? plot);
    plot.addEventListener('pointerdown', (e) => {
      grip = { x: e.clientX, moved: this.#moved, far: false, hit: hit(e) };
      plot.setPointerCapture(e.pointerId);
    });
    plot.addEventListener('pointermove', (e) => {
      if (grip && Math.abs(e.clientX - grip.x) > 4) grip.far = true;
      if (grip?.far) {
        this.#moved = grip.moved - ((e.clientX - grip.x) / this.#width) * this.#across;
        this.#chosen = this.#dirty = true;
      }
      this.#tell(grip?.far ? undefined : grip?.hit ?? hit(e), e);
    });
    plot.addEventListener('pointerup', () => {
      if (grip?.hit && !grip.far) this.hooks.openBin(grip.hit.lane.node, grip.hit.bin);
      grip = null;
    });
    plot.addEventListener('pointercancel', () => { grip = null; });
    plot.addEventListener('pointerleave', (e) => this.#tell(undefined, e));
    plot.addEventListener('wheel', (e) => {
      if (!e.ctrlKey && !e.metaKey) return; // the page scrolls
      e.preventDefault();
      this.zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 100), (e.clientX - plot.getBoundingClientRect().left) / this.#width);
    }, { passive: false });
  }

  /** @param {Hit | undefined} hit @param {PointerEvent} e */
  #tell(hit, e) {
    const tip = part('tip');
    tip.hidden = !hit;
    if (!hit) return;
    const { lane, bin } = hit;
    tip.textContent = `${lane.node}\n${bin.count} ${bin.state}\n${times(bin, this.hooks.now())}`;
    const box = part('stage').getBoundingClientRect();
    const left = Math.min(e.clientX - box.left + 14, box.width - tip.offsetWidth - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${e.clientY - box.top + 16}px`;
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.target !== part('stage') || e.ctrlKey || e.metaKey || e.altKey) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.move(-0.15), ArrowRight: () => this.move(0.15),
      '+': () => this.zoom(1 / 1.5), '=': () => this.zoom(1 / 1.5), '-': () => this.zoom(1.5), '0': () => this.back(), Home: () => this.back(),
    };
    if (!keys[e.key]) return;
    keys[e.key]();
    e.preventDefault();
  }
}

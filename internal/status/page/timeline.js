// The timeline: a lane for each node, a mark for each bin of evictions, moving with the clock.

/** @import {Row} from './types.js' */
/** @import {Bin, Lane, Mark} from './scale.js' */
import { button, element, part, write } from './dom.js';
import { about, clock, date, plural, short, stamp } from './format.js';
import { binned, lanesOf, placed, reach, stepOf, ticks, within } from './scale.js';
import { draw, states, titles } from './states.js';

const laneHeight = 28;
const axis = 34; // pixels on top
const binWidth = 36; // pixels, at least
const pageOfLanes = 14;
const fewLanes = 4; // at first, where the screen is small
const past = 0.22; // the part of the width that is left of now, where something was evicted
const noPast = 0.04; // where nothing was
const shortest = 10_000; // milliseconds across
const day = 86_400_000;
const longest = 3650 * day;

/**
 * @typedef {object} Hooks
 * @property {() => number} now the time by the manager's clock
 * @property {(node: string) => void} pick a node
 * @property {(node: string, bin: Bin) => void} openBin
 */

/** Pixels from the middle of a mark to its edge. @param {Bin} bin */
function radius(bin) {
  if (bin.count === 1) return bin.state === 'evicted' ? 4 : 5;
  return Math.min(5 + Math.log2(bin.count) * 0.5, 8);
}

/** Pixels that a mark takes with its number. @param {Bin} bin */
const extent = (bin) => 2 * radius(bin) + (bin.count > 1 ? 2 + 7.6 * short(bin.count).length : 0);

/** The times of a bin, the past as past. @param {Bin} bin @param {number} now */
function times(bin, now) {
  if (bin.count === 1) return bin.late ? `was due at ${stamp(bin.at, now)}` : stamp(bin.at, now);
  return bin.late ? `were due by ${stamp(bin.to, now)}` : `${clock(bin.from, now)} to ${stamp(bin.to, now)}`;
}

export class Timeline {
  /** Milliseconds across; 0 until something is known. */
  #across = 0;
  /** Milliseconds by which the view is moved from now. */
  #moved = 0;
  #shown = matchMedia('(max-width: 700px)').matches ? fewLanes : pageOfLanes;
  /** The part of the width that is left of now. */
  #past = noPast;
  /** Whether the user has chosen the visible range; until then it fits itself. */
  #chosen = false;
  /** @type {Row[]} */ #rows = [];
  /** @type {Lane[]} */ #lanes = [];
  /** @type {Map<string, Bin[]>} */ #bins = new Map();
  #binned = 0;
  #dirty = true;
  #drawnAt = NaN;
  #sorted = -Infinity;
  #order = '';
  /** @type {Record<string, string>} */ #colours = {};
  #width = 0;
  /** Whether the filter names a node. @type {(node: string) => boolean} */ #named = () => false;
  /** @type {Mark[][]} the marks of each lane, as they were drawn */ #marks = [];

  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.canvas = /** @type {HTMLCanvasElement} */ (part('canvas'));
    this.c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    this.calm = matchMedia('(prefers-reduced-motion: reduce)');
    new ResizeObserver(() => this.#resize()).observe(part('stage'));
    part('more').addEventListener('click', () => { this.#shown += pageOfLanes; this.#layOut(); });
    this.#pointer();
    part('stage').addEventListener('keydown', (e) => this.#key(e));
    this.recolour();
    const frame = () => { this.#frame(); requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  /** Shows these rows, with a lane for each tainted node. @param {Row[]} rows @param {Iterable<string>} tainted @param {(node: string) => boolean} named whether the filter names a node */
  show(rows, tainted, named) {
    this.#rows = rows;
    this.#named = named;
    const now = performance.now();
    const lanes = lanesOf(rows, tainted);
    // Lanes that change places all the time can't be read: they are put in order every few seconds.
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

  /** Takes the colours of the page's theme. */
  recolour() {
    const style = getComputedStyle(document.documentElement);
    for (const name of [...states, 'text', 'quiet', 'line', 'lane', 'card', 'strong']) this.#colours[name] = style.getPropertyValue(`--${name}`).trim();
    this.#dirty = true;
  }

  /** Takes note of what has become late. */
  tick() { this.#bin(); }

  /** Draws anew, as the times are written in another zone. */
  rewrite() { this.#dirty = true; }

  /** How much is visible, and how far from now, if that was chosen. */
  get chosen() { return { across: this.#chosen ? this.#across : 0, moved: this.#moved }; }

  /** Shows what was chosen once; what fits where nothing was. @param {{across: number, moved: number}} chosen */
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
    // What is there already does not make the view jump for a little more or less.
    if (across > this.#across || across < this.#across * 0.7) this.#across = across;
  }

  #from() { return this.hooks.now() + this.#moved - this.#past * this.#across; }

  #bin() {
    this.#binned = stepOf((this.#across / Math.max(this.#width, 1)) * binWidth);
    this.#bins = binned(this.#rows, this.#binned, this.hooks.now());
    this.#dirty = true;
  }

  #visible() { return this.#lanes.slice(0, this.#shown); }

  #resize() {
    const width = this.canvas.clientWidth;
    if (width === this.#width) return;
    this.#width = width;
    this.#bin();
    this.#layOut();
  }

  #layOut() {
    const lanes = this.#visible();
    const order = lanes.map((l) => `${l.node} ${l.pending} ${l.stuck} ${this.#named(l.node)}`).join('\n');
    if (order !== this.#order) {
      this.#order = order;
      this.#labels(lanes);
    }
    const rest = this.#lanes.length - lanes.length;
    part('more').hidden = rest <= 0;
    write(part('more'), rest > pageOfLanes ? `Show ${pageOfLanes} of ${rest} more nodes` : `Show ${plural(rest, 'more node')}`);
    const height = axis + Math.max(lanes.length, 1) * laneHeight;
    const ratio = devicePixelRatio;
    if (this.canvas.height !== Math.round(height * ratio) || this.canvas.width !== Math.round(this.#width * ratio)) {
      this.canvas.height = Math.round(height * ratio);
      this.canvas.width = Math.round(this.#width * ratio);
      this.canvas.style.height = `${height}px`;
    }
    this.#dirty = true;
  }

  /** @param {Lane[]} lanes */
  #labels(lanes) {
    const old = /** @type {HTMLElement[]} */ ([...part('lanes').children]);
    lanes.forEach((lane, i) => {
      const label = old[i] ?? this.#label();
      label.dataset.node = label.title = lane.node;
      label.ariaPressed = String(this.#named(lane.node));
      const [name, count, rest] = label.children;
      name.textContent = lane.node;
      count.textContent = lane.pending ? String(lane.pending) : '';
      rest.textContent = ` pending${lane.stuck ? `, ${lane.stuck} stuck` : ''}; show only this node`;
    });
    for (const extra of old.slice(lanes.length)) extra.remove();
  }

  #label() {
    const hidden = element('span', { className: 'hidden' });
    const label = button({}, () => this.hooks.pick(label.dataset.node ?? ''), element('span'), ' ', element('i'), hidden);
    part('lanes').append(label);
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
    const { c } = this;
    const lanes = this.#visible();
    const height = this.canvas.height / devicePixelRatio;
    const from = this.#from();
    const scale = this.#width / this.#across;
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, this.#width, height);
    this.#ground(lanes.length, height);
    this.#axis(now, from, scale, height);
    const view = { from, scale, now, width: this.#width };
    this.#marks = lanes.map((lane, i) => this.#lane(this.#bins.get(lane.node) ?? [], axis + (i + 0.5) * laneHeight, view));
    this.#nowLine((now - from) * scale, height);
    this.#note(lanes);
  }

  /** @param {number} n @param {number} height */
  #ground(n, height) {
    const { c } = this;
    c.fillStyle = this.#colours.lane;
    for (let i = 0; i < n; i += 2) c.fillRect(0, axis + i * laneHeight, this.#width, laneHeight);
    c.strokeStyle = this.#colours.line;
    c.lineWidth = 1;
    c.strokeRect(-1, axis - 0.5, this.#width + 2, height);
  }

  /** @param {number} now @param {number} from @param {number} scale @param {number} height */
  #axis(now, from, scale, height) {
    const { c } = this;
    const times = ticks(from, from + this.#across, Math.max(2, Math.floor(this.#width / 110)));
    c.font = '12px system-ui, sans-serif';
    c.textAlign = 'center';
    c.strokeStyle = this.#colours.line;
    for (const at of times) {
      const x = Math.round((at - from) * scale) + 0.5;
      c.beginPath();
      c.moveTo(x, axis - 5);
      c.lineTo(x, height);
      c.stroke();
      if (x < 28 || x > this.#width - 34 || Math.abs(at - now) * scale < 50) continue;
      c.fillStyle = this.#colours.text;
      c.fillText(this.#across > 3 * day ? date(at) : clock(at, at), x, 13);
      c.fillStyle = this.#colours.quiet;
      const away = at - now;
      c.fillText(away < 0 ? `${about(away)} ago` : `in ${about(away)}`, x, 26);
    }
  }

  /** @param {number} x @param {number} height */
  #nowLine(x, height) {
    const { c } = this;
    if (x < 0 || x > this.#width) return;
    c.strokeStyle = this.#colours.strong;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x, axis - 2);
    c.lineTo(x, height);
    c.stroke();
    c.lineWidth = 1;
    c.font = '600 12px system-ui, sans-serif';
    c.textAlign = 'center';
    c.fillStyle = this.#colours.card;
    const middle = within(x, 16, this.#width);
    c.fillRect(middle - 18, 2, 36, axis - 6);
    c.fillStyle = this.#colours.strong;
    c.fillText('now', middle, 19);
  }

  /**
   * Draws a lane, and at its ends how much lies beyond.
   * @param {Bin[]} bins @param {number} y @param {{from: number, scale: number, now: number, width: number}} view
   */
  #lane(bins, y, view) {
    const { c } = this;
    c.font = '600 11.5px system-ui, sans-serif';
    c.textAlign = 'left';
    c.lineWidth = 2;
    const { marks, before, after } = placed(bins, view, (bin) => ({ radius: radius(bin), extent: extent(bin) }));
    for (const { bin, x } of marks) this.#mark(bin, x, y);
    c.fillStyle = this.#colours.text;
    if (before) c.fillText(`‹ ${short(before)}`, 4, y + 4);
    c.textAlign = 'right';
    if (after) c.fillText(`${short(after)} ›`, this.#width - 4, y + 4);
    return marks;
  }

  /** @param {Bin} bin @param {number} x @param {number} y */
  #mark(bin, x, y) {
    const { c } = this;
    const r = radius(bin);
    c.fillStyle = c.strokeStyle = this.#colours[bin.state];
    draw(c, bin.state, x, y, r);
    if (bin.count > 1) c.fillText(short(bin.count), x + r + 2, y + 4);
  }

  /** @param {Lane[]} lanes */
  #note(lanes) {
    const text = lanes.length === 0 ? '' : `${about(this.#across * (1 - this.#past))} ahead; a number is how many go within ${about(this.#binned)}`;
    write(part('timeline-note'), text);
  }

  /** The bin at a place on the canvas. @param {number} x @param {number} y @returns {{lane: Lane, bin: Bin} | null} */
  #hit(x, y) {
    const i = Math.floor((y - axis) / laneHeight);
    const lane = this.#visible()[i];
    const off = (/** @type {Mark} */ m) => Math.max(m.left - x, x - m.right, 0);
    const near = (this.#marks[i] ?? []).filter((m) => off(m) <= 5).sort((a, b) => off(a) - off(b));
    return lane && near.length ? { lane, bin: near[0].bin } : null;
  }

  #pointer() {
    /** @type {{x: number, moved: number, far: boolean} | null} */
    let grip = null;
    const { canvas } = this;
    canvas.addEventListener('pointerdown', (e) => {
      grip = { x: e.clientX, moved: this.#moved, far: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', (e) => {
      if (grip && Math.abs(e.clientX - grip.x) > 4) grip.far = true;
      if (grip?.far) {
        this.#moved = grip.moved - ((e.clientX - grip.x) / this.#width) * this.#across;
        this.#chosen = this.#dirty = true;
      }
      this.#tell(grip?.far ? null : this.#hit(e.offsetX, e.offsetY), e);
    });
    canvas.addEventListener('pointerup', (e) => {
      const hit = grip && !grip.far ? this.#hit(e.offsetX, e.offsetY) : null;
      grip = null;
      if (hit) this.hooks.openBin(hit.lane.node, hit.bin);
    });
    canvas.addEventListener('pointercancel', () => { grip = null; });
    canvas.addEventListener('pointerleave', (e) => this.#tell(null, e));
    canvas.addEventListener('wheel', (e) => {
      if (!e.ctrlKey && !e.metaKey) return; // the page scrolls
      e.preventDefault();
      this.zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 100), e.offsetX / this.#width);
    }, { passive: false });
  }

  /** @param {{lane: Lane, bin: Bin} | null} hit @param {PointerEvent} e */
  #tell(hit, e) {
    const tip = part('tip');
    this.canvas.style.cursor = hit ? 'pointer' : '';
    tip.hidden = !hit;
    if (!hit) return;
    const now = this.hooks.now();
    const { lane, bin } = hit;
    tip.textContent = `${lane.node}\n${bin.count} ${titles[bin.state]}\n${times(bin, now)}`;
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

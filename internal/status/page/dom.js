// Elements of the page: found, made, and written to.

/** @param {string} id */
export const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Partial<HTMLElementTagNameMap[T]>} properties @param {(Node | string)[]} content
 */
export function element(tag, properties = {}, ...content) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...content);
  return e;
}

/** A new button with an action. @param {Partial<HTMLButtonElement>} properties @param {(e: MouseEvent) => void} act @param {(Node | string)[]} content */
export function button(properties, act, ...content) {
  const b = element('button', { type: 'button', ...properties }, ...content);
  b.addEventListener('click', act);
  return b;
}

/** Writes a text, unless it is there already. @param {Element} to @param {string} text */
export function write(to, text) {
  if (to.textContent !== text) to.textContent = text;
}

/**
 * Gives an element a child for each item: makes those that it lacks, removes those that are too many, and sets each.
 * @template T @param {Element} parent @param {T[]} items @param {() => HTMLElement} make @param {(child: HTMLElement, item: T) => void} set
 */
export function fill(parent, items, make, set) {
  while (parent.children.length > items.length) parent.lastElementChild?.remove();
  items.forEach((item, i) => {
    if (!parent.children[i]) parent.append(make());
    set(/** @type {HTMLElement} */ (parent.children[i]), item);
  });
}

/** Writes new content into an element where it differs, so that a focus, a selection and a press of a button outlive it. @param {Node} old @param {Node} fresh */
export function renew(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.childNodes.length !== fresh.childNodes.length) {
    /** @type {ChildNode} */ (old).replaceWith(fresh);
  } else if (old instanceof Text) {
    if (old.data !== fresh.textContent) old.data = fresh.textContent ?? '';
  } else if (!(old instanceof HTMLButtonElement)) {
    const news = [...fresh.childNodes];
    [...old.childNodes].forEach((child, i) => renew(child, news[i]));
  }
}

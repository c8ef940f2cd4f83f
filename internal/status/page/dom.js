// Finds, creates and changes elements of the page.

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

/** Writes a text, unless the element already has it. @param {Element} to @param {string} text */
export function write(to, text) {
  if (to.textContent !== text) to.textContent = text;
}

/**
 * Gives an element a child for each item: adds missing children, removes surplus ones, and sets each child.
 * @template T @param {Element} parent @param {T[]} items @param {() => HTMLElement} make @param {(child: HTMLElement, item: T) => void} set
 */
export function fill(parent, items, make, set) {
  while (parent.children.length > items.length) parent.lastElementChild?.remove();
  items.forEach((item, i) => {
    if (!parent.children[i]) parent.append(make());
    set(/** @type {HTMLElement} */ (parent.children[i]), item);
  });
}

/** Writes new content into an element only where it differs, so that a focus, a selection and a pressed button survive. The text of a copy button stays. @param {Node} old @param {Node} fresh */
export function renew(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.childNodes.length !== fresh.childNodes.length) {
    /** @type {ChildNode} */ (old).replaceWith(fresh);
  } else if (old instanceof Text) {
    if (old.data !== fresh.textContent) old.data = fresh.textContent ?? '';
  } else if (old instanceof Element && fresh instanceof Element && old.className !== 'copy') {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const news = [...fresh.childNodes];
    [...old.childNodes].forEach((child, i) => renew(child, news[i]));
  }
}

/** Replaces the lines of an element. A line with the key of an old line updates the old line. @param {HTMLElement} parent @param {HTMLElement[]} fresh */
export function place(parent, fresh) {
  const old = new Map([...parent.children].map((e) => [/** @type {HTMLElement} */ (e).dataset.key, e]));
  const lines = fresh.map((e) => old.get(e.dataset.key) ?? e);
  for (const e of old.values()) if (!lines.includes(e)) e.remove();
  let at = parent.firstElementChild;
  lines.forEach((line, i) => {
    if (line !== fresh[i]) renew(line, fresh[i]);
    if (line === at) at = at.nextElementSibling;
    else parent.insertBefore(line, at);
  });
}

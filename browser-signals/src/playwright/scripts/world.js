// Shared by the functions of the isolated world. The names of children can shadow properties of forms and documents (DOM
// clobbering), so properties are read through the getters of the prototypes, which a page cannot change here.
const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
const setter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).set;
const attribute = (el, name) => Element.prototype.getAttribute.call(el, name);
const hasAttribute = (el, name) => Element.prototype.hasAttribute.call(el, name);
const tagOf = (el) => getter(Element, 'localName').call(el);
const parentOf = (node) => getter(Node, 'parentNode').call(node);
const rootOf = (node) => Node.prototype.getRootNode.call(node);
const isConnected = (node) => getter(Node, 'isConnected').call(node) && getter(Node, 'ownerDocument').call(node) === document;
const matches = (el, selector) => Element.prototype.matches.call(el, selector);
const isForm = (node) => node instanceof HTMLFormElement;
const boxOf = (el) => Element.prototype.getBoundingClientRect.call(el);

// Whether a sandbox holds the document, whoever set it and whatever it allows. Every sandbox forbids `document.domain`, before
// the domain is looked at, and this is the domain of no document. So the setter always throws, and changes nothing. An error in
// other words says nothing.
const isSandboxed = () => {
  try {
    setter(Document, 'domain').call(document, 'not-a-suffix.invalid');
  } catch (error) {
    const message = getter(DOMException, 'message').call(error);
    if (message.includes('forbidden for sandboxed iframes')) return true;
    if (message.includes('is not a suffix of ')) return false;
  }
  return null;
};

// The bridge names elements by numbers. An element keeps its number for the lifetime of the document.
const numbers = new WeakMap();
const numbered = [];
const numberOf = (el) => {
  if (!el) return 0;
  let number = numbers.get(el);
  if (!number) {
    number = numbered.push(new WeakRef(el));
    numbers.set(el, number);
  }
  return number;
};
const nodes = (wanted) => wanted.map((number) => numbered[number - 1]?.deref() ?? null);

// The matches of a selector in this document: their count, and the number of the first.
const find = (selector) => {
  const all = Document.prototype.querySelectorAll.call(document, selector);
  const count = getter(NodeList, 'length').call(all);
  return [count, numberOf(NodeList.prototype.item.call(all, 0))];
};

// The element with the focus, within open shadow trees too.
const focusedElement = () => {
  const inner = (type, root) => getter(type, 'activeElement').call(root);
  let el = inner(Document, document);
  for (let root; el && (root = getter(Element, 'shadowRoot').call(el)) && inner(ShadowRoot, root); ) el = inner(ShadowRoot, root);
  return el;
};
// The number of the element with the focus, and whether it holds another document.
const focused = () => {
  const el = focusedElement();
  const hasNone = el === getter(Document, 'body').call(document) || el === getter(Document, 'documentElement').call(document);
  return [hasNone ? 0 : numberOf(el), el instanceof HTMLIFrameElement || el instanceof HTMLObjectElement];
};

const above = (node) => parentOf(node) ?? (node instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(node) : null);
const drawnIn = (node) => (node instanceof Element && getter(Element, 'assignedSlot').call(node)) || above(node);
const contains = (outer, inner) => {
  for (let node = inner; node; node = above(node)) if (node === outer) return true;
  return false;
};
const closestForm = (el) => {
  for (let node = el; node; node = above(node)) if (isForm(node)) return node;
  return null;
};

const owners = [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement, HTMLButtonElement, HTMLOutputElement, HTMLFieldSetElement, HTMLObjectElement];
const isControl = (el) => owners.some((type) => el instanceof type);
const formOf = (el) => {
  if (isForm(el)) return el;
  for (const type of owners) if (el instanceof type) return getter(type, 'form').call(el);
  return isEditable(el) ? closestForm(el) : null;
};
const typeOf = (el) => {
  if (el instanceof HTMLInputElement) return getter(HTMLInputElement, 'type').call(el);
  if (el instanceof HTMLButtonElement) return getter(HTMLButtonElement, 'type').call(el);
  return '';
};
const isEditable = (el) => el instanceof HTMLElement && getter(HTMLElement, 'isContentEditable').call(el);
const isSubmitter = (el) =>
  (el instanceof HTMLButtonElement && typeOf(el) === 'submit') ||
  (el instanceof HTMLInputElement && (typeOf(el) === 'submit' || typeOf(el) === 'image'));
const controlsOf = (form) => {
  const all = getter(HTMLFormElement, 'elements').call(form);
  const length = getter(HTMLCollection, 'length').call(all);
  const list = [];
  for (let i = 0; i < length && i < 500; i++) list.push(HTMLCollection.prototype.item.call(all, i));
  return list.filter((el) => !(el instanceof HTMLFieldSetElement || el instanceof HTMLObjectElement));
};
// Elements that a form owns and that a click does not activate.
const inert = [HTMLOutputElement, HTMLFieldSetElement, HTMLObjectElement];
const isLink = (el) => (el instanceof HTMLAnchorElement || el instanceof HTMLAreaElement) && hasAttribute(el, 'href');
const leadsTo = (link) => getter(link instanceof HTMLAreaElement ? HTMLAreaElement : HTMLAnchorElement, 'href').call(link);
const isDisabled = (el) => matches(el, ':disabled');
const takesInput = (el) => {
  if (isDisabled(el)) return false;
  if (el instanceof HTMLInputElement) return !getter(HTMLInputElement, 'readOnly').call(el);
  if (el instanceof HTMLTextAreaElement) return !getter(HTMLTextAreaElement, 'readOnly').call(el);
  return isControl(el) || isEditable(el);
};

// The destination of a form: its own, or that of one of its submit buttons.
const wayOf = (form, submitter) => {
  let action = getter(HTMLFormElement, 'action').call(form);
  let method = getter(HTMLFormElement, 'method').call(form);
  if (submitter) {
    const type = submitter instanceof HTMLButtonElement ? HTMLButtonElement : HTMLInputElement;
    if (hasAttribute(submitter, 'formaction')) action = getter(type, 'formAction').call(submitter);
    if (hasAttribute(submitter, 'formmethod')) method = getter(type, 'formMethod').call(submitter);
  }
  return { action, method: method.toUpperCase() };
};
// Every destination that a form may have; one with two different destinations has no known one.
const waysOf = (form) => {
  const ways = [wayOf(form, null)];
  for (const el of controlsOf(form)) if (isSubmitter(el) && !isDisabled(el)) ways.push(wayOf(form, el));
  return ways;
};
const isSameWay = (a, b) => {
  try {
    const [x, y] = [new URL(a.action), new URL(b.action)];
    return x.origin === y.origin && x.pathname === y.pathname && a.method === b.method;
  } catch {
    return false;
  }
};
const goes = (form, submitter) => {
  if (submitter && isSubmitter(submitter)) return wayOf(form, submitter);
  const ways = waysOf(form);
  return ways.every((way) => isSameWay(way, ways[0])) ? ways[0] : null;
};

const isRendered = (el) => {
  const box = boxOf(el);
  if (box.width < 2 || box.height < 2) return false;
  if (!Element.prototype.checkVisibility.call(el, { visibilityProperty: true, contentVisibilityAuto: true })) return false;
  let opacity = 1;
  for (let node = el; node; node = drawnIn(node)) {
    if (node instanceof Element) opacity *= Number(getComputedStyle(node).opacity);
  }
  return opacity >= 0.1;
};
const centreOf = (el) => {
  const boxes = Element.prototype.getClientRects.call(el);
  const box = getComputedStyle(el).display === 'inline' && boxes.length ? boxes[0] : boxOf(el);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};
const isOnScreen = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
const isHitAt = (el, { x, y }) => {
  const root = rootOf(el);
  const type = root instanceof ShadowRoot ? ShadowRoot : Document;
  const hit = type.prototype.elementFromPoint.call(root, x, y);
  if (!hit) return false;
  if (contains(el, hit)) return true;
  for (let node = hit; node; node = above(node)) {
    if (node instanceof HTMLLabelElement) return getter(HTMLLabelElement, 'control').call(node) === el;
  }
  return false;
};
// The node that a click at this point would reach, in open shadow trees too.
const reachedAt = (root, { x, y }) => {
  let hit = (root instanceof ShadowRoot ? ShadowRoot : Document).prototype.elementFromPoint.call(root, x, y);
  while (hit) {
    const shadow = getter(Element, 'shadowRoot').call(hit);
    const inner = shadow && ShadowRoot.prototype.elementFromPoint.call(shadow, x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
};
// The element at a point of this document's window: its number, whether it holds another document, and the point as seen from the
// upper left corner of its box, or of the document that it holds.
const pointed = (x, y) => {
  const el = isOnScreen({ x, y }) ? reachedAt(document, { x, y }) : null;
  if (!el) return [0, false, 0, 0];
  const box = boxOf(el);
  const holds = el instanceof HTMLIFrameElement || el instanceof HTMLObjectElement;
  if (!holds) return [numberOf(el), false, x - box.x, y - box.y];
  const style = getComputedStyle(el);
  const left = getter(Element, 'clientLeft').call(el) + parseFloat(style.paddingLeft);
  const top = getter(Element, 'clientTop').call(el) + parseFloat(style.paddingTop);
  return [numberOf(el), true, x - box.x - left, y - box.y - top];
};
// The element that a click activates: the control or link at a point of the element, its centre if left out, or one that contains it.
const actsThrough = (el, at = centreOf(el)) => {
  const hit = reachedAt(rootOf(el), at);
  for (let node = hit && contains(el, hit) ? hit : el; node; node = drawnIn(node)) {
    if (isLink(node) || (isControl(node) && !inert.some((type) => node instanceof type))) return node;
    const control = node instanceof HTMLLabelElement && getter(HTMLLabelElement, 'control').call(node);
    if (control) return control;
  }
  return el;
};
// The comparison is strict, since the edge itself may be at a fraction of a pixel.
const isWhollyOnScreen = ({ x, y, width, height }) => x >= 0 && y >= 0 && x + width < innerWidth && y + height < innerHeight;
const scrollInto = (el) => Element.prototype.scrollIntoView.call(el, { block: 'center', inline: 'center', behavior: 'instant' });
const bringIntoView = (el) => {
  if (!isWhollyOnScreen(boxOf(el))) scrollInto(el);
  return centreOf(el);
};

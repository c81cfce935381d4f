// The text of a document as lines, for the agent: elements and their words with their visibility, without the value of any
// control. It uses the functions of world.js and observe.js. Text whose invisibility it cannot detect, such as letters of the
// background's colour or covered ones, counts as visible: the guard's filter reads every word in any case.
const LONGEST_TEXT = 60000;
const MOST_NODES = 20000;
const ROLE_OF_TAG = {
  a: 'link', article: 'article', button: 'button', dialog: 'dialog', form: 'form', h1: 'heading', h2: 'heading',
  h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', img: 'img', li: 'listitem', main: 'main',
  nav: 'navigation', p: 'paragraph', section: 'section', table: 'table', td: 'cell', th: 'cell', tr: 'row',
};
const SILENT = ['script', 'style', 'noscript', 'template', 'head', 'iframe', 'frame', 'object', 'embed', 'datalist'];
const ENTRIES = { checkbox: 'checkbox', radio: 'radio', search: 'searchbox', number: 'spinbutton' };
const BUTTONS = ['submit', 'button', 'image', 'reset'];

const isInDocument = (box) => box.width >= 1 && box.height >= 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0;
// Whether letters in an element are visible, apart from their position.
const isLegible = (el, known) => {
  if (known.has(el)) return known.get(el);
  const style = getComputedStyle(el);
  const alpha = /^rgba\(.*, (0|0\.0\d*)\)$/.test(style.color);
  let legible = !alpha && parseFloat(style.fontSize) >= 4 &&
    Element.prototype.checkVisibility.call(el, { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  let opacity = 1;
  for (let node = el; legible && node; node = drawnIn(node)) {
    if (!(node instanceof Element)) continue;
    const around = getComputedStyle(node);
    opacity *= Number(around.opacity);
    const box = boxOf(node);
    if (around.overflow !== 'visible' && (box.width < 2 || box.height < 2)) legible = false;
  }
  legible &&= opacity >= 0.1;
  known.set(el, legible);
  return legible;
};
const isSeen = (text, known) => {
  const parent = parentOf(text);
  const holder = parent instanceof Element ? parent : parent instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(parent) : null;
  if (!holder || !isLegible(holder, known)) return false;
  const range = new Range();
  range.selectNodeContents(text);
  return Array.from(range.getClientRects()).some(isInDocument);
};
const childrenOf = (node) => {
  if (node instanceof HTMLSlotElement) {
    const assigned = HTMLSlotElement.prototype.assignedNodes.call(node);
    if (assigned.length) return assigned;
  }
  const root = node instanceof Element ? (chrome.dom?.openOrClosedShadowRoot?.(node) ?? getter(Element, 'shadowRoot').call(node)) : null;
  const list = [];
  for (let child = getter(Node, 'firstChild').call(root ?? node); child; child = getter(Node, 'nextSibling').call(child)) list.push(child);
  return list;
};

const readText = () => {
  const lines = [];
  const known = new Map();
  let [left, nodes, cut] = [LONGEST_TEXT, 0, false];
  // A name may repeat a value that was typed elsewhere on the page.
  const typed = everywhere(document, [])
    .filter((el) => el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement)
    .filter((el) => !BUTTONS.includes(typeOf(el)) && typeOf(el) !== 'checkbox' && typeOf(el) !== 'radio')
    .map((el) => getter(el instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement, 'value').call(el).trim())
    .filter((value) => value.length >= 3);
  const nameOf = (el) => {
    const label = labelOf(el);
    return typed.some((value) => label.includes(value)) ? '' : label;
  };
  const put = (line) => {
    left -= 20 + (line.name?.length ?? 0) + (line.runs ?? []).reduce((sum, [text]) => sum + text.length, 0);
    if (left < 0) cut = true;
    else lines.push(line);
  };
  const run = (depth, text) => {
    const words = getter(CharacterData, 'data').call(text);
    if (!words.trim()) return;
    const last = lines.at(-1);
    const piece = [words.slice(0, 20000), isSeen(text, known)];
    left -= piece[0].length;
    if (left < 0) cut = true;
    else if (last && !last.role && last.depth === depth) last.runs.push(piece);
    else put({ depth, runs: [piece] });
  };
  const control = (el, depth) => {
    const type = typeOf(el);
    const states = [];
    if (isDisabled(el)) states.push('disabled');
    if (el instanceof HTMLInputElement && BUTTONS.includes(type)) {
      put({ depth, role: 'button', name: short(attribute(el, 'value') ?? '') || nameOf(el), shown: isRendered(el), states });
      return;
    }
    if (type === 'hidden') return;
    if (el instanceof HTMLInputElement && getter(HTMLInputElement, 'required').call(el)) states.push('required');
    const box = type === 'checkbox' || type === 'radio';
    if (box && getter(HTMLInputElement, 'checked').call(el)) states.push('checked');
    const role = el instanceof HTMLSelectElement ? 'combobox' : (ENTRIES[type] ?? 'textbox');
    put({ depth, role, name: nameOf(el), shown: false, states, ...(box ? {} : { filled: isFilled(el) }) });
  };
  const walk = (node, depth) => {
    if (cut || (nodes += 1) > MOST_NODES || depth > 60) {
      cut = true;
      return;
    }
    if (node instanceof Text) run(depth, node);
    if (!(node instanceof Element) || SILENT.includes(tagOf(node))) return;
    if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement || isEditable(node)) {
      control(node, depth);
      return;
    }
    const tag = tagOf(node);
    const role = Object.hasOwn(ROLE_OF_TAG, tag) ? ROLE_OF_TAG[tag] : null;
    const at = lines.length;
    if (role) {
      const line = { depth, role };
      if (role === 'heading') line.level = Number(tag[1]);
      if (role === 'link' && /^\s*(mailto|tel):/i.test(attribute(node, 'href') ?? '')) line.contact = true;
      if (role === 'img') Object.assign(line, { name: short(attribute(node, 'alt') ?? ''), shown: false });
      put(line);
    }
    for (const child of childrenOf(node)) walk(child, role ? depth + 1 : depth);
    // An element with a single text is one line; an empty one is none.
    if (!role || cut) return;
    const below = lines.length - at - 1;
    if (below === 1 && !lines[at + 1].role) lines[at].runs = lines.pop().runs;
    else if (below === 0 && !lines[at].name) lines.pop();
  };
  const root = getter(Document, 'documentElement').call(document);
  if (root) walk(root, 0);
  return { title: short(getter(Document, 'title').call(document)), cut, lines };
};

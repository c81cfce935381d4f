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
    Element.prototype.checkVisibility.call(el, { opacityProperty: true, visibilityProperty: true });
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
const holderOf = (text) => {
  const parent = parentOf(text);
  return parent instanceof Element ? parent : parent instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(parent) : null;
};

// What a person sees between two texts, by the same rules as the guard's own browser: blocks stand on lines of their own
// unless their letters stand side by side; a cell is apart from the next one of its row.
const OVERLAP = 0.5;
const NEAR = 1;
const SPACE = 0.2;
const isBlock = (display) => !/^(inline|ruby)/.test(display) && display !== 'contents' && display !== 'none';
const gapInLine = (before, after) => {
  const common = Math.min(before.bottom, after.bottom) - Math.max(before.top, after.top);
  const lower = Math.min(before.height, after.height);
  const gap = Math.max(after.left - before.right, before.left - after.right);
  return lower > 0 && common >= OVERLAP * lower && gap > -1 ? gap : null;
};
const separation = (one, other) => {
  const gap = one.last && other.first ? gapInLine(one.last, other.first) : null;
  const size = Math.min(one.size, other.size);
  const apart = one.block !== other.block || one.breaks !== other.breaks;
  if (gap !== null && gap < SPACE * size) return '';
  if (one.cell && other.cell && one.cell !== other.cell && one.row === other.row) return '\t';
  if (gap !== null && (gap < NEAR * size || !apart)) return ' ';
  return apart ? '\n' : '';
};

const ROMAN = [[1000, 'm'], [900, 'cm'], [500, 'd'], [400, 'cd'], [100, 'c'], [90, 'xc'], [50, 'l'], [40, 'xl'], [10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']];
// Browsers write numbers beyond these in decimal digits.
const roman = (number) => {
  if (number > 3999) return String(number);
  let [left, letters] = [number, ''];
  for (const [value, letter] of ROMAN) {
    for (; left >= value; left -= value) letters += letter;
  }
  return letters;
};
const alphabetic = (number) => {
  let letters = '';
  for (let left = number; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(97 + ((left - 1) % 26)) + letters;
  }
  return letters;
};
const NUMBERED = {
  decimal: String, 'lower-roman': roman, 'upper-roman': (number) => roman(number).toUpperCase(), 'lower-alpha': alphabetic,
  'upper-alpha': (number) => alphabetic(number).toUpperCase(), 'lower-latin': alphabetic,
  'upper-latin': (number) => alphabetic(number).toUpperCase(),
};
const isItem = (node) => node instanceof HTMLLIElement;
// The number in front of an item of a list, as the browser shows it; empty for a bullet, which the item's role tells.
const markerOf = (item, style, ordinals) => {
  const write = style.display === 'list-item' && Object.hasOwn(NUMBERED, style.listStyleType) && NUMBERED[style.listStyleType];
  const list = parentOf(item);
  if (!write || !(list instanceof HTMLOListElement || list instanceof HTMLUListElement)) return '';
  if (!ordinals.has(list)) {
    const items = childrenOf(list).filter(isItem);
    const ordered = list instanceof HTMLOListElement;
    const reversed = ordered && getter(HTMLOListElement, 'reversed').call(list);
    const begins = ordered && hasAttribute(list, 'start') ? getter(HTMLOListElement, 'start').call(list) : reversed ? items.length : 1;
    let next = begins;
    const numbers = new Map();
    for (const one of items) {
      if (hasAttribute(one, 'value')) next = getter(HTMLLIElement, 'value').call(one);
      numbers.set(one, next);
      next += reversed ? -1 : 1;
    }
    ordinals.set(list, numbers);
  }
  return `${write(ordinals.get(list).get(item))}. `;
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
  const styles = new Map();
  const ordinals = new Map();
  // The position of the text that was told last, and the blocks and forced line ends so far.
  let [before, breaks, marker] = [null, 0, ''];
  const styleOf = (el) => {
    if (!styles.has(el)) {
      const style = getComputedStyle(el);
      const keeps = /^(preserve|preserve-breaks|break-spaces)$/.test(style.whiteSpaceCollapse);
      styles.set(el, { keeps, size: parseFloat(style.fontSize), transform: style.textTransform });
    }
    return styles.get(el);
  };
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
  const run = (depth, text, around) => {
    const holder = holderOf(text);
    if (!holder) return;
    const style = styleOf(holder);
    let words = getter(CharacterData, 'data').call(text);
    words = style.keeps ? words.replace(/[\t\r]/g, ' ') : words.replace(/[ \t\r\n\f]+/g, ' ');
    if (style.transform === 'uppercase') words = words.toUpperCase();
    else if (style.transform === 'lowercase') words = words.toLowerCase();
    const range = new Range();
    range.selectNodeContents(text);
    const boxes = Array.from(range.getClientRects());
    const last = lines.at(-1);
    const goesOn = last && !last.role && last.depth === depth;
    if (!words.trim()) {
      // White space between inline elements, also where the line is wrapped at it.
      if (goesOn && before && before.block === around.block && before.breaks === breaks) last.runs.push([words.includes('\n') ? '\n' : ' ', true]);
      return;
    }
    const position = { ...around, breaks, first: boxes[0], last: boxes.at(-1), size: style.size };
    const apart = before && goesOn && around.isDrawn ? separation(before, position) : '';
    if (around.isDrawn) before = position;
    const seen = isLegible(holder, known) && boxes.some(isInDocument);
    const pieces = [[words.slice(0, 20000), seen]];
    if (marker) pieces.unshift([marker, seen]);
    marker = '';
    left -= pieces.reduce((sum, [text]) => sum + text.length, 0);
    if (left < 0) cut = true;
    else if (goesOn) last.runs.push(...(apart ? [[apart, true]] : []), ...pieces);
    else put({ depth, runs: pieces });
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
  const walk = (node, depth, outer) => {
    if (cut || (nodes += 1) > MOST_NODES || depth > 60) {
      cut = true;
      return;
    }
    if (node instanceof Text) run(depth, node, outer);
    if (!(node instanceof Element) || SILENT.includes(tagOf(node))) return;
    if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement || isEditable(node)) {
      control(node, depth);
      return;
    }
    const style = getComputedStyle(node);
    let around = outer;
    if (style.display === 'none') around = { ...outer, isDrawn: false };
    else if (around.isDrawn && node instanceof HTMLBRElement) breaks += 1;
    else if (around.isDrawn && isBlock(style.display)) {
      around = { ...outer, block: node };
      if (style.display === 'table-cell') Object.assign(around, { cell: node, row: parentOf(node) });
      if (style.position !== 'absolute' && style.position !== 'fixed') breaks += 1;
    }
    if (isItem(node)) marker = markerOf(node, style, ordinals);
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
    for (const child of childrenOf(node)) walk(child, role ? depth + 1 : depth, around);
    if (isItem(node)) marker = '';
    // An element with a single text is one line; an empty one is none.
    if (!role || cut) return;
    const below = lines.length - at - 1;
    if (below === 1 && !lines[at + 1].role) lines[at].runs = lines.pop().runs;
    else if (below === 0 && !lines[at].name) lines.pop();
  };
  const root = getter(Document, 'documentElement').call(document);
  if (root) walk(root, 0, { block: root, cell: null, row: null, isDrawn: true });
  return { title: short(getter(Document, 'title').call(document)), cut, lines };
};

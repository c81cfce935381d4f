// Reports the texts and attributes by which a page describes a control and its form. They are the evidence for the match of
// the control (`form/matching`). No value is reported.
const MOST_OPTIONS = 300;
// The most nodes that are visited for the text near one control, and the most ancestors.
const NEAR_NODES = 300;
const NEAR_ANCESTORS = 5;
const cut = (text, length) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, length);
const nodesWithin = function* (node) {
  for (let child = getter(Node, 'firstChild').call(node); child; child = getter(Node, 'nextSibling').call(child)) yield child;
};
const isEntry = (node) =>
  node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement ||
  (node instanceof HTMLInputElement && !['hidden', 'submit', 'button', 'image', 'reset'].includes(typeOf(node)));
const isSilent = (node) =>
  isControl(node) || node instanceof HTMLScriptElement || node instanceof HTMLStyleElement || node instanceof HTMLOptionElement ||
  (node instanceof Element && tagOf(node) === 'noscript');
const BLOCKS = ['div', 'p', 'li', 'br', 'label', 'span', 'td', 'th', 'dt', 'dd', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
// The text of a node without its controls, with spaces where lines end. `budget` bounds the nodes that are visited.
const plainText = (node, length, budget = { left: NEAR_NODES }) => {
  const parts = [];
  const walk = (at, depth) => {
    if (depth > 50 || budget.left-- <= 0) return;
    if (at instanceof Text) parts.push(getter(CharacterData, 'data').call(at));
    if (at !== node && isSilent(at)) return;
    if (at instanceof Element && BLOCKS.includes(tagOf(at))) parts.push(' ');
    for (const child of nodesWithin(at)) walk(child, depth + 1);
  };
  walk(node, 0);
  return cut(parts.join(''), length);
};
// Whether a node holds an entry other than `el`.
const holdsEntry = (node, el, budget) => {
  const walk = (at, depth) => {
    if (depth > 50 || budget.left-- <= 0) return false;
    if (at !== el && isEntry(at)) return true;
    for (const child of nodesWithin(at)) if (walk(child, depth + 1)) return true;
    return false;
  };
  return walk(node, 0);
};
// The text of the nearest box that holds no other entry; where there is none, the text between the entry before and this one.
const nearText = (el) => {
  const budget = { left: NEAR_NODES };
  let at = el;
  for (let up = 0; up < NEAR_ANCESTORS; up++) {
    const parent = parentOf(at);
    if (!(parent instanceof Element) || tagOf(parent) === 'body') break;
    if (holdsEntry(parent, el, budget)) {
      let text = '';
      for (let before = getter(Node, 'previousSibling').call(at); before; before = getter(Node, 'previousSibling').call(before)) {
        if (holdsEntry(before, el, budget) || budget.left <= 0) break;
        text = `${isSilent(before) ? '' : plainText(before, 120, budget)} ${text}`;
      }
      return cut(text, 120);
    }
    const text = plainText(parent, 120, budget);
    if (text) return text;
    at = parent;
  }
  return '';
};
// The heading of the table row in which a control stands, where the row has no other entry.
const rowHeading = (el) => {
  let row = parentOf(el);
  for (let up = 0; row && !(row instanceof HTMLTableRowElement); up++, row = parentOf(row)) if (up > 6) return '';
  if (!row || holdsEntry(row, el, { left: NEAR_NODES })) return '';
  for (const cell of nodesWithin(row)) if (cell instanceof HTMLElement && tagOf(cell) === 'th') return plainText(cell, 200);
  return '';
};
const labelsOf = (el) => {
  for (const type of owners.slice(0, 5)) {
    if (!(el instanceof type)) continue;
    const own = [...(getter(type, 'labels').call(el) ?? [])].map((label) => plainText(label, 200)).filter(Boolean);
    return own.length || !isEntry(el) ? own : [rowHeading(el)].filter(Boolean);
  }
  return [];
};
const legendOf = (el) => {
  for (let node = parentOf(el); node; node = parentOf(node)) {
    if (!(node instanceof HTMLFieldSetElement)) continue;
    for (const child of nodesWithin(node)) if (child instanceof HTMLLegendElement) return plainText(child, 100);
  }
  return '';
};
const optionsOf = (el) => {
  if (!(el instanceof HTMLSelectElement)) return [];
  const options = getter(HTMLSelectElement, 'options').call(el);
  const length = Math.min(getter(HTMLCollection, 'length').call(options), MOST_OPTIONS);
  return Array.from({ length }, (_, i) => HTMLCollection.prototype.item.call(options, i)).map((option) =>
    [cut(getter(HTMLOptionElement, 'value').call(option), 60), cut(getter(HTMLOptionElement, 'text').call(option), 60)]);
};
// The attributes by which pages and payment providers name a field for their own scripts.
const NAMING = ['data-field', 'data-fieldtype', 'data-field-type', 'data-field-name', 'data-name', 'data-label', 'data-type', 'data-id',
  'data-test', 'data-testid', 'data-test-id', 'data-qa', 'data-cy', 'data-automation-id', 'data-bind', 'data-encrypted-name',
  'data-stripe', 'data-cse', 'data-recurly', 'data-braintree-name', 'data-checkout', 'data-placeholder', 'data-auto', 'data-hook'];
const dataOf = (el) => NAMING.map((name) => attribute(el, name)).filter(Boolean).join(' ');
// A report of forms has a bounded length, so that a bridge can carry it: words that have no room are left out, and options first.
const ROOM = 150_000;
const room = { left: ROOM };
const encoder = new TextEncoder();
const fitting = (words) => {
  for (const part of [words, { ...words, options: [] }]) {
    const size = encoder.encode(JSON.stringify(part)).length;
    if (size > room.left) continue;
    room.left -= size;
    return part;
  }
  return {};
};
// A rule about the value of a control. One that is cut is too long for the guard to read, and it sees that by the length.
const LONGEST_RULE = 500;
const rule = (el, name) => (el instanceof HTMLInputElement ? (attribute(el, name) ?? '').slice(0, LONGEST_RULE + 1) : '');
// The words about one control.
const controlWords = (el) => fitting({
  id: short(attribute(el, 'id')),
  labels: cut(labelsOf(el).join(' '), 400),
  labelledBy: short((attribute(el, 'aria-labelledby') ?? '').split(/\s+/).filter(Boolean).map((id) => byId(el, id)).filter(Boolean)
    .map((named) => plainText(named, 200)).join(' ')),
  ariaLabel: short(attribute(el, 'aria-label')),
  placeholder: short(attribute(el, 'placeholder')),
  title: short(attribute(el, 'title')),
  near: isEntry(el) ? nearText(el) : '',
  legend: isEntry(el) ? legendOf(el) : '',
  data: isEntry(el) ? short(dataOf(el)) : '',
  maxLength: Math.max(0, Number.parseInt(attribute(el, 'maxlength') ?? '', 10) || 0),
  minLength: Math.max(0, Number.parseInt(attribute(el, 'minlength') ?? '', 10) || 0),
  pattern: rule(el, 'pattern'),
  passwordRules: rule(el, 'passwordrules'),
  required: attribute(el, 'required') !== null || attribute(el, 'aria-required') === 'true',
  options: optionsOf(el),
});
// The words about a form, or about the controls without one.
const formWords = (form) => {
  const buttonsOf = (list) => list.filter((el) => (el instanceof HTMLButtonElement || isSubmitter(el) || typeOf(el) === 'button'))
    .slice(0, 30).map((el) => short(el instanceof HTMLInputElement ? attribute(el, 'value') : plainText(el, 100) || attribute(el, 'aria-label')));
  const headings = [...Document.prototype.querySelectorAll.call(document, 'h1, h2, h3, legend')].slice(0, 10);
  return {
    buttons: buttonsOf(form ? controlsOf(form) : looseControls()),
    attributes: form ? ['action', 'name', 'id', 'class'].map((name) => short(attribute(form, name))) : [],
    headings: headings.map((el) => plainText(el, 100)),
    text: form ? plainText(form, 400, { left: 2000 }) : '',
  };
};
// A path of selectors that names one element of the document, and within shadow trees, with ` >> ` at their edges.
const pathOf = (el) => {
  const root = rootOf(el);
  const type = root instanceof ShadowRoot ? DocumentFragment : Document;
  const isOnly = (selector) => getter(NodeList, 'length').call(type.prototype.querySelectorAll.call(root, selector)) === 1;
  const parts = [];
  for (let at = el; at instanceof Element; at = parentOf(at)) {
    const id = attribute(at, 'id');
    if (id && isOnly(`#${CSS.escape(id)}`)) {
      parts.unshift(`#${CSS.escape(id)}`);
      break;
    }
    const parent = parentOf(at);
    const same = parent ? [...nodesWithin(parent)].filter((child) => child instanceof Element && tagOf(child) === tagOf(at)) : [at];
    const name = CSS.escape(tagOf(at));
    parts.unshift(same.length > 1 ? `${name}:nth-of-type(${same.indexOf(at) + 1})` : name);
  }
  const host = root instanceof ShadowRoot ? `${pathOf(getter(ShadowRoot, 'host').call(root))} >> ` : '';
  return host + parts.join(' > ');
};
const pathsOf = (...all) => all.map((el) => (isConnected(el) ? pathOf(el) : ''));

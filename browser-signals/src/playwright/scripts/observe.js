// The facts of a form and its controls. No value is reported, only whether there is one.
const short = (text) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, 200);
// The text of an element, without the values of controls in it.
const textOf = (node) => {
  const parts = [];
  const walk = (at, depth) => {
    if (at instanceof Text) parts.push(getter(CharacterData, 'data').call(at));
    if (depth > 50 || (at !== node && (isControl(at) || isEditable(at)))) return;
    for (let child = getter(Node, 'firstChild').call(at); child; child = getter(Node, 'nextSibling').call(child)) {
      walk(child, depth + 1);
    }
  };
  walk(node, 0);
  return short(parts.join(''));
};
const byId = (el, id) => {
  const root = rootOf(el);
  return root instanceof ShadowRoot
    ? DocumentFragment.prototype.getElementById.call(root, id)
    : Document.prototype.getElementById.call(document, id);
};
const labelOf = (el) => {
  const named = (attribute(el, 'aria-labelledby') ?? '').split(/\s+/).filter(Boolean).map((id) => byId(el, id));
  const joined = named.filter(Boolean).map(textOf).join(' ');
  if (joined) return short(joined);
  if (attribute(el, 'aria-label')) return short(attribute(el, 'aria-label'));
  for (const type of owners.slice(0, 5)) {
    if (!(el instanceof type)) continue;
    const labels = [...(getter(type, 'labels').call(el) ?? [])].map(textOf).join(' ');
    if (labels) return short(labels);
  }
  const face = el instanceof HTMLButtonElement || !isControl(el) ? (isEditable(el) ? '' : textOf(el)) : '';
  return face || short(attribute(el, 'placeholder') ?? attribute(el, 'title') ?? '');
};
const isFilled = (el) => {
  if (el instanceof HTMLInputElement) {
    if (['checkbox', 'radio'].includes(typeOf(el))) return getter(HTMLInputElement, 'checked').call(el);
    return getter(HTMLInputElement, 'value').call(el) !== '';
  }
  if (el instanceof HTMLSelectElement) return getter(HTMLSelectElement, 'value').call(el) !== '';
  if (el instanceof HTMLTextAreaElement) return getter(HTMLTextAreaElement, 'value').call(el) !== '';
  return isEditable(el) && getter(Node, 'textContent').call(el).trim() !== '';
};
const chosenWords = (select) => {
  const option = HTMLCollection.prototype.item.call(getter(HTMLSelectElement, 'selectedOptions').call(select), 0);
  return option ? short(getter(HTMLOptionElement, 'text').call(option)).toLowerCase() : '';
};
// A widget shows a select's choice if its visible text has the words of the chosen option.
const isShownIn = (widget, select) =>
  short(getter(HTMLElement, 'innerText').call(widget)).toLowerCase().includes(chosenWords(select));
// The element in which a person sees a control. A page may hide a select and draw a combobox of its own beside it, without a text
// input. That stands for the select while it shows the words of the chosen option.
const faceOf = (el) => {
  if (!(el instanceof HTMLSelectElement) || isRendered(el)) return el;
  const beside = ['nextElementSibling', 'previousElementSibling'].map((side) => getter(Element, side).call(el));
  const isFace = (it) => {
    if (!(it instanceof HTMLElement) || !isRendered(it) || !isShownIn(it, el)) return false;
    const parts = [it, ...Element.prototype.querySelectorAll.call(it, '*')];
    return parts.some((part) => attribute(part, 'role') === 'combobox') && !parts.some(takesEntry);
  };
  return beside.find(isFace) ?? el;
};
const controlFacts = (el) => {
  const face = faceOf(el);
  const rendered = isRendered(face);
  const centre = rendered ? bringIntoView(face) : null;
  const visible = rendered && isOnScreen(centre);
  return {
    id: numberOf(el),
    form: numberOf(formOf(el)),
    tag: tagOf(el),
    type: typeOf(el),
    autocomplete: short(attribute(el, 'autocomplete')),
    name: short(attribute(el, 'name')),
    label: labelOf(el),
    visible,
    hit: visible && isHitAt(face, centre),
    editable: takesInput(el),
    filled: isFilled(el),
    words: controlWords(el),
  };
};
const everywhere = (root, list) => {
  const type = root instanceof ShadowRoot ? DocumentFragment : Document;
  for (const el of type.prototype.querySelectorAll.call(root, '*')) {
    list.push(el);
    const shadow = getter(Element, 'shadowRoot').call(el);
    if (shadow) everywhere(shadow, list);
  }
  return list;
};
const editableWithin = (form) => everywhere(document, []).filter((el) => isEditingHost(el) && formOf(el) === form);
const isEditingHost = (el) => {
  const up = parentOf(el);
  return isEditable(el) && !(up instanceof HTMLElement && isEditable(up));
};
const inPlace = (work) => {
  const [x, y] = [scrollX, scrollY];
  room.left = ROOM;
  const result = work();
  if (scrollX !== x || scrollY !== y) scrollTo({ left: x, top: y, behavior: 'instant' });
  return result;
};
const formFacts = (form, submitter) => ({
  form: numberOf(form),
  way: form ? goes(form, submitter) : null,
  words: formWords(form),
  controls: (form ? [...controlsOf(form), ...editableWithin(form)] : looseControls()).slice(0, 500).map(controlFacts),
});
const looseControls = () =>
  everywhere(document, []).filter((el) => (isControl(el) || isEditingHost(el)) && formOf(el) === null);

// A link to its own document acts as a button of the page's script.
const leadsAway = (link) => {
  const plain = (address) => address.split('#')[0];
  const to = leadsTo(link);
  return /^https?:/i.test(to) && plain(to) !== plain(getter(Document, 'URL').call(document));
};
const takesEntry = (el) =>
  isEditable(el) || el instanceof HTMLSelectElement || el instanceof HTMLTextAreaElement ||
  (el instanceof HTMLInputElement && !['submit', 'button', 'image', 'reset'].includes(typeOf(el)));

const isFileInput = (el) => el instanceof HTMLInputElement && typeOf(el) === 'file';

// The facts of one element with the form that owns it, of that form alone, or of the controls without a form.
const observe = (el, about) => inPlace(() => {
  if (!el) return { target: null, ...formFacts(null, null) };
  // A page may open a file chooser for an input that is in no document.
  if (!isConnected(el) && !isFileInput(el)) return null;
  const form = formOf(el);
  if (about === 'form') return form ? { target: null, ...formFacts(form, isForm(el) ? null : el) } : null;
  const target = controlFacts(el);
  // A click on the words of a button presses the button.
  const through = isEditable(el) || !isConnected(el) ? el : actsThrough(el);
  if (isSubmitter(through) && formOf(through)) {
    const sent = formOf(through);
    const pressed = { ...target, form: numberOf(sent), tag: tagOf(through), type: typeOf(through) };
    return { target: pressed, ...formFacts(sent, through) };
  }
  const way = isLink(through) && leadsAway(through) ? { action: leadsTo(through), method: 'GET' } : null;
  // The other controls show the purpose of one without a form.
  const around = () => looseControls().slice(0, 500).map(controlFacts);
  const facts = form ? formFacts(form, el) : { form: 0, way, controls: takesEntry(el) ? around() : [] };
  return { target, ...facts };
});
// Whether the element of a frame is drawn, and whether the page puts nothing over it: points of a grid over the whole frame are
// hit. The frame's own document knows nothing of what lies over it.
const GRID = 24;
const coverOf = (frame) => inPlace(() => {
  if (!isConnected(frame) || !isRendered(frame)) return { visible: false, hit: false };
  bringIntoView(frame);
  const box = boxOf(frame);
  const points = [];
  for (let row = 0; row <= GRID; row++) {
    for (let column = 0; column <= GRID; column++) {
      const along = (at) => 0.02 + (0.96 * at) / GRID;
      points.push({ x: box.x + box.width * along(column), y: box.y + box.height * along(row) });
    }
  }
  return { visible: true, hit: points.every((point) => isOnScreen(point) && isHitAt(frame, point)) };
});
// The facts of every form of the document, and of the controls without a form if there are any.
const forms = () => inPlace(() => {
  const all = everywhere(document, []).filter(isForm).slice(0, 100);
  const facts = all.map((form) => ({ target: null, ...formFacts(form, null) }));
  const loose = { target: null, ...formFacts(null, null) };
  return loose.controls.length ? [...facts, loose] : facts;
});

// The point to click, and listeners that stop the click, or the key, if it would reach anything else.
const INPUTS = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'keydown', 'keypress'];
// The events of what the browser drags itself.
const DRAGS = ['dragstart', 'dragenter', 'dragover', 'drop'];
let watch = null;
// `within` is the point as seen from the upper left corner of the element's box; without one it is the centre.
const aim = (el, within) => {
  if (!isConnected(el)) return { gone: true };
  if (!isRendered(el)) return { hit: false };
  const point = () => (within ? { x: boxOf(el).x + within.x, y: boxOf(el).y + within.y } : centreOf(el));
  const isReached = (at) => isOnScreen(at) && isHitAt(el, at);
  if (!within) bringIntoView(el);
  // It may lie within the window and be cut off by a part of the page that scrolls by itself.
  if (!isReached(point())) scrollInto(el);
  const at = point();
  if (!isReached(at)) return { hit: false };
  // The decision was about what a click at the centre activates.
  if (within && actsThrough(el, at) !== actsThrough(el)) return { hit: false };
  // At another place such a control takes another value, which would be recorded as no more than a click.
  if (within && el instanceof HTMLInputElement && STEPPED.includes(typeOf(el)) && typeOf(el) !== 'radio') return { hit: false };
  const root = rootOf(el);
  const seen = root instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(root) : el;
  // A click on a label clicks its control too, which need not be in the label. The decision was about this control.
  const through = actsThrough(el);
  const isMeant = (node) =>
    node === el || node === seen || node === through || (node instanceof HTMLLabelElement && getter(HTMLLabelElement, 'control').call(node) === el);
  arm((path) => path.some(isMeant), el);
  return { hit: true, ...at };
};
// `isReached` says whether an event may go on; one that is 'stopped' was expected, and has not strayed.
const arm = (isReached, target = null, names = INPUTS) => {
  unwatch();
  const state = { strayed: false, validation: validating(target), names };
  state.listen = (event) => {
    const reached = !event.isTrusted || isReached(event.composedPath(), event);
    if (reached === true) return;
    state.strayed ||= reached !== 'stopped';
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const name of names) addEventListener(name, state.listen, { capture: true });
  for (const name of VALIDATION) addEventListener(name, state.validation.listen, { capture: true });
  watch = state;
};
const unwatch = () => {
  const strayed = watch?.strayed ?? false;
  if (watch) for (const name of watch.names) removeEventListener(name, watch.listen, { capture: true });
  if (watch) for (const name of VALIDATION) removeEventListener(name, watch.validation.listen, { capture: true });
  watch = null;
  return strayed;
};
// Whether the click went astray, and the control for whose sake the browser did not send the form that it was to send.
const ended = () => {
  const { form = null, refused = false, sent = false } = watch?.validation ?? {};
  return { strayed: unwatch(), asksFor: refused && !sent ? askedFor(form) : null };
};
// The browser sends the form of a pressed button, or fires an event on each control that is not valid. This records which.
const VALIDATION = ['invalid', 'submit'];
const validating = (target) => {
  let button = target instanceof HTMLLabelElement ? getter(HTMLLabelElement, 'control').call(target) : target;
  while (button && !isSubmitter(button)) button = above(button);
  const form = button && validates(formOf(button), button) ? formOf(button) : null;
  const state = { form, refused: false, sent: false };
  state.listen = (event) => {
    if (!event.isTrusted || !form) return;
    if (event.type === 'submit') state.sent ||= event.target === form;
    else state.refused ||= isControl(event.target) && formOf(event.target) === form;
  };
  return state;
};
const validates = (form, submitter) =>
  form && !getter(HTMLFormElement, 'noValidate').call(form) && !(submitter && hasAttribute(submitter, 'formnovalidate'));
const VALIDATED = [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement, HTMLButtonElement];
const isInvalid = (el) =>
  VALIDATED.some((type) => el instanceof type && getter(type, 'willValidate').call(el) && !getter(ValidityState, 'valid').call(getter(type, 'validity').call(el)));
// The name of the first control that is not valid. One that the guard filled is not named.
const askedFor = (form) => {
  const el = controlsOf(form).find((it) => isInvalid(it) && !kept.has(it));
  return el ? labelOf(el) || short(attribute(el, 'placeholder')) || short(attribute(el, 'name')) : '';
};
// Converts a point of a frame's viewport to the viewport of the document that contains the frame.
const outwards = (owner, x, y) => {
  if (!isConnected(owner) || !isRendered(owner)) return { hit: false };
  const read = () => {
    const box = boxOf(owner);
    const style = getComputedStyle(owner);
    const left = getter(Element, 'clientLeft').call(owner) + parseFloat(style.paddingLeft);
    const top = getter(Element, 'clientTop').call(owner) + parseFloat(style.paddingTop);
    const scaled = Math.abs(box.width - getter(HTMLElement, 'offsetWidth').call(owner)) > 1;
    return { x: box.x + left + x, y: box.y + top + y, scaled };
  };
  let at = read();
  if (!isOnScreen(at)) {
    Element.prototype.scrollIntoView.call(owner, { block: 'center', inline: 'center', behavior: 'instant' });
    at = read();
    if (!isOnScreen(at)) {
      scrollBy({ left: at.x - innerWidth / 2, top: at.y - innerHeight / 2, behavior: 'instant' });
      at = read();
    }
  }
  return { hit: !at.scaled && isOnScreen(at) && isHitAt(owner, at), x: at.x, y: at.y };
};

const announce = (el) => {
  for (const name of ['input', 'change']) {
    EventTarget.prototype.dispatchEvent.call(el, new Event(name, { bubbles: true, composed: true }));
  }
};
const optionOf = (select, wanted) => {
  const options = [...getter(HTMLSelectElement, 'options').call(select)];
  const usable = options.filter((option) => !getter(HTMLOptionElement, 'disabled').call(option));
  const plain = (text) => short(text).toLowerCase();
  return (
    usable.find((option) => getter(HTMLOptionElement, 'value').call(option) === wanted) ??
    usable.find((option) => plain(getter(HTMLOptionElement, 'text').call(option)) === plain(wanted)) ??
    null
  );
};
const valueSetter = (el) => {
  for (const type of [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement]) {
    if (el instanceof type) return setter(type, 'value');
  }
  return null;
};
const UNTYPED = ['hidden', 'submit', 'button', 'image', 'reset', 'file', 'checkbox', 'radio'];

// Each of these returns a word: done, gone, diverted or unfit.
const typeInto = (el, text) => {
  if (!isConnected(el)) return 'gone';
  if (!takesInput(el) || el instanceof HTMLSelectElement || UNTYPED.includes(typeOf(el))) return 'unfit';
  const set = valueSetter(el);
  if (!set && !isEditable(el)) return 'unfit';
  HTMLElement.prototype.focus.call(el);
  if (!isConnected(el)) return 'gone';
  if (set) set.call(el, text);
  else setter(Node, 'textContent').call(el, text);
  announce(el);
  return 'done';
};
const choose = (el, wanted) => {
  if (!isConnected(el)) return 'gone';
  if (!(el instanceof HTMLSelectElement) || !takesInput(el)) return 'unfit';
  const chosen = wanted.map((one) => optionOf(el, one));
  const takesSeveral = getter(HTMLSelectElement, 'multiple').call(el);
  if (chosen.includes(null) || (chosen.length !== 1 && !takesSeveral)) return 'unfit';
  if (takesSeveral) {
    for (const option of getter(HTMLSelectElement, 'options').call(el)) {
      setter(HTMLOptionElement, 'selected').call(option, chosen.includes(option));
    }
  } else {
    setter(HTMLSelectElement, 'selectedIndex').call(el, getter(HTMLOptionElement, 'index').call(chosen[0]));
  }
  announce(el);
  return 'done';
};
const check = (el, on) => {
  if (!isConnected(el)) return 'gone';
  if (!(el instanceof HTMLInputElement) || !['checkbox', 'radio'].includes(typeOf(el)) || isDisabled(el)) return 'unfit';
  if (getter(HTMLInputElement, 'checked').call(el) === on) return 'done';
  HTMLElement.prototype.click.call(el);
  return getter(HTMLInputElement, 'checked').call(el) === on ? 'done' : 'diverted';
};
// The button that sends the form of an element.
const submitterOf = (el, form) =>
  isSubmitter(el) ? el : (controlsOf(form).find((it) => isSubmitter(it) && !isDisabled(it)) ?? null);
// The control for whose sake the browser would not send the form of an element.
const lacks = (el, form) =>
  validates(form, submitterOf(el, form)) && !HTMLFormElement.prototype.checkValidity.call(form) ? { asksFor: askedFor(form) } : 'done';
const submit = (el, form, way) => {
  if (!isConnected(el) || !isConnected(form)) return 'gone';
  if (formOf(el) !== form) return 'diverted';
  const now = goes(form, isForm(el) ? null : el);
  if (!now || !isSameWay(now, way)) return 'diverted';
  const lacking = lacks(el, form);
  if (lacking !== 'done') return lacking;
  HTMLFormElement.prototype.requestSubmit.call(form, submitterOf(el, form));
  return 'done';
};

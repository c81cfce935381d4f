// Sets the values of controls of one form, all of them or none.
const FILLABLE = ['text', 'tel', 'email', 'url', 'number', 'password', 'date', 'month', 'week', 'time'];
const bare = (text) => text.replace(/[\s\-/.()]/g, '').toLowerCase();
const typeHolding = (el) => [HTMLSelectElement, HTMLTextAreaElement].find((type) => el instanceof type) ?? HTMLInputElement;
const valueOf = (el) => getter(typeHolding(el), 'value').call(el);
const mayHold = (el) =>
  el instanceof HTMLTextAreaElement ||
  (el instanceof HTMLSelectElement && !getter(HTMLSelectElement, 'multiple').call(el)) ||
  (el instanceof HTMLInputElement && FILLABLE.includes(typeOf(el)));
const digitsOf = (text) => text.replace(/\D/g, '');
// Whether a control holds what was stored in it. A mask may group a value, and may add a country code to a phone number or
// drop it. Only a number that begins as those of phones do is read so, since another with more digits is another value.
const holds = (el, stored) => {
  const now = valueOf(el);
  if (bare(now) === bare(stored)) return true;
  if (!(el instanceof HTMLInputElement) || typeOf(el) === 'password' || !/^[+0][\d\s\-/.()]{6,}$/.test(stored)) return false;
  if (!/^[+\d\s\-/.()]+$/.test(now)) return false;
  const [held, given] = [digitsOf(now), digitsOf(stored).replace(/^0+/, '')];
  const [long, short] = held.length < given.length ? [given, held] : [held, given];
  return short.length >= 6 && long.length - short.length <= 4 && long.endsWith(short);
};
const isAsDecided = (el, form, way, name) => {
  if (!isConnected(el)) return 'gone';
  if (formOf(el) !== form || !mayHold(el)) return 'diverted';
  if (name !== undefined && attribute(el, 'name') !== name) return 'diverted';
  if (form) {
    const now = goes(form, null);
    if (!now || !isSameWay(now, way)) return 'diverted';
  }
  return 'done';
};
// Other character sets than UTF-8 encode text that is not ASCII in other bytes.
const isSentAsUtf8 = (form) => {
  const sets = form ? getter(HTMLFormElement, 'acceptCharset').call(form) : '';
  return (sets || getter(Document, 'characterSet').call(document)).toLowerCase() === 'utf-8';
};
// Whether the control's own validation accepts its value: a placeholder that it refuses would never be sent.
const isAccepted = (el) => getter(ValidityState, 'valid').call(getter(HTMLInputElement, 'validity').call(el));
// Whether a control's own rules about length and pattern accept its value. A script of the page may report an error of its own
// until it runs again, so that is left to the sending of the form.
const isWithinRules = (el) => {
  const validity = getter(HTMLInputElement, 'validity').call(el);
  return !['patternMismatch', 'tooShort', 'tooLong'].some((fault) => getter(ValidityState, fault).call(validity));
};
// For a wire, the values are placeholders: each is in an input of the name under which its value may be sent. `made` says of each
// control whether its value was made by its rules.
const fill = (form, way, wire, made, count, ...given) => {
  const controls = given.slice(0, count);
  const values = given.slice(count);
  if (wire && !wire.ascii && !isSentAsUtf8(form)) return 'unfit';
  const faces = new Map();
  for (const [i, el] of controls.entries()) {
    const state = isAsDecided(el, form, way, wire?.names[i]);
    if (state !== 'done') return state;
    if (wire && !(el instanceof HTMLInputElement)) return 'unfit';
    if (!takesInput(el)) return 'unfit';
    const face = faceOf(el);
    if (!isRendered(face)) return 'hidden';
    const centre = bringIntoView(face);
    if (!isOnScreen(centre) || !isHitAt(face, centre)) return 'hidden';
    if (face !== el) faces.set(el, face);
  }
  const stored = [];
  for (const [i, el] of controls.entries()) {
    if (el instanceof HTMLSelectElement) {
      const option = optionOf(el, values[i]);
      if (!option) return 'unfit';
      stored.push(getter(HTMLOptionElement, 'value').call(option));
    } else {
      const longest = getter(typeHolding(el), 'maxLength').call(el);
      if (longest >= 0 && values[i].length > longest) return 'unfit';
      stored.push(values[i]);
    }
  }
  const clear = () => {
    for (const el of controls) valueSetter(el).call(el, '');
  };
  const verify = () => {
    for (const [i, el] of controls.entries()) {
      const state = isAsDecided(el, form, way, wire?.names[i]);
      if (state !== 'done') return state;
      if (!holds(el, stored[i])) return 'diverted';
    }
    return 'done';
  };
  for (const [i, el] of controls.entries()) valueSetter(el).call(el, stored[i]);
  let state = verify();
  // No script of the page runs before the value is taken out again.
  if (state === 'done' && controls.some((el, i) => made[i] && !isWithinRules(el))) state = 'ruled out';
  if (state === 'done') {
    for (const el of controls) announceFill(el);
    // The page has seen the values by now, also where the control or the form is gone since. A widget that stands for a select
    // shows its option.
    const shows = ([el, face]) => isRendered(face) && chosenWords(el) !== '' && isShownIn(face, el);
    if (verify() !== 'done' || ![...faces].every(shows)) state = 'diverted';
  }
  if (wire && state === 'done' && !controls.every(isAccepted)) state = 'unfit';
  unchosen.clear();
  if (state === 'done') for (const el of controls) kept.set(el, valueOf(el));
  if (state === 'done' && !wire) for (const [i, el] of controls.entries()) if (isCombobox(el)) unchosen.set(el, stored[i]);
  if (state !== 'done') clear();
  return state;
};
// The events of a person who enters a text and goes on. Many pages judge a text, or read a date, as its control loses the focus. A
// combobox would drop a text of which no option was chosen yet.
const announceFill = (el) => {
  const focus = (names) => {
    for (const [name, bubbles] of names) {
      EventTarget.prototype.dispatchEvent.call(el, new FocusEvent(name, { bubbles, composed: true }));
    }
  };
  focus([['focus', false], ['focusin', true]]);
  announce(el);
  if (!isCombobox(el)) focus([['blur', false], ['focusout', true]]);
};
const isCombobox = (el) => el instanceof HTMLInputElement && typeOf(el) !== 'password' && attribute(el, 'role') === 'combobox';
// The comboboxes of the last fill of which no option was chosen yet, and what was filled in.
const unchosen = new Map();
// The comboboxes of which an option was chosen.
const chosen = new WeakSet();
const optionsFor = (el) => {
  const named = ['aria-controls', 'aria-owns'].flatMap((name) => (attribute(el, name) ?? '').split(/\s+/)).filter(Boolean);
  const lists = named.map((id) => byId(el, id)).filter((list) => list && isRendered(list));
  return lists.flatMap((list) => [...Element.prototype.querySelectorAll.call(list, '[role=option]')]).filter(isRendered);
};
// Chooses the option with the words that were filled in, in each combobox that shows it by now. Returns whether all are chosen. An
// option may take the words out of the input and show them beside it; any other text in the input counts as changed by the page.
const chooseOptions = () => {
  for (const [el, wanted] of [...unchosen]) {
    const option = isConnected(el) ? optionsFor(el).find((it) => bare(textOf(it)) === bare(wanted)) : null;
    if (!option) continue;
    unchosen.delete(el);
    for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
      const type = name.startsWith('pointer') ? PointerEvent : MouseEvent;
      const event = new type(name, { bubbles: true, cancelable: true, composed: true, view: self });
      if (isConnected(option)) EventTarget.prototype.dispatchEvent.call(option, event);
    }
    chosen.add(el);
  }
  return unchosen.size === 0;
};
// The value of each control after its fill. The page has no access to it.
const kept = new Map();
// The labels of filled controls whose value has changed. A control that was removed from the document is not sent with it.
const isAsFilled = (el, value) => bare(valueOf(el)) === bare(value) || (chosen.has(el) && valueOf(el) === '');
const changed = () =>
  [...kept].filter(([el, value]) => isConnected(el) && !isAsFilled(el, value)).map(([el]) => labelOf(el) || short(attribute(el, 'name')));

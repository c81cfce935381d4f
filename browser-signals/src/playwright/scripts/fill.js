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
  for (const [i, el] of controls.entries()) {
    const state = isAsDecided(el, form, way, wire?.names[i]);
    if (state !== 'done') return state;
    if (wire && !(el instanceof HTMLInputElement)) return 'unfit';
    if (!takesInput(el)) return 'unfit';
    if (!isRendered(el)) return 'hidden';
    const centre = bringIntoView(el);
    if (!isOnScreen(centre) || !isHitAt(el, centre)) return 'hidden';
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
    for (const el of controls) announce(el);
    // The page has seen the values by now, also where the control or the form is gone since.
    if (verify() !== 'done') state = 'diverted';
  }
  if (wire && state === 'done' && !controls.every(isAccepted)) state = 'unfit';
  if (state === 'done') for (const el of controls) kept.set(el, valueOf(el));
  else clear();
  return state;
};
// The value of each control after its fill. The page has no access to it.
const kept = new Map();
// The labels of filled controls whose value has changed. A control that was removed from the document is not sent with it.
const changed = () =>
  [...kept].filter(([el, value]) => isConnected(el) && bare(valueOf(el)) !== bare(value)).map(([el]) => labelOf(el) || short(attribute(el, 'name')));

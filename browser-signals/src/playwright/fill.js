// Puts values into controls of one form, all of them or none.
const FILLABLE = ['text', 'tel', 'email', 'url', 'number', 'password', 'date', 'month', 'week', 'time'];
const bare = (text) => text.replace(/[\s\-/.()]/g, '').toLowerCase();
const valueOf = (el) =>
  el instanceof HTMLSelectElement ? getter(HTMLSelectElement, 'value').call(el) : getter(HTMLInputElement, 'value').call(el);
const mayHold = (el) =>
  (el instanceof HTMLSelectElement && !getter(HTMLSelectElement, 'multiple').call(el)) ||
  (el instanceof HTMLInputElement && FILLABLE.includes(typeOf(el)));
const isAsDecided = (el, form, way) => {
  if (!isConnected(el)) return 'gone';
  if (formOf(el) !== form || !mayHold(el)) return 'diverted';
  if (form) {
    const now = goes(form, null);
    if (!now || !isSameWay(now, way)) return 'diverted';
  }
  return 'done';
};
const fill = (form, way, count, ...given) => {
  const controls = given.slice(0, count);
  const values = given.slice(count);
  for (const el of controls) {
    const state = isAsDecided(el, form, way);
    if (state !== 'done') return state;
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
      const longest = getter(HTMLInputElement, 'maxLength').call(el);
      if (longest >= 0 && values[i].length > longest) return 'unfit';
      stored.push(values[i]);
    }
  }
  const clear = () => {
    for (const el of controls) valueSetter(el).call(el, '');
  };
  const verify = () => {
    for (const [i, el] of controls.entries()) {
      const state = isAsDecided(el, form, way);
      if (state !== 'done') return state;
      if (bare(valueOf(el)) !== bare(stored[i])) return 'diverted';
    }
    return 'done';
  };
  for (const [i, el] of controls.entries()) valueSetter(el).call(el, stored[i]);
  let state = verify();
  if (state === 'done') {
    for (const el of controls) announce(el);
    state = verify();
  }
  if (state !== 'done') clear();
  return state;
};

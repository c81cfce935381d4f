// What was filled, to be looked at once more when it is sent: when the form is submitted; when its data is put together, after
// the page's own scripts had their turn, and by then the way is fixed; and when this document is about to go to an address.
// A script that reads the value and sends it in a request of its own is not met by this.
const filled = [];
const submitters = new WeakMap();
const emptyAll = (controls) => {
  for (const el of controls) valueSetter(el).call(el, '');
};
// A form's own way counts too: a script sends it without a button.
const isTurned = ({ form, way }, submitter) => {
  const now = goes(form, submitter);
  return !now || !isSameWay(now, way) || !isSameWay(wayOf(form, null), way);
};
const turned = (event, submitter) => filled.filter((one) => one.form === event.target && isTurned(one, submitter));
const whenSubmitted = (event) => {
  submitters.set(event.target, event.submitter);
  for (const { controls } of turned(event, event.submitter)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    emptyAll(controls);
  }
};
const whenPutTogether = (event) => {
  const submitter = submitters.get(event.target) ?? null;
  submitters.delete(event.target);
  for (const { controls } of turned(event, submitter)) {
    for (const name of new Set(FormData.prototype.keys.call(event.formData))) FormData.prototype.delete.call(event.formData, name);
    emptyAll(controls);
  }
};
const watchOver = (root) => {
  EventTarget.prototype.addEventListener.call(root, 'submit', whenSubmitted, { capture: true });
  EventTarget.prototype.addEventListener.call(root, 'formdata', whenPutTogether, { capture: true });
};
// Neither event leaves a shadow tree. A listener that is there already is not there twice.
const keepWatch = (one) => {
  const { form } = one;
  filled.push(one);
  const root = form ? rootOf(form) : document;
  if (root instanceof ShadowRoot) watchOver(root);
  return () => filled.splice(filled.indexOf(one), 1);
};
watchOver(window);

// An address is kept, shown and told to others: a value that was filled goes into none, but where its own form goes by GET.
const SHORTEST_WHOLE = 4;
const SHORTEST_WITHIN = 8;
const plain = (text) => text.replace(/\s+/g, ' ').trim().toLowerCase();
const decoded = (text) => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};
const tells = (url, values) => {
  const whole = plain(decoded(url.href));
  const parts = [...url.searchParams.values(), ...new URLSearchParams(url.hash.slice(1)).values()].map(plain);
  return values.map(plain).some((value) =>
    (value.length >= SHORTEST_WITHIN && whole.includes(value)) || (value.length >= SHORTEST_WHOLE && parts.includes(value)));
};
navigation.addEventListener('navigate', (event) => {
  if (!event.cancelable) return;
  const url = new URL(event.destination.url);
  for (const { way, controls, values } of filled) {
    if (!tells(url, values) || (way?.method === 'GET' && isSameWay({ action: url.href, method: 'GET' }, way))) continue;
    event.preventDefault();
    event.stopImmediatePropagation();
    emptyAll(controls);
  }
}, { capture: true });

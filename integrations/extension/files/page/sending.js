// Checks a filled form again when it is sent: when it is submitted; when its data is collected, after the page's own
// scripts, when its destination is fixed; and when this document is about to navigate. A script that reads the value and
// sends it in a request of its own is not detected here.
const filled = [];
const submitters = new WeakMap();
const emptyAll = (controls) => {
  for (const el of controls) valueSetter(el).call(el, '');
};
// The form's own destination counts too, since a script can send it without a button.
const isDiverted = ({ form, way }, submitter) => {
  const now = goes(form, submitter);
  return !now || !isSameWay(now, way) || !isSameWay(wayOf(form, null), way);
};
const diverted = (event, submitter) => filled.filter((one) => one.form === event.target && isDiverted(one, submitter));
const whenSubmitted = (event) => {
  submitters.set(event.target, event.submitter);
  for (const { controls } of diverted(event, event.submitter)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    emptyAll(controls);
  }
};
const whenCollected = (event) => {
  const submitter = submitters.get(event.target) ?? null;
  submitters.delete(event.target);
  for (const { controls } of diverted(event, submitter)) {
    for (const name of new Set(FormData.prototype.keys.call(event.formData))) FormData.prototype.delete.call(event.formData, name);
    emptyAll(controls);
  }
};
const watchOver = (root) => {
  EventTarget.prototype.addEventListener.call(root, 'submit', whenSubmitted, { capture: true });
  EventTarget.prototype.addEventListener.call(root, 'formdata', whenCollected, { capture: true });
};
// Neither event leaves a shadow tree. Adding the same listener twice has no effect.
const keepWatch = (one) => {
  const { form } = one;
  filled.push(one);
  const root = form ? rootOf(form) : document;
  if (root instanceof ShadowRoot) watchOver(root);
  return () => filled.splice(filled.indexOf(one), 1);
};
watchOver(window);

// An address is stored, shown and sent to others, so no filled value may be in one, except where its own form is sent by GET.
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
const reveals = (url, values) => {
  const whole = plain(decoded(url.href));
  const parts = [...url.searchParams.values(), ...new URLSearchParams(url.hash.slice(1)).values()].map(plain);
  return values.map(plain).some((value) =>
    (value.length >= SHORTEST_WITHIN && whole.includes(value)) || (value.length >= SHORTEST_WHOLE && parts.includes(value)));
};
navigation.addEventListener('navigate', (event) => {
  if (!event.cancelable) return;
  const url = new URL(event.destination.url);
  for (const { way, controls, values } of filled) {
    if (!reveals(url, values) || (way?.method === 'GET' && isSameWay({ action: url.href, method: 'GET' }, way))) continue;
    event.preventDefault();
    event.stopImmediatePropagation();
    emptyAll(controls);
  }
}, { capture: true });

// One document's end of the extension. It answers the worker and nobody else: a page has no way to say anything here,
// and what a page can change (prototypes, names of controls, its own globals) is not what is read here.
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 60000;

// What was filled, to be looked at once more when it is sent.
const filled = [];
const fillHere = ({ form, way, nodes: wanted, values, until }) => {
  if (!(Date.now() < until)) return 'late';
  if (!Array.isArray(wanted) || !Array.isArray(values) || wanted.length !== values.length) return 'gone';
  const [owner] = form ? nodes([form]) : [null];
  const controls = nodes(wanted);
  if ((form && !owner) || controls.some((el) => !el)) return 'gone';
  const state = inPlace(() => fill(owner, way, null, controls.length, ...controls, ...values));
  if (state === 'done' && owner) filled.push({ form: owner, way, controls });
  return state;
};
// Where a form that was filled is sent elsewhere by then, it is not sent, and holds nothing any more. A script that
// reads the value and sends it itself is not met by this.
addEventListener('submit', (event) => {
  for (const { form, way, controls } of filled) {
    if (event.target !== form) continue;
    const now = goes(form, event.submitter);
    if (now && isSameWay(now, way)) continue;
    event.preventDefault();
    event.stopImmediatePropagation();
    for (const el of controls) valueSetter(el).call(el, '');
  }
}, { capture: true });

// A policy that comes into a head holds for as long as the document is there, whatever becomes of the element.
let kept = '';
const keep = (policy) => {
  if (kept === policy) return { state: 'done' };
  const root = getter(Document, 'documentElement').call(document);
  if (!root) {
    // One that is being made gets it with its first element.
    new MutationObserver((_, watch) => {
      if (!getter(Document, 'documentElement').call(document)) return;
      watch.disconnect();
      keep(policy);
    }).observe(document, { childList: true });
    return { state: 'gone' };
  }
  // In a document that is no HTML too, such as a picture with scripts.
  const make = (name) => Document.prototype.createElementNS.call(document, 'http://www.w3.org/1999/xhtml', name);
  const [head, meta] = [make('head'), make('meta')];
  Element.prototype.setAttribute.call(meta, 'http-equiv', 'Content-Security-Policy');
  Element.prototype.setAttribute.call(meta, 'content', policy);
  Node.prototype.appendChild.call(head, meta);
  Node.prototype.appendChild.call(root, head);
  Element.prototype.remove.call(head);
  kept = policy;
  return { state: 'done' };
};

const answerTo = (message) => {
  const ancestors = Array.from(location.ancestorOrigins);
  switch (message.ask) {
    case 'forms': return { ancestors, forms: forms() };
    case 'text': return { ancestors, text: readText() };
    case 'keep': return keep(message.policy);
    case 'fill': return { ancestors, state: fillHere(message) };
    default: return null;
  }
};
let pause = FIRST_PAUSE;
const connect = () => {
  let port;
  try {
    port = chrome.runtime.connect({ name: 'page' });
  } catch {
    return; // The extension was removed or loaded anew.
  }
  const since = Date.now();
  port.onMessage.addListener((message) => {
    let answer = null;
    try {
      answer = answerTo(message);
    } catch {
      // A page that is being taken apart; what could not be read is not told.
    }
    port.postMessage({ id: message.id, answer });
  });
  // The worker was stopped. It holds nothing that matters, and wakes by this.
  port.onDisconnect.addListener(() => {
    void chrome.runtime.lastError;
    pause = Date.now() - since > LONGEST_PAUSE ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE);
    setTimeout(connect, pause);
  });
};
if (document.prerendering) addEventListener('prerenderingchange', connect, { capture: true, once: true });
else connect();
// A page that comes back out of the cache has lost its port.
addEventListener('pageshow', (event) => event.persisted && connect(), { capture: true });

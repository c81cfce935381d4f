// The content script of one document. It answers the worker alone: a page cannot send messages to it, and it reads nothing
// that a page can change (prototypes, names of controls, its globals).
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 60000;
// The longest wait for a document that is still parsed; the worker waits a second more for the answer.
const PARSED = 2000;

const fillHere = ({ form, way, nodes: wanted, values, until }) => {
  if (!(Date.now() < until)) return 'late';
  if (!Array.isArray(wanted) || !Array.isArray(values) || wanted.length !== values.length) return 'gone';
  const [owner] = form ? nodes([form]) : [null];
  const controls = nodes(wanted);
  if ((form && !owner) || controls.some((el) => !el)) return 'gone';
  // Watched before the fill, since a page may send a value at once.
  const ends = keepWatch({ form: owner, way, controls, values });
  const state = inPlace(() => fill(owner, way, null, [], controls.length, ...controls, ...values));
  if (state !== 'done') ends();
  return state;
};

// A policy in a head holds for the lifetime of the document, even if the element is removed. The key is a symbol, which no
// name of a page's element can shadow.
const HTML = 'http://www.w3.org/1999/xhtml';
const KEPT = Symbol.for('portcullis.kept');
const keepIn = (doc, policy) => {
  if (doc[KEPT] === policy) return;
  // This also works in a document that is not HTML, such as an SVG picture with scripts.
  const make = (name) => Document.prototype.createElementNS.call(doc, HTML, name);
  const put = (into, node) => Node.prototype.appendChild.call(into, node);
  const [head, meta] = [make('head'), make('meta')];
  Element.prototype.setAttribute.call(meta, 'http-equiv', 'Content-Security-Policy');
  Element.prototype.setAttribute.call(meta, 'content', policy);
  put(head, meta);
  const root = getter(Document, 'documentElement').call(doc);
  // A document without an element has none afterwards either.
  const within = root ?? put(doc, make('html'));
  put(within, head);
  Element.prototype.remove.call(root ? head : within);
  doc[KEPT] = policy;
};
// `window.length` does not count frames in shadow trees. The elements may be of another document than this one.
const WINDOW_OF = {
  iframe: (el) => getter(HTMLIFrameElement, 'contentWindow').call(el),
  frame: (el) => getter(HTMLFrameElement, 'contentWindow').call(el),
  object: (el) => getter(HTMLObjectElement, 'contentWindow').call(el),
  embed: (el) => HTMLEmbedElement.prototype.getSVGDocument.call(el)?.defaultView,
};
const inShadow = (root, type) => Array.from(type.prototype.querySelectorAll.call(root, '*')).flatMap((host) => {
  const shadow = getter(Element, 'namespaceURI').call(host) === HTML ? chrome.dom.openOrClosedShadowRoot(host) : null;
  if (!shadow) return [];
  const holders = Array.from(DocumentFragment.prototype.querySelectorAll.call(shadow, Object.keys(WINDOW_OF).join()));
  const frames = holders.map((el) => (getter(Element, 'namespaceURI').call(el) === HTML ? WINDOW_OF[tagOf(el)](el) : null));
  return [...frames.filter((frame) => frame), ...inShadow(shadow, DocumentFragment)];
});
// No content script runs in a document that nothing was loaded into, or that could not be read; other documents of its
// origin can use it nevertheless.
const keepAround = (frame, policy) => {
  let doc = null;
  try {
    doc = frame.document;
  } catch {
    // A document of another origin has its own content script, or no document can use it.
  }
  if (doc) keepIn(doc, policy);
  const within = doc ? inShadow(doc, Document) : [];
  for (let at = 0; at < frame.length; at += 1) within.push(frame[at]);
  for (const inner of within) keepAround(inner, policy);
};
const keep = (policy) => {
  keepIn(document, policy);
  keepAround(window.top, policy);
  return { state: 'done' };
};

// Half a document would lack its form. One that is not parsed in time is read as far as it is there.
const parsed = () => new Promise((over) => {
  if (getter(Document, 'readyState').call(document) !== 'loading') {
    over();
    return;
  }
  addEventListener('DOMContentLoaded', over, { capture: true, once: true });
  setTimeout(over, PARSED);
});
const whenParsed = async (read) => {
  await parsed();
  return { ancestors: Array.from(location.ancestorOrigins), ...read() };
};

const answerTo = (message) => {
  const ancestors = Array.from(location.ancestorOrigins);
  switch (message.ask) {
    case 'forms': return whenParsed(() => ({ forms: forms() }));
    case 'text': return whenParsed(() => ({ text: readText() }));
    case 'keep': return keep(message.policy);
    case 'fill': return { ancestors, state: fillHere(message) };
    case 'asked': return { state: whileAsked(message.now) };
    case 'workers': return workersHere();
    case 'end_workers': return endWorkers();
    default: return null;
  }
};
let pause = FIRST_PAUSE;
let again = 0;
const connect = () => {
  clearTimeout(again);
  let port;
  try {
    port = chrome.runtime.connect({ name: 'page' });
  } catch {
    return; // The extension was removed or reloaded.
  }
  const since = Date.now();
  port.onMessage.addListener(async (message) => {
    let answer = null;
    try {
      answer = await answerTo(message);
    } catch {
      // The page is being unloaded; the answer is null.
    }
    try {
      port.postMessage({ id: message.id, answer });
    } catch {
      // The worker is gone.
    }
  });
  // The worker was stopped. A new connection starts it again.
  port.onDisconnect.addListener(() => {
    whileAsked(false);
    void chrome.runtime.lastError;
    pause = Date.now() - since > LONGEST_PAUSE ? FIRST_PAUSE : Math.min(pause * 2, LONGEST_PAUSE);
    again = setTimeout(connect, pause);
  });
  port.postMessage(howLoaded());
};
const activated = (event) => {
  if (!event.isTrusted) return;
  removeEventListener('prerenderingchange', activated, { capture: true });
  connect();
};
if (document.prerendering) addEventListener('prerenderingchange', activated, { capture: true });
else connect();
// A page that is restored from the back-forward cache has lost its port.
addEventListener('pageshow', (event) => event.isTrusted && event.persisted && connect(), { capture: true });

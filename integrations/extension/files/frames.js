// The documents whose content scripts are connected. Their identity is what the browser says of the port's other end, never
// what comes through it. A restarted worker gets the list anew, since the content scripts connect again.
const PATIENCE = 3000;
// The longest times that a loading page may take to connect, and a loaded one; and the interval of checks.
const [LOADING, LOADED, A_MOMENT] = [2500, 500, 40];

// The longest time that a port may be silent, longer than a document may take to connect again. A document reports at once.
// A port that it opened while the browser stopped the previous worker may reach this one although its own end is closed;
// no event tells so, and the document connects again.
const SILENCE = 70000;

const ports = new Map();
let asked = 0;
const entryOf = (document) => [...ports].find(([, { sender }]) => sender.documentId === document);

/** Calls `comes` with each document that connects, `came` once it has reported how it was loaded, and `left` when it is gone. */
export function listen({ comes, came, left }) {
  // Adds a port to the list. Of the ports of one document, the last that reported is there; the page may still answer on the
  // earlier one.
  const enter = (port, about) => {
    const [earlier, known] = entryOf(about.sender.documentId) ?? [];
    if (known) {
      clearTimeout(known.silence);
      ports.delete(earlier);
      about.place = known.place;
    }
    ports.set(port, about);
    if (!known) comes(about.place);
  };
  const forget = (port) => {
    const about = ports.get(port);
    if (!about) return;
    clearTimeout(about.silence);
    ports.delete(port);
    for (const give of about.waiting.values()) give(null);
    left(about.place);
  };
  chrome.runtime.onConnect.addListener((port) => {
    const { sender } = port;
    const ours = port.name === 'page' && sender?.id === chrome.runtime.id && sender.tab && sender.documentId;
    if (!ours || sender.frameId === undefined) {
      port.disconnect();
      return;
    }
    const place = { ...placeOf(sender), loaded: [], isServed: false };
    const silence = setTimeout(() => {
      port.disconnect();
      forget(port);
    }, SILENCE);
    const about = { sender, place, silence, waiting: new Map(), hasReported: false };
    // Until its report, a document counts as one of before the task.
    if (!entryOf(sender.documentId)) enter(port, about);
    port.onMessage.addListener(({ id, answer, loaded, isServed }) => {
      if (loaded) {
        clearTimeout(silence);
        about.hasReported = true;
        if (!ports.has(port)) enter(port, about);
        Object.assign(about.place, { loaded, isServed });
        came(about.place);
      }
      about.waiting.get(id)?.(answer);
      about.waiting.delete(id);
    });
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
      clearTimeout(silence);
      forget(port);
    });
  });
}

// A silent port cannot answer.
const portsIn = (tab) => [...ports].filter(([, { sender, hasReported }]) => hasReported && sender.tab.id === tab.id);
const isThere = (tab) => portsIn(tab).some(([, { sender }]) => sender.frameId === 0);
// A document that its site makes opaque (`sandbox`) still belongs to the site.
const siteOf = ({ origin, url }) => (origin && origin !== 'null' ? origin : addressOf({ url }).replace(/\/$/, ''));
// Whether it came from no server (`about:`, `blob:`, `data:`).
const isMade = ({ url }) => !/^https?:/.test(url ?? '');
const placeOf = (sender) => ({
  tab: sender.tab.id, frame: sender.frameId, origin: sender.origin ?? 'null', site: siteOf(sender), isMade: isMade(sender),
});

/** The places of the connected documents. Each has one object for as long as it is connected. */
export const connected = () => [...ports.values()].map(({ place }) => place);

/** The documents of the active tab of this window, the top one first; none where it shows no page of these origins. */
export async function inFront(windowId, origins) {
  const [tab] = windowId === null ? [] : await chrome.tabs.query({ active: true, windowId }).catch(() => []);
  if (!tab) return null;
  // Between two pages no content script is connected.
  const until = Date.now() + (tab.status === 'loading' ? LOADING : LOADED);
  while (!isThere(tab) && Date.now() < until) await new Promise((over) => setTimeout(over, A_MOMENT));
  // Of two top documents the later one is there.
  const here = portsIn(tab).toReversed().map(([port, about]) => ({ port, ...about }));
  here.sort((one, other) => one.sender.frameId - other.sender.frameId);
  const [top] = here;
  // The tab's address may be that of a page which has not loaded yet; the port's is the document's.
  return top?.sender.frameId === 0 && origins.includes(top.sender.origin) ? { tab: tab.id, frames: here.slice(0, 64) } : null;
}

/** The answer of one document; null where it goes away or does not answer, undefined where it was gone before it was
 * asked. A page can keep its thread busy. */
export function ask({ port, waiting }, message, patience = PATIENCE) {
  asked += 1;
  const id = asked;
  return new Promise((give) => {
    waiting.set(id, give);
    setTimeout(() => {
      waiting.delete(id);
      give(null);
    }, patience);
    try {
      port.postMessage({ ...message, id });
    } catch {
      give(undefined);
    }
  });
}

/** Sends one message to all documents whose places `which` accepts; gives their answers. */
export const tell = (which, message) =>
  [...ports].filter(([, { place }]) => which(place)).map(([port, about]) => ask({ port, ...about }, message));

/** The origin of a document's address, or its scheme; path and query are not needed. */
export function addressOf({ url }) {
  try {
    const { protocol, origin } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? `${origin}/` : protocol;
  } catch {
    return '';
  }
}

// The documents whose content scripts are connected. Their identity is what the browser says of the port's other end, never
// what comes through it. A restarted worker gets the list anew, since the content scripts connect again.
const PATIENCE = 3000;
// The longest times that a loading page may take to connect, and a loaded one; and the interval of checks.
const [LOADING, LOADED, A_MOMENT] = [2500, 500, 40];

// The longest time that a port may be silent. A document reports at once; if the browser stops this worker while it opens a
// port, the document's end is closed and this end never learns of it. The document then connects again.
const SILENCE = 10000;

const ports = new Map();
let asked = 0;
const drop = (port, { waiting, silence }) => {
  clearTimeout(silence);
  ports.delete(port);
  for (const give of waiting.values()) give(null);
};

/** Calls `comes` with each document that connects, `came` once it has reported how it was loaded, and `left` when it is gone. */
export function listen({ comes, came, left }) {
  const forget = (port) => {
    const about = ports.get(port);
    if (!about) return;
    drop(port, about);
    left(about.place);
  };
  chrome.runtime.onConnect.addListener((port) => {
    const { sender } = port;
    const ours = port.name === 'page' && sender?.id === chrome.runtime.id && sender.tab && sender.documentId;
    if (!ours || sender.frameId === undefined) {
      port.disconnect();
      return;
    }
    // A document has one port, the last.
    const [earlier, known] = [...ports].find(([, one]) => one.sender.documentId === sender.documentId) ?? [];
    if (known) drop(earlier, known);
    const waiting = new Map();
    // It reports at once how it was loaded; until then it counts as one of before the task.
    const place = known?.place ?? { ...placeOf(sender), loaded: [], isServed: false };
    const silence = setTimeout(() => {
      port.disconnect();
      forget(port);
    }, SILENCE);
    const about = { sender, waiting, place, silence, hasReported: false };
    ports.set(port, about);
    if (!known) comes(place);
    port.onMessage.addListener(({ id, answer, loaded, isServed }) => {
      if (loaded) {
        clearTimeout(silence);
        about.hasReported = true;
        Object.assign(place, { loaded, isServed });
        came(place);
      }
      waiting.get(id)?.(answer);
      waiting.delete(id);
    });
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
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

/** The places of the connected documents. Each document has one object for its lifetime. */
export const connected = () => [...ports.values()].map(({ place }) => place);

/** The documents of the active tab of this window, the top one first; none where it shows no page of these origins. */
export async function inFront(windowId, origins) {
  const [tab] = windowId === null ? [] : await chrome.tabs.query({ active: true, windowId }).catch(() => []);
  if (!tab) return null;
  // Between two pages no content script is connected.
  const until = Date.now() + (tab.status === 'loading' ? LOADING : LOADED);
  while (!isThere(tab) && Date.now() < until) await new Promise((over) => setTimeout(over, A_MOMENT));
  const here = portsIn(tab).map(([port, about]) => ({ port, ...about }));
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

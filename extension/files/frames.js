// The documents whose content scripts are connected. Who they are is what the browser says of the port's other end,
// never what comes through it. The list is made anew whenever the worker is: they connect again.
const PATIENCE = 3000;
// How long a page that is being loaded may take to connect, and one that has loaded.
const [LOADING, LOADED, A_MOMENT] = [2500, 500, 40];

const ports = new Map();
let asked = 0;

/** Calls `comes` with every document that connects, `came` once it has said how it was loaded, and `left` when it is gone. */
export function listen({ comes, came, left }) {
  chrome.runtime.onConnect.addListener((port) => {
    const { sender } = port;
    const ours = port.name === 'page' && sender?.id === chrome.runtime.id && sender.tab && sender.documentId;
    if (!ours || sender.frameId === undefined) {
      port.disconnect();
      return;
    }
    const waiting = new Map();
    // How it was loaded it says itself, at once; until then it counts as one that was there before.
    const about = { sender, waiting, place: { ...placeOf(sender), loaded: [], isServed: false } };
    ports.set(port, about);
    comes(about.place);
    port.onMessage.addListener(({ id, answer, loaded, isServed }) => {
      if (loaded) {
        Object.assign(about.place, { loaded, isServed });
        came(about.place);
      }
      waiting.get(id)?.(answer);
      waiting.delete(id);
    });
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
      for (const give of waiting.values()) give(null);
      ports.delete(port);
      left(about.place);
    });
  });
}

const isThere = (tab) => [...ports.values()].some(({ sender }) => sender.tab.id === tab.id && sender.frameId === 0);
// A document that the site itself deprives of its origin is still the site's.
const siteOf = ({ origin, url }) => (origin && origin !== 'null' ? origin : addressOf({ url }).replace(/\/$/, ''));
// Whether it was made in the browser, and came from no server.
const isMade = ({ url }) => !/^https?:/.test(url ?? '');
const placeOf = (sender) => ({
  tab: sender.tab.id, frame: sender.frameId, origin: sender.origin ?? 'null', site: siteOf(sender), isMade: isMade(sender),
});

/** Where the documents are that are connected: of each the same place, for as long as it is. */
export const connected = () => [...ports.values()].map(({ place }) => place);

/** The documents of the active tab of this window, the top one first; none where it shows no page of these origins. */
export async function inFront(windowId, origins) {
  const [tab] = windowId === null ? [] : await chrome.tabs.query({ active: true, windowId }).catch(() => []);
  if (!tab) return null;
  // Between two pages there is nobody to ask: the one has gone, and the other has not come yet.
  const until = Date.now() + (tab.status === 'loading' ? LOADING : LOADED);
  while (!isThere(tab) && Date.now() < until) await new Promise((over) => setTimeout(over, A_MOMENT));
  const here = [...ports].map(([port, about]) => ({ port, ...about })).filter(({ sender }) => sender.tab.id === tab.id);
  here.sort((one, other) => one.sender.frameId - other.sender.frameId);
  const [top] = here;
  // The address may be of a page that is not there yet; the port's is that of the document.
  return top?.sender.frameId === 0 && origins.includes(top.sender.origin) ? { tab: tab.id, frames: here.slice(0, 64) } : null;
}

/** What one document answers; null where it goes away or does not answer, undefined where it was gone before it was
 * asked. A page can keep its own thread busy. */
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

/** Asks all documents at such places the same. */
export const tell = (which, message) =>
  [...ports].filter(([, { place }]) => which(place)).map(([port, about]) => ask({ port, ...about }, message));

/** A document's address as far as it is needed: where it is, and not what it is about. */
export function addressOf({ url }) {
  try {
    const { protocol, origin } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? `${origin}/` : protocol;
  } catch {
    return '';
  }
}

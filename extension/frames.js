// The documents whose content scripts are connected. Who they are is what the browser says of the port's other end,
// never what comes through it. The list is made anew whenever the worker is: they connect again.
import { windowInFront } from './questions.js';

const PATIENCE = 3000;

const ports = new Map();
let asked = 0;

export function listen() {
  chrome.runtime.onConnect.addListener((port) => {
    const { sender } = port;
    const ours = port.name === 'page' && sender?.id === chrome.runtime.id && sender.tab && sender.documentId;
    if (!ours || sender.frameId === undefined) {
      port.disconnect();
      return;
    }
    const waiting = new Map();
    ports.set(port, { sender, waiting });
    port.onMessage.addListener(({ id, answer }) => {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    });
    port.onDisconnect.addListener(() => {
      void chrome.runtime.lastError;
      for (const give of waiting.values()) give(null);
      ports.delete(port);
    });
  });
}

/** The documents of the tab in front, the top one first; none where it is no page that we may look at. */
export async function inFront(origins) {
  const [tab] = await chrome.tabs.query({ active: true, windowId: await windowInFront() });
  if (!tab) return null;
  const here = [...ports].map(([port, about]) => ({ port, ...about })).filter(({ sender }) => sender.tab.id === tab.id);
  here.sort((one, other) => one.sender.frameId - other.sender.frameId);
  const [top] = here;
  // The address may be of a page that is not there yet; the port's is that of the document.
  return top?.sender.frameId === 0 && origins.includes(top.sender.origin) ? { tab: tab.id, frames: here.slice(0, 64) } : null;
}

/** What one document answers; null where it is gone or does not answer. A page can keep its own thread busy. */
export function ask({ port, waiting }, message) {
  asked += 1;
  const id = asked;
  return new Promise((give) => {
    waiting.set(id, give);
    setTimeout(() => {
      waiting.delete(id);
      give(null);
    }, PATIENCE);
    try {
      port.postMessage({ ...message, id });
    } catch {
      give(null);
    }
  });
}

/** A document's address as far as it is needed: where it is, and not what it is about. */
export function addressOf({ url }) {
  try {
    const { protocol, origin } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? `${origin}/` : protocol;
  } catch {
    return '';
  }
}

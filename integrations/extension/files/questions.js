// The service's questions: one window at a time, and only the page in it may answer. The worker decides nothing and
// reads no answer; it only checks the sender that the browser names.
import { tell } from './frames.js';

const PAGE = chrome.runtime.getURL('consent/page.html');
const SIZE = { width: 580, height: 640 };
// How long a window stays open after its question was answered, so that a second click does not land on the page below.
const LINGERS = 1000;

// The open question: its number, its window and tab, and the window that was in front before, if there was one.
let open = null;
// True from before a question's window opens until it closes.
let isAsking = false;
// No one takes the answer to a question of an earlier worker, so its window is closed.
let opening = clear().catch(() => null);

/** Shows the question of this number, in place of any other. */
export function show(nonce) {
  opening = opening.catch(() => null).then(() => put(nonce));
  return opening.catch(() => 'no_window');
}

async function put(nonce) {
  const behind = await windowInFront();
  await clear();
  // No page may cover the window. A busy page draws nothing new meanwhile.
  isAsking = true;
  tell(() => true, { ask: 'asked', now: true });
  const made = await chrome.windows.create({ url: `${PAGE}#${nonce}`, type: 'popup', focused: true, ...SIZE })
    .catch((error) => clear().then(() => { throw error; }));
  open = { nonce, behind, window: made.id, tab: made.tabs[0].id };
  return 'opened';
}

/** Closes every open consent page, those of an earlier worker too. */
export async function clear() {
  [open, isAsking] = [null, false];
  tell(() => true, { ask: 'asked', now: false });
  const there = await chrome.runtime.getContexts({ contextTypes: ['TAB'] });
  const ours = there.filter(({ documentUrl }) => documentUrl?.split('#')[0] === PAGE);
  await Promise.all(ours.map(({ tabId }) => chrome.tabs.remove(tabId).catch(() => null)));
}

/** Handles a document that has reported: if it loaded during a question, it may not cover the window either. */
export const came = (place) => {
  if (isAsking) tell((one) => one === place, { ask: 'asked', now: true });
};

/** The window in front, if there is one; the one behind it, if that is the question's own. */
export async function windowInFront() {
  const last = await chrome.windows.getLastFocused().catch(() => null);
  return last && last.id === open?.window ? open.behind : (last?.id ?? null);
}

/** Whether the sender is the page of the open question, in the window that was opened for it. */
export async function isAsked({ id, url, frameId, tab }) {
  const page = id === chrome.runtime.id && frameId === 0 && url?.split('#')[0] === PAGE;
  if (!page) return false;
  await opening.catch(() => null);
  return open !== null && tab?.id === open.tab;
}

/** Closes the window of an answered question after a moment. Another question may be open by then. */
export function answered(tab) {
  setTimeout(() => chrome.tabs.remove(tab).catch(() => null), LINGERS);
}

/** Closes the window of the question of this number, since it is over. */
export function over(nonce) {
  if (nonce === open?.nonce) answered(open.tab);
}

/** Calls `closed` with the number of a question whose window is gone. */
export function whenClosed(closed) {
  chrome.tabs.onRemoved.addListener((tab) => {
    if (tab !== open?.tab) return;
    const { nonce } = open;
    [open, isAsking] = [null, false];
    tell(() => true, { ask: 'asked', now: false });
    closed(nonce);
  });
}

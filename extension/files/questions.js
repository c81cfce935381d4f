// The service's questions: one window at a time, and only the page in it may answer. The worker decides nothing and
// reads no answer; it looks at who speaks, by the browser's word.
import { tell } from './frames.js';

const PAGE = chrome.runtime.getURL('consent/page.html');
const SIZE = { width: 580, height: 640 };
// So long a window stays when its question was answered: a second click of the same hand lands on it, and not on the page
// below.
const LINGERS = 1000;

// The question that is open: its number, its window and tab, and the window that was in front before, if there was one.
let open = null;
// A question of an earlier worker can be answered to nobody: its window goes.
let opening = clear().catch(() => null);

/** Has the question of this number asked, in place of any other. */
export function show(nonce) {
  opening = opening.catch(() => null).then(() => put(nonce));
  return opening.catch(() => 'no_window');
}

async function put(nonce) {
  const behind = await windowInFront();
  await clear();
  // Nothing of a page lies over the window. A page that is busy draws nothing new meanwhile.
  tell(() => true, { ask: 'asked', now: true });
  const made = await chrome.windows.create({ url: `${PAGE}#${nonce}`, type: 'popup', focused: true, ...SIZE });
  open = { nonce, behind, window: made.id, tab: made.tabs[0].id };
  return 'opened';
}

/** Closes every consent page that is there, those of an earlier worker too. */
export async function clear() {
  open = null;
  tell(() => true, { ask: 'asked', now: false });
  const there = await chrome.runtime.getContexts({ contextTypes: ['TAB'] });
  const ours = there.filter(({ documentUrl }) => documentUrl?.split('#')[0] === PAGE);
  await Promise.all(ours.map(({ tabId }) => chrome.tabs.remove(tabId).catch(() => null)));
}

/** The window in front, if there is one; the one behind, where that is the question's own. */
export async function windowInFront() {
  const last = await chrome.windows.getLastFocused().catch(() => null);
  return last && last.id === open?.window ? open.behind : (last?.id ?? null);
}

/** Whether it is the page of the open question that speaks, in the window that was opened for it. */
export async function isAsked({ id, url, frameId, tab }) {
  const page = id === chrome.runtime.id && frameId === 0 && url?.split('#')[0] === PAGE;
  if (!page) return false;
  await opening.catch(() => null);
  return open !== null && tab?.id === open.tab;
}

/** The answer of the page in this tab was taken: its window is closed in a moment. Another question may be open by now. */
export function answered(tab) {
  setTimeout(() => chrome.tabs.remove(tab).catch(() => null), LINGERS);
}

/** The question of this number is over, however it ended. */
export function over(nonce) {
  if (nonce === open?.nonce) answered(open.tab);
}

/** Tells of the number of a question whose window is gone. */
export function whenClosed(closed) {
  chrome.tabs.onRemoved.addListener((tab) => {
    if (tab !== open?.tab) return;
    const { nonce } = open;
    open = null;
    tell(() => true, { ask: 'asked', now: false });
    closed(nonce);
  });
}

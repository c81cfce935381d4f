// Records when the last document of each site that was not loaded under a task's rule was closed. Such a document may have
// left a shared worker with an extended lifetime, which runs for five minutes after the last page of its site is gone. No
// extension sees or ends it, and it receives broadcasts of pages of its site. So nothing is filled there until it has ended
// by itself. The record is in the browser's memory (`storage.session`), since this worker may be stopped at any moment.
import { connected } from './frames.js';
import { isMarked } from './document_rules.js';

// Five minutes, and the time that a message may take.
const SPAN = 305000;
// The entry that counts for every site, for documents that were not observed.
const EVERY = '*';
// More sites than this count as every site after this worker was stopped.
const MOST = 500;
// The delay before a change is stored: usually another page of the site follows at once.
const A_MOMENT = 1000;
const KEY = 'earlier';
const store = () => chrome.storage.session;
// The clock by which the browser counts the five minutes: it stops while the machine sleeps, and cannot be set. It starts
// with this worker.
const now = () => performance.now();

// When the last such document of each site was closed.
const gone = new Map();
const note = (site, at) => gone.set(site, Math.max(gone.get(site) ?? -Infinity, at));
// Tabs that are older than this extension and have no content script, with the area of each: pages of one site share the
// last labels of their hosts.
let unseen = [];
const areaOf = (url) => `*.${new URL(url).hostname.split('.').slice(-2).join('.')}`;
const tabsNow = () => chrome.tabs.query({ url: 'https://*/*', discarded: false });

const read = async () => {
  const kept = (await store().get(KEY).catch(() => null))?.[KEY];
  if (!kept) {
    // The extension was just installed, or the browser just started, which is an event of its own. Any page may be open.
    note(EVERY, now());
    unseen = (await tabsNow().catch(() => [])).map(({ id, url }) => [id, areaOf(url)]);
    return;
  }
  // If the clock was set back, entries do not get older.
  const since = Math.max(0, Date.now() - kept.at);
  for (const [site, age] of kept.gone) note(site, now() - since - age);
  // They may have been closed at any time until now. Those that are still open connect again.
  for (const site of kept.here) note(site, now());
  unseen = kept.unseen;
};
const known = read();

// The top documents of the tabs: a frame that came from no server counts as its top document.
const tops = new Map();
const topOf = (place) => (place.frame === 0 ? place : (place.top ?? tops.get(place.tab)));
const isUnderRule = (place) => (place.isMade && place.frame !== 0 ? topOf(place) : place)?.underRule === true;

let written = '';
let timer = 0;
const write = () => known.then(() => {
  clearTimeout(timer);
  for (const [site, at] of gone) if (now() - at > SPAN) gone.delete(site);
  // A document that is still being judged is stored once that is done.
  const there = connected().filter((place) => place.judged === null && !isUnderRule(place));
  const here = [...new Set(there.map(({ site }) => site))].toSorted();
  const left = [...gone].filter(([site]) => !here.includes(site));
  if (left.length > 0) timer = setTimeout(write, SPAN);
  const what = JSON.stringify([here, left, unseen]);
  if (what === written) return;
  written = what;
  const isMany = here.length + left.length > MOST;
  const kept = isMany ? { here: [EVERY], gone: [] } : { here, gone: left.map(([site, at]) => [site, now() - at]) };
  // Without a stored entry every site counts.
  store().set({ [KEY]: { ...kept, unseen, at: Date.now() } }).catch(() => store().remove(KEY)).catch(() => null);
});
const writeSoon = () => {
  clearTimeout(timer);
  timer = setTimeout(write, A_MOMENT);
};

const look = (tab) => {
  const [area] = unseen.filter(([id]) => id === tab).map(([, of]) => of);
  if (!area) return;
  unseen = unseen.filter(([id]) => id !== tab);
  note(area, now());
  write();
};

/** Handles a document that connects. */
export const comes = (place) => {
  if (place.frame !== 0) {
    place.top = tops.get(place.tab);
    return;
  }
  tops.set(place.tab, place);
  known.then(() => look(place.tab));
};

/** Handles a document's report of how it was loaded. A later rule does not change that. */
export const came = (place) => {
  place.judged = chrome.declarativeNetRequest.getSessionRules().then((rules) => isMarked(rules, place)).catch(() => false)
    .then((sealed) => {
      Object.assign(place, { underRule: sealed, judged: null });
      write();
    });
};

let leaving = Promise.resolve();
/** Handles a document that is gone. */
export const left = (place) => {
  const at = now();
  // The frames of a page disconnect in any order.
  if (place.frame === 0) setTimeout(() => tops.get(place.tab) === place && tops.delete(place.tab), A_MOMENT);
  leaving = Promise.all([leaving, place.judged, topOf(place)?.judged]).then(() => {
    if (isUnderRule(place)) return;
    note(place.site, at);
    writeSoon();
  });
};

/** The seconds for which nothing may be filled into these sites. */
export const secondsLeft = async (sites) => {
  await Promise.all([known, leaving]);
  const there = unseen.length === 0 ? [] : (await tabsNow()).map(({ id }) => id);
  for (const [tab] of unseen) if (!there.includes(tab)) look(tab);
  const of = [EVERY, ...sites, ...sites.map(areaOf)];
  const isThere = unseen.some(([, area]) => of.includes(area));
  const last = isThere ? now() : Math.max(...of.map((one) => gone.get(one) ?? -Infinity));
  return Math.max(0, Math.ceil((last + SPAN - now()) / 1000));
};

write();
chrome.tabs.onRemoved.addListener((tab) => known.then(() => look(tab)));
// The browser has started: there were no earlier pages, and restored ones have connected.
chrome.runtime.onStartup.addListener(() => known.then(() => {
  gone.delete(EVERY);
  unseen = [];
  write();
}));

// When documents of a site were last there that did not come under the rule of a task. Such a document may have left a
// shared worker running that lives for five minutes after the last page of its site has gone; no extension sees it or ends
// it, and it hears what a page of its site says to all. So nothing is filled in there until it has ended by itself.
// What is kept is kept in the browser's memory: this worker may be stopped at any moment.
import { connected } from './frames.js';
import { isMarked } from './document_rules.js';

// The five minutes, and what a message may take.
const SPAN = 305000;
// What counts for every site: what nobody has seen.
const EVERY = '*';
// More sites than this count as every site after this worker was stopped.
const MOST = 500;
// A site whose page is followed by another one of it is not written down twice.
const A_MOMENT = 1000;
const KEY = 'earlier';
const store = () => chrome.storage.session;
// The clock by which the browser counts the five minutes: it stands while the machine sleeps, and nobody sets it. It begins
// anew with this worker.
const now = () => performance.now();

// When the last such document of a site had gone.
const gone = new Map();
const note = (site, at) => gone.set(site, Math.max(gone.get(site) ?? -Infinity, at));
// Tabs that were there before this extension was, without a content script, and what they may have in common with others:
// pages of one site share the end of their hosts.
let unseen = [];
const areaOf = (url) => `*.${new URL(url).hostname.split('.').slice(-2).join('.')}`;
const tabsNow = () => chrome.tabs.query({ url: 'https://*/*', discarded: false });

const read = async () => {
  const kept = (await store().get(KEY).catch(() => null))?.[KEY];
  if (!kept) {
    // This extension has just come, or the browser has just begun, which is told. What was there before may be there until now.
    note(EVERY, now());
    unseen = (await tabsNow().catch(() => [])).map(({ id, url }) => [id, areaOf(url)]);
    return;
  }
  // A clock that was put back makes nothing older.
  const since = Math.max(0, Date.now() - kept.at);
  for (const [site, age] of kept.gone) note(site, now() - since - age);
  // Nobody saw them go. Those that are there still connect again.
  for (const site of kept.here) note(site, now());
  unseen = kept.unseen;
};
const known = read();

// The top documents of the tabs: what a page makes without a server has what the page has.
const tops = new Map();
const topOf = (place) => (place.frame === 0 ? place : (place.top ?? tops.get(place.tab)));
const isSealed = (place) => (place.isMade && place.frame !== 0 ? topOf(place) : place)?.cameSealed === true;

let written = '';
let timer = 0;
const write = () => known.then(() => {
  clearTimeout(timer);
  for (const [site, at] of gone) if (now() - at > SPAN) gone.delete(site);
  // What is about to be known writes itself.
  const there = connected().filter((place) => place.judged === null && !isSealed(place));
  const here = [...new Set(there.map(({ site }) => site))].toSorted();
  const left = [...gone].filter(([site]) => !here.includes(site));
  if (left.length > 0) timer = setTimeout(write, SPAN);
  const what = JSON.stringify([here, left, unseen]);
  if (what === written) return;
  written = what;
  const isMany = here.length + left.length > MOST;
  const kept = isMany ? { here: [EVERY], gone: [] } : { here, gone: left.map(([site, at]) => [site, now() - at]) };
  // What cannot be written is not there either: then every site counts.
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

/** A document connects. */
export const comes = (place) => {
  if (place.frame !== 0) {
    place.top = tops.get(place.tab);
    return;
  }
  tops.set(place.tab, place);
  known.then(() => look(place.tab));
};

/** It has said how it was loaded. A rule that comes later makes no other document of it. */
export const came = (place) => {
  place.judged = chrome.declarativeNetRequest.getSessionRules().then((rules) => isMarked(rules, place)).catch(() => false)
    .then((sealed) => {
      Object.assign(place, { cameSealed: sealed, judged: null });
      write();
    });
};

let leaving = Promise.resolve();
/** It is gone. */
export const left = (place) => {
  const at = now();
  // Frames go with their page, in any order.
  if (place.frame === 0) setTimeout(() => tops.get(place.tab) === place && tops.delete(place.tab), A_MOMENT);
  leaving = Promise.all([leaving, place.judged, topOf(place)?.judged]).then(() => {
    if (isSealed(place)) return;
    note(place.site, at);
    writeSoon();
  });
};

/** For how many seconds nothing may be filled into these sites. */
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
// The browser begins: nothing was there earlier. What was restored meanwhile has connected.
chrome.runtime.onStartup.addListener(() => known.then(() => {
  gone.delete(EVERY);
  unseen = [];
  write();
}));

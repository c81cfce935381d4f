// The way out of pages that were given values: from a fill until the task is over they send nothing to anywhere but the
// origins that values were granted to. Rules of the browser's own, which hold while this worker is stopped, and end with
// the browser; and what its rules do not see: what it fetches ahead, and what it fetches for a page by itself.
import { connected, tell } from './frames.js';
import { allSealed, endWorkers, haveNoWorkers, isSealedFor, isSealing, sealing, seals } from './document_rules.js';

const WITHIN_A_PAGE = [
  'sub_frame', 'stylesheet', 'script', 'image', 'font', 'object', 'xmlhttprequest', 'ping', 'csp_report', 'media',
  'websocket', 'webtransport', 'webbundle', 'other',
];
const EVERYTHING = ['main_frame', ...WITHIN_A_PAGE];
// What pages of the open origins send, from whatever tab, frame or worker; what is sent from within a page whose top is of
// them; what leaves their tabs, by frames without an origin too, and the person with it; over all of these, what goes to
// the open origins, whose documents are given a policy as they come.
const [BY_ORIGIN, BY_TAB, BY_TOP, BY_DOCUMENT, FIRST_OPEN] = [1, 2, 3, 4, 10];

const block = (id, condition) => ({ id, priority: 1, action: { type: 'block' }, condition });
const allow = (id, urlFilter) => ({
  id, priority: 2, action: { type: 'allow' }, condition: { urlFilter, resourceTypes: EVERYTHING },
});
// No rule sees what the browser fetches by itself for a page (who pays, who signs in): a document's policy does.
const policyOf = (open) =>
  `default-src ${open.flatMap((origin) => [origin, origin.replace('http', 'ws')]).join(' ')} 'unsafe-inline' 'unsafe-eval' blob: data:`;
// Nor what is looked up or connected to ahead of a request; this is in place of a list of the site's own.
const listOf = (open) =>
  `(${open.flatMap((origin) => [origin, origin.replace('http', 'ws')]).map((place) => `"${place}/*"`).join(' ')});webrtc=block;redirects=allow`;
// Beside the policies of its own; each of them holds.
const documents = (open) => ({
  id: BY_DOCUMENT, priority: 4, condition: { requestDomains: open.map(hostOf), resourceTypes: ['main_frame', 'sub_frame', 'object'] },
  action: {
    type: 'modifyHeaders',
    responseHeaders: [
      { header: 'content-security-policy', operation: 'append', value: policyOf(open) },
      { header: 'connection-allowlist', operation: 'set', value: listOf(open) },
    ],
  },
});
const openIn = (before) => {
  const places = before.filter(({ id }) => id >= FIRST_OPEN).map(({ condition }) => condition.urlFilter.slice(1, -1));
  return places.filter((place) => place.startsWith('http'));
};
// A rule may not have an empty list.
const within = (tabIds) => (tabIds.length ? [block(BY_TAB, { tabIds, resourceTypes: EVERYTHING })] : []);
const tabsOf = (before) => before.find(({ id }) => id === BY_TAB)?.condition.tabIds ?? [];
// What is fetched ahead, and connections that are made ahead, go by no rule.
const ahead = () => chrome.privacy.network.networkPredictionEnabled;
const fetchNothingAhead = async () => {
  await ahead().set({ value: false });
  if ((await ahead().get({})).value !== false) throw new Error('pages are fetched ahead');
};
// Other letters that a host may have (a star, a bar) stand for more than themselves in a rule or in a policy.
const NAMED = /^https?:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[0-9]+)?$/;
const hostOf = (origin) => new URL(origin).hostname;
const rules = () => chrome.declarativeNetRequest.getSessionRules();
const replace = (before, addRules) =>
  chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: before.map(({ id }) => id), addRules });
// One change after the other: each is made from what holds.
let turn = Promise.resolve();
const inTurn = (work) => {
  const done = turn.then(work);
  turn = done.catch(() => {});
  return done;
};

// What was asked for last. What of it could not be done is tried again until something else is asked for: by a timer
// while this worker is there, and by the service's word when it was stopped.
let asked = 0;
let retry = 0;
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 30000];
// How long a document that has just come may take to connect, and one that is loaded again.
const [TO_CONNECT, TO_LOAD, A_MOMENT] = [1000, 5000, 40];
const untilItHolds = (work) => {
  asked += 1;
  clearTimeout(retry);
  const mine = asked;
  const attempt = (pause) => inTurn(async () => mine === asked && work()).catch((error) => {
    if (mine === asked) retry = setTimeout(() => attempt(Math.min(pause * 3, LONGEST_PAUSE)).catch(() => {}), pause);
    throw error;
  });
  return attempt(FIRST_PAUSE);
};

/** Sets the rules that leave these origins open; the tabs that are narrow then. */
const leaveOpen = async (open, more) => {
  if (!open.every((origin) => NAMED.test(origin))) throw new Error('an origin that no rule can name');
  await fetchNothingAhead();
  const all = await rules();
  const before = all.filter((rule) => !isSealing(rule));
  const pages = connected().filter(({ site }) => open.includes(site));
  const tabs = [...new Set([...tabsOf(before), ...more, ...pages.map((page) => page.tab)])];
  const hosts = open.map(hostOf);
  await replace(before, [
    block(BY_ORIGIN, { initiatorDomains: hosts, resourceTypes: EVERYTHING }),
    block(BY_TOP, { topDomains: hosts, resourceTypes: WITHIN_A_PAGE }),
    ...within(tabs),
    documents(open),
    ...open.flatMap((origin) => [`|${origin}/`, `|${origin.replace('http', 'ws')}/`]).map((to, at) => allow(FIRST_OPEN + at, to)),
  ]);
  return tabs;
};

const tabsWith = (origins) => chrome.tabs.query({ url: origins.map((origin) => `${origin}/*`), discarded: false });
/** Waits until the open origins' documents in all tabs are connected, and came as they have to; whether they did. One that
 * is not connected (it could not be read, or was there before this extension) can be used by another page of its origin,
 * and nobody is there to keep it. */
const allConnected = async (open, patience) => {
  const until = Date.now() + patience;
  for (;;) {
    const tabs = await tabsWith(open);
    const there = new Set(connected().filter(({ frame }) => frame === 0).map(({ tab }) => tab));
    if (tabs.every(({ id }) => there.has(id)) && allSealed(await rules(), open)) return true;
    if (Date.now() > until) return false;
    await new Promise((over) => setTimeout(over, A_MOMENT));
  }
};

/** A task about these sites begins: their documents come without what could carry a value away later, and those that are
 * there are loaded again. Done when they are there. */
export const seal = (origins) => inTurn(async () => {
  if (!origins.every((origin) => NAMED.test(origin))) throw new Error('an origin that no rule can name');
  asked += 1;
  clearTimeout(retry);
  await replace((await rules()).filter(isSealing), [sealing(origins)]);
  const there = await tabsWith(origins);
  await endWorkers(({ site, frame }) => frame === 0 && origins.includes(site));
  await Promise.all(there.map(({ id }) => chrome.tabs.reload(id)));
  await allConnected(origins, TO_LOAD);
});

/** Leaves these origins open to their own pages, to their tabs and to this one, and nothing else. Done when it holds. */
export const narrow = (tab, open) => inTurn(async () => {
  asked += 1;
  clearTimeout(retry);
  const tabs = await leaveOpen(open, [tab]);
  // The documents that are there already. Those of other tabs may be asleep: they are told, and not waited for.
  const message = { ask: 'keep', policy: policyOf(open) };
  tell((page) => page.tab !== tab && (tabs.includes(page.tab) || open.includes(page.site)), message);
  const kept = await Promise.all(tell((page) => page.tab === tab, message));
  if (!(await allConnected(open, TO_CONNECT))) throw new Error('a document that nobody keeps, or that came otherwise');
  // A document that came from no server cannot say.
  const inTab = (page) => page.tab === tab && open.includes(page.site) && !page.isMade;
  if (!(await haveNoWorkers(inTab))) throw new Error('a service worker that is not of this task');
  if (!kept.every((answer) => answer?.state === 'done')) throw new Error('a document does not answer');
});

/** A document came: its tab is one of those that are narrow where it is of an open origin, and none any more where it
 * is another site's page that has the tab to itself. */
export const came = ({ tab, frame, origin, site, isServed }) => inTurn(async () => {
  const before = await rules();
  // A service worker of the site made it, by an earlier visit. Nobody has typed anything into it yet.
  if (isServed && frame === 0 && seals(before, site)) {
    const [ended] = await endWorkers((page) => page.tab === tab && page.frame === 0);
    if (ended?.state === 'done') await chrome.tabs.reload(tab);
  }
  const isOpen = before.some(({ condition }) => condition.urlFilter === `|${site}/`);
  const earlier = tabsOf(before);
  if (isOpen || (earlier.includes(tab) && frame !== 0)) {
    tell((page) => page.tab === tab && page.frame === frame, { ask: 'keep', policy: policyOf(openIn(before)) });
  }
  const leaves = frame === 0 && !isOpen && origin !== 'null';
  if (earlier.includes(tab) ? !leaves : !isOpen) return;
  const tabIds = isOpen ? [...earlier, tab] : earlier.filter((id) => id !== tab);
  await replace(before, [...before.filter(({ id }) => id !== BY_TAB), ...within(tabIds)]);
}).catch(() => {});

/** The task is over: everything is open again. */
export const widen = () => untilItHolds(async () => {
  const done = await Promise.allSettled([rules().then((before) => replace(before, [])), ahead().clear({})]);
  if (done.some(({ status }) => status === 'rejected')) throw new Error('what was narrow is narrow still');
});

/** What is to hold by the word of the service that is there: of a task that was over, and of a browser that forgot. */
export const settle = (open, sealed) => (sealed.length === 0 ? widen() : untilItHolds(async () => {
  const before = await rules();
  // Documents that came meanwhile are not loaded again: something may have been typed into them. Nothing is filled there.
  if (!isSealedFor(before, sealed)) await replace(before.filter(isSealing), [sealing(sealed)]);
  if (open.length === 0) {
    await replace(before.filter((rule) => !isSealing(rule)), []);
    await ahead().clear({});
    return;
  }
  const there = openIn(before);
  if (there.length === open.length && open.every((origin) => there.includes(origin))) return;
  await leaveOpen(open, []);
  tell(({ site }) => open.includes(site), { ask: 'keep', policy: policyOf(open) });
}));

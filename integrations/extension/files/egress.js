// Egress of pages that were given values: from a fill until the end of the task they may send requests only to the origins
// that values were granted to. This is enforced by session rules of the browser, which hold while this worker is stopped and
// end with the browser. Requests that no rule sees are handled too: prefetching, and what the browser fetches for a page.
import { connected, tell } from './frames.js';
import { allUnderRule, coversExactly, coversSite, documentRule, endWorkers, haveNoWorkers, isDocumentRule } from './document_rules.js';

const WITHIN_A_PAGE = [
  'sub_frame', 'stylesheet', 'script', 'image', 'font', 'object', 'xmlhttprequest', 'ping', 'csp_report', 'media',
  'websocket', 'webtransport', 'webbundle', 'other',
];
const EVERYTHING = ['main_frame', ...WITHIN_A_PAGE];
// The ids of the rules. They block requests by pages of the open origins in any tab, frame or worker; those from within a
// page whose top frame is of these origins; and those of their tabs, also by frames without an origin and by the user. Above
// them, one rule adds a policy to documents of the open origins, and others allow requests to these origins.
const [BY_ORIGIN, BY_TAB, BY_TOP, BY_DOCUMENT, FIRST_OPEN] = [1, 2, 3, 4, 10];

const block = (id, condition) => ({ id, priority: 1, action: { type: 'block' }, condition });
const allow = (id, urlFilter) => ({
  id, priority: 2, action: { type: 'allow' }, condition: { urlFilter, resourceTypes: EVERYTHING },
});
// No rule sees requests that the browser makes for a page itself (payment handlers, identity providers): a document's content
// security policy does.
const policyOf = (open) =>
  `default-src ${open.flatMap((origin) => [origin, origin.replace('http', 'ws')]).join(' ')} 'unsafe-inline' 'unsafe-eval' blob: data:`;
// Nor does a rule see names that are resolved and connections that are made ahead of a request. This header replaces the
// site's own list.
const listOf = (open) =>
  `(${open.flatMap((origin) => [origin, origin.replace('http', 'ws')]).map((place) => `"${place}/*"`).join(' ')});webrtc=block;redirects=allow`;
// The policy is added to those of the document; all of them hold.
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
// No rule applies to prefetching and preconnecting.
const ahead = () => chrome.privacy.network.networkPredictionEnabled;
const fetchNothingAhead = async () => {
  await ahead().set({ value: false });
  if ((await ahead().get({})).value !== false) throw new Error('pages are fetched ahead');
};
// Other characters that a host may have (`*`, `|`) are wildcards in a rule or in a policy.
const NAMED = /^https?:\/\/(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[0-9]+)?$/;
const hostOf = (origin) => new URL(origin).hostname;
const rules = () => chrome.declarativeNetRequest.getSessionRules();
const replace = (before, addRules) =>
  chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: before.map(({ id }) => id), addRules });
// Changes are made one after the other, since each starts from the present rules.
let queue = Promise.resolve();
const enqueue = (work) => {
  const done = queue.then(work);
  queue = done.catch(() => {});
  return done;
};

// The number of the last request. A request that fails is tried again until there is another one: by a timer while this
// worker runs, and by the service when it was stopped.
let asked = 0;
let retry = 0;
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 30000];
// The longest times that a new document may take to connect, and a reloaded one; and the interval of checks.
const [TO_CONNECT, TO_LOAD, A_MOMENT] = [1000, 5000, 40];
const retryUntilDone = (work) => {
  asked += 1;
  clearTimeout(retry);
  const mine = asked;
  const attempt = (pause) => enqueue(async () => mine === asked && work()).catch((error) => {
    if (mine === asked) retry = setTimeout(() => attempt(Math.min(pause * 3, LONGEST_PAUSE)).catch(() => {}), pause);
    throw error;
  });
  return attempt(FIRST_PAUSE);
};

/** Sets the rules that restrict egress to these origins; gives the tabs that are restricted. */
const leaveOpen = async (open, more) => {
  if (!open.every((origin) => NAMED.test(origin))) throw new Error('an origin that no rule can name');
  await fetchNothingAhead();
  const all = await rules();
  const before = all.filter((rule) => !isDocumentRule(rule));
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
/** Waits until the documents of the open origins in all tabs are connected and came under the document rule; gives whether
 * they did. Another page of its origin can use a document that is not connected (it could not be read, or is older than
 * this extension), and no content script restricts it. */
const allConnected = async (open, patience) => {
  const until = Date.now() + patience;
  for (;;) {
    const tabs = await tabsWith(open);
    const there = new Set(connected().filter(({ frame, site }) => frame === 0 && open.includes(site)).map(({ tab }) => tab));
    if (tabs.every(({ id }) => there.has(id)) && allUnderRule(await rules(), open)) return true;
    if (Date.now() > until) return false;
    await new Promise((over) => setTimeout(over, A_MOMENT));
  }
};

/** Begins a task about these sites: their documents are loaded under the document rule from now on, and open ones are
 * reloaded. Done when they have loaded. */
export const seal = (origins) => enqueue(async () => {
  if (!origins.every((origin) => NAMED.test(origin))) throw new Error('an origin that no rule can name');
  asked += 1;
  clearTimeout(retry);
  await replace((await rules()).filter(isDocumentRule), [documentRule(origins)]);
  const there = await tabsWith(origins);
  await endWorkers(({ site, frame }) => frame === 0 && origins.includes(site));
  await Promise.all(there.map(({ id }) => chrome.tabs.reload(id)));
  await allConnected(origins, TO_LOAD);
});

/** Restricts the egress of pages of these origins, of their tabs and of this one to these origins. Done when it holds. */
export const narrow = (tab, open) => enqueue(async () => {
  asked += 1;
  clearTimeout(retry);
  const tabs = await leaveOpen(open, [tab]);
  // Restricts the documents that are open already. Those of other tabs may be frozen, so they are not waited for.
  const message = { ask: 'keep', policy: policyOf(open) };
  tell((page) => page.tab !== tab && (tabs.includes(page.tab) || open.includes(page.site)), message);
  const kept = await Promise.all(tell((page) => page.tab === tab, message));
  if (!(await allConnected(open, TO_CONNECT))) throw new Error('a document is not connected, or did not come under the rule');
  // A document that came from no server cannot answer this.
  const inTab = (page) => page.tab === tab && open.includes(page.site) && !page.isMade;
  if (!(await haveNoWorkers(inTab))) throw new Error('a service worker that is not of this task');
  if (!kept.every((answer) => answer?.state === 'done')) throw new Error('a document does not answer');
});

/** Handles a new document: its tab is restricted if the document is of an open origin, and no longer restricted if it is a
 * top document of another site. */
export const came = ({ tab, frame, origin, site, isServed }) => enqueue(async () => {
  const before = await rules();
  // A service worker of an earlier visit answered the request. The user has typed nothing into the document yet.
  if (isServed && frame === 0 && coversSite(before, site)) {
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

/** Ends the task: all restrictions are removed. */
export const widen = () => retryUntilDone(async () => {
  const done = await Promise.allSettled([rules().then((before) => replace(before, [])), ahead().clear({})]);
  if (done.some(({ status }) => status === 'rejected')) throw new Error('a restriction could not be removed');
});

/** Sets the restrictions that the service states when it connects: a task may have ended, or the browser restarted. */
export const settle = (open, sealed) => (sealed.length === 0 ? widen() : retryUntilDone(async () => {
  const before = await rules();
  // Documents that came meanwhile are not reloaded, since the user may have typed into them. Nothing is filled there.
  if (!coversExactly(before, sealed)) await replace(before.filter(isDocumentRule), [documentRule(sealed)]);
  if (open.length === 0) {
    await replace(before.filter((rule) => !isDocumentRule(rule)), []);
    await ahead().clear({});
    return;
  }
  const there = openIn(before);
  if (there.length === open.length && open.every((origin) => there.includes(origin))) return;
  await leaveOpen(open, []);
  tell(({ site }) => open.includes(site), { ask: 'keep', policy: policyOf(open) });
}));

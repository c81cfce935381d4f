// The way out of pages that were given values: from a fill until the task is over they send nothing to anywhere but the
// origins that values were granted to. Rules of the browser's own, which hold while this worker is stopped, and end with
// the browser.
import { connected } from './frames.js';

const WITHIN_A_PAGE = [
  'sub_frame', 'stylesheet', 'script', 'image', 'font', 'object', 'xmlhttprequest', 'ping', 'csp_report', 'media',
  'websocket', 'webtransport', 'webbundle', 'other',
];
const EVERYTHING = ['main_frame', ...WITHIN_A_PAGE];
// What pages of the open origins send, from whatever tab, frame or worker; what is sent elsewhere from within their tabs,
// by frames without an origin too; what frames of others in those tabs send, to themselves too; and, over all of these,
// what goes to the open origins.
const [BY_ORIGIN, BY_TAB, BY_FRAME, FIRST_OPEN] = [1, 2, 3, 10];

const block = (id, condition) => ({ id, priority: 1, action: { type: 'block' }, condition });
const allow = (id, urlFilter) => ({
  id, priority: 2, action: { type: 'allow' }, condition: { urlFilter, resourceTypes: EVERYTHING },
});
// A rule may not have an empty list.
const within = (tabIds, frames) => [
  ...(tabIds.length ? [block(BY_TAB, { tabIds, domainType: 'thirdParty', resourceTypes: WITHIN_A_PAGE })] : []),
  ...(tabIds.length && frames.length ? [block(BY_FRAME, { tabIds, initiatorDomains: frames, resourceTypes: EVERYTHING })] : []),
];
const tabsOf = (before) => before.find(({ id }) => id === BY_TAB)?.condition.tabIds ?? [];
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

/** Leaves these origins open to their own pages, to their tabs and to this one, and nothing else. Done when it holds. */
export const narrow = (tab, open) => inTurn(async () => {
  const before = await rules();
  const pages = connected();
  const tabs = [...new Set([...tabsOf(before), tab, ...pages.filter(({ origin }) => open.includes(origin)).map((page) => page.tab)])];
  const others = pages.filter((page) => tabs.includes(page.tab) && page.origin !== 'null' && !open.includes(page.origin));
  const frames = [...new Set(others.map(({ origin }) => hostOf(origin)))];
  await replace(before, [
    block(BY_ORIGIN, { initiatorDomains: open.map(hostOf), resourceTypes: EVERYTHING }),
    ...within(tabs, frames),
    ...open.flatMap((origin) => [`|${origin}/`, `|${origin.replace('http', 'ws')}/`]).map((to, at) => allow(FIRST_OPEN + at, to)),
  ]);
});

/** A document came: its tab is one of those that are narrow where it is of an open origin, and none any more where it
 * is another site's page that has the tab to itself. */
export const came = ({ tab, frame, origin }) => inTurn(async () => {
  const before = await rules();
  const isOpen = before.some(({ condition }) => condition.urlFilter === `|${origin}/`);
  const earlier = tabsOf(before);
  if (earlier.includes(tab) ? isOpen || frame !== 0 : !isOpen) return;
  const tabIds = isOpen ? [...earlier, tab] : earlier.filter((id) => id !== tab);
  const byFrame = before.find(({ id }) => id === BY_FRAME)?.condition.initiatorDomains ?? [];
  await replace(before, [...before.filter(({ id }) => id !== BY_TAB && id !== BY_FRAME), ...within(tabIds, byFrame)]);
}).catch(() => {});

/** The task is over: everything is open again. */
export const widen = () => inTurn(async () => replace(await rules(), []));

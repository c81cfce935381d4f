// The extension's worker with a simulated browser, service and pages: `node extension_worker.mjs FOLDER EXTENSION`. A real
// browser does not let a test choose the order of two messages.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, extension] = process.argv.slice(2);
const shop = 'https://shop.test';
const listeners = () => {
  const all = [];
  return { addListener: (one) => all.push(one), say: (...what) => all.map((one) => one(...what)) };
};
// Lets the time pass in which a forbidden event would happen, since the absence of an event gives no signal.
const absence = (milliseconds) => new Promise((next) => setTimeout(next, milliseconds));
const until = async (what, done) => {
  for (const began = Date.now(); !done(); ) {
    assert.ok(Date.now() - began < 60000, `did not happen: ${what}`);
    await new Promise((next) => setTimeout(next, 5));
  }
};

// The long waits for ports that do not report end when the test says so.
const [wait, cancel] = [setTimeout, clearTimeout];
const silences = new Set();
globalThis.setTimeout = (run, delay, ...more) => {
  if (delay !== 70000) return wait(run, delay, ...more);
  const one = { run };
  silences.add(one);
  return one;
};
globalThis.clearTimeout = (one) => silences.delete(one) || cancel(one);

// The browser.
const [connected, messages, removed, begins] = [listeners(), listeners(), listeners(), listeners()];
const [services, windows, closed] = [[], [], []];
let front = { id: 1 };
let isWindowRefused = false;
// Other tabs with an address of the shop's.
let otherTabs = [];
let [rules, refused] = [[], 0];
const live = new Set();
const port = () => ({ sent: [], onMessage: listeners(), onDisconnect: listeners(), postMessage(message) { this.sent.push(message); } });
globalThis.chrome = {
  runtime: {
    id: 'ours',
    getURL: (path) => `chrome-extension://ours/${path}`,
    connectNative: () => services[services.push(port()) - 1],
    getContexts: async () => windows.filter((one) => !closed.includes(one.tab)).map(({ tab, url }) => ({ tabId: tab, documentUrl: url })),
    onConnect: connected,
    onMessage: messages,
    onStartup: begins,
  },
  storage: {
    session: { get: async () => ({}), set: async () => {}, remove: async () => {} },
  },
  tabs: {
    query: async ({ active }) => [{ id: 7, status: 'complete', url: `${shop}/` }, ...(active ? [] : otherTabs)],
    reload: async () => { for (const one of live) one.hello(); },
    remove: async (tab) => { closed.push(tab); removed.say(tab); },
    onRemoved: removed,
  },
  windows: {
    getLastFocused: async () => front ?? Promise.reject(new Error('No last-focused window')),
    create: async ({ url }) => {
      if (isWindowRefused) throw new Error('no window');
      const tab = 20 + windows.length;
      windows.push({ tab, url });
      return { id: 100 + tab, tabs: [{ id: tab }] };
    },
  },
  declarativeNetRequest: {
    getSessionRules: async () => structuredClone(rules),
    updateSessionRules: async ({ removeRuleIds, addRules }) => {
      if (refused > 0) {
        refused -= 1;
        throw new Error('not now');
      }
      rules = [...rules.filter(({ id }) => !removeRuleIds.includes(id)), ...addRules];
    },
  },
  privacy: { network: { networkPredictionEnabled: { set: async () => {}, get: async () => ({ value: false }), clear: async () => {} } } },
};
await import(pathToFileURL(join(extension, 'worker.js')));

// The service.
const bytes = await readFile(join(folder, 'policy'));
const { load } = await import(pathToFileURL(join(extension, 'walk.mjs')));
const { hash } = await load(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const best = JSON.parse(await readFile(join(folder, 'best.json'), 'utf8'));
const welcome = (narrow, sealed = narrow) => {
  const service = services.at(-1);
  service.onMessage.say({ welcome: { version: 1, policy: bytes.toString('base64'), hash, narrow, sealed } });
  return service;
};
let asked = 0;
const asks = (service, message) => {
  asked += 1;
  const id = asked;
  service.onMessage.say({ ...message, id });
  return until(`an answer to ${message.ask}`, () => service.sent.some((one) => one.id === id && !one.ask))
    .then(() => service.sent.find((one) => one.id === id && !one.ask));
};

// The mark of the rule under which documents have to be loaded.
const markNow = () => rules.find(({ id }) => id === 5)?.action.responseHeaders
  .find(({ header }) => header === 'server-timing').value.match(/"(.*)"/)[1];
let workers = 'none';
// Pages. `hold` delays the answer about their forms until it is called.
const page = (sender, hold, fills = () => 'done', mark = null) => {
  const one = port();
  const told = [];
  one.name = 'page';
  one.sender = { id: 'ours', frameId: 0, documentId: 'A', tab: { id: 7 }, origin: shop, url: `${shop}/`, ...sender };
  one.disconnect = () => {};
  const form = { form: 1, way: { action: `${shop}/order`, method: 'POST' }, controls: [{ id: 2, visible: true, hit: true }] };
  one.postMessage = async ({ id, ask, now, until: last }) => {
    if (ask === 'asked') one.isAsked = now;
    else told.push(ask);
    if (ask === 'forms') await hold;
    const state = { fill: () => fills(last), workers: () => workers }[ask]?.() ?? (ask === 'fill' ? null : 'done');
    if (state) one.onMessage.say({ id, answer: { ancestors: [], forms: [form], state } });
  };
  // The page was loaded under the current rule.
  one.hello = () => one.onMessage.say({ loaded: [mark ?? markNow()], isServed: false });
  connected.say(one);
  live.add(one);
  one.hello();
  return { told, isAsked: () => one.isAsked, leave: () => { live.delete(one); one.onDisconnect.say(); } };
};
const fill = {
  ask: 'fill', within: 7000, tab: 7, frame: 0, document: 'A', origin: shop, origins: [shop], open: [shop], trusted: true, form: 1,
  way: { action: `${shop}/order`, method: 'POST' }, nodes: [2], values: ['17 Quarry Road'],
  decided: { event: 'address', need: 'T2', valuation: { ...Object.fromEntries(best), container: 'T2', consent: 'given' } },
};
const restrictRequest = { ask: 'narrow', origins: [shop], open: [shop], trusted: true };
const restrictedTabs = () => rules.find(({ id }) => id === 2)?.condition.tabIds ?? [];

// A fill while another tab has a document of the shop with an opaque origin: a window that the page can message.
let service = welcome([]);
const seal = async () => assert.equal((await asks(service, { ask: 'seal', origins: [shop] })).answer, 'done');
const bare = page({ tab: { id: 8 }, documentId: 'B', origin: 'null' });
let first = page({});
await seal();
let filled;
// Before the policy is loaded, the preview agrees to nothing.
for (const began = Date.now(); (filled = (await asks(service, fill)).answer) === 'disagrees'; ) {
  assert.ok(Date.now() - began < 60000, 'the policy is not loaded');
  first.leave();
  first = page({});
}
assert.equal(filled, 'done');
assert.deepEqual(first.told.filter((what) => what !== 'end_workers'), ['forms', 'keep', 'workers', 'fill']);
assert.deepEqual(restrictedTabs().toSorted(), [7, 8], 'a document of the site with an opaque origin is restricted too');
await until('its policy', () => bare.told.includes('keep'));
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');
assert.deepEqual(rules, []);

// A page that takes the values without an answer, or is closed with them, may have them; it takes them in time or
// never.
const fillWith = async (fills, within) => {
  first.leave();
  first = page({}, null, fills);
  await seal();
  const { answer } = await asks(service, { ...fill, within });
  return answer;
};
let last;
assert.equal(await fillWith((at) => { last = at; }, 400), 'unconfirmed');
assert.ok(last <= Date.now(), 'the worker waits for at least as long as the page may fill');
assert.equal(await fillWith(() => { first.leave(); }, 7000), 'unconfirmed');
assert.equal(await fillWith(() => 'done', 0), 'late');
assert.ok(!first.told.includes('fill'), 'a late fill is not sent to the page');
// Pages that were open before, and a service worker that cannot be stopped: nothing is filled.
workers = 'some';
assert.equal(await fillWith(() => 'done', 7000), 'open');
workers = 'none';
assert.equal(await fillWith(() => 'done', 7000), 'done');
first.leave();
first = page({}, null, () => 'done', 'of another rule');
assert.equal((await asks(service, { ...fill, within: 7000 })).answer, 'open');
first.leave();
first = page({});
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');

// An earlier page may have left a program running: nothing is filled in and nothing is restricted, for that site and
// for one that was open during an earlier fill, unless the user trusts it. Any other value than the exact yes counts as
// no.
const bank = 'https://bank.test';
begins.say();
page({ tab: { id: 9 }, documentId: 'C', origin: bank, url: `${bank}/` }, null, () => 'done', 'none').leave();
await seal();
for (const trusted of [false, undefined, 'true', 1]) {
  for (const open of [[shop], [bank], [shop, bank]]) {
    first.leave();
    first = page({});
    for (const message of [{ ...restrictRequest, open, trusted }, { ...fill, open, trusted }]) {
      const { answer } = await asks(service, message);
      assert.ok(answer.earlier > 300 && answer.earlier <= 305, JSON.stringify(answer));
    }
    assert.ok(!first.told.includes('fill') && !first.told.includes('keep'));
  }
}
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');

// The browser may open a port whose other end it has closed already, and never says so. Such a port stands in the way
// neither of the same document, which has connected again, nor of the next one. What is not known of a silent document
// counts against its site.
const closedPort = (sender) => {
  const one = Object.assign(port(), { name: 'page', disconnect: () => { one.isDisconnected = true; } });
  one.sender = { id: 'ours', frameId: 0, documentId: 'A', tab: { id: 7 }, origin: shop, url: `${shop}/`, ...sender };
  connected.say(one);
  return one;
};
begins.say();
first.leave();
const replaced = closedPort({});
first = page({});
await seal();
assert.equal((await asks(service, fill)).answer, 'done');
assert.deepEqual(replaced.sent, []);
// Nor does a closed port take the place of one that works, and an earlier port still brings an answer.
const unused = closedPort({});
assert.equal((await asks(service, fill)).answer, 'done');
assert.deepEqual(unused.sent, []);
let answers;
first.leave();
first = page({}, new Promise((give) => { answers = give; }));
await seal();
const early = asks(service, fill);
await until('a look', () => first.told.includes('forms'));
const second = page({});
answers();
assert.equal((await early).answer, 'done');
first.leave();
assert.equal((await asks(service, fill)).answer, 'done');
assert.ok(second.told.includes('fill'));
first = second;
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');
const clinic = 'https://clinic.test';
const silent = closedPort({ tab: { id: 12 }, documentId: 'D', origin: clinic, url: `${clinic}/` });
const inFront = closedPort({ documentId: 'F', origin: bank, url: `${bank}/` });
const restrictClinic = { ...restrictRequest, open: [clinic], trusted: false };
await seal();
assert.equal((await asks(service, { ask: 'forms', origins: [shop] })).answer.frames[0].document, 'A');
for (const message of [fill, restrictClinic]) {
  assert.equal((await asks(service, message)).answer, 'open', 'a document that does not report is not restricted');
}
for (const { run } of silences) run();
assert.ok([silent, inFront, unused].every(({ isDisconnected }) => isDisconnected));
// Another site's document in a tab of the shop's is not the shop's document, which nothing restricts.
otherTabs = [{ id: 12, url: `${shop}/` }];
const foreign = page({ tab: { id: 12 }, documentId: 'G', origin: bank, url: `${bank}/` });
assert.equal((await asks(service, fill)).answer, 'open');
foreign.leave();
otherTabs = [];
assert.equal((await asks(service, fill)).answer, 'done');
assert.ok((await asks(service, restrictClinic)).answer.earlier > 280);
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');

// An operation that the browser does not complete at once is retried, until another one is requested.
await seal();
assert.equal((await asks(service, restrictRequest)).answer, 'done');
refused = 2;
assert.equal((await asks(service, { ask: 'widen' })).failed, 'stale');
await until('the end of the restriction', () => rules.length === 0);
await seal();
assert.equal((await asks(service, restrictRequest)).answer, 'done');
refused = 1;
assert.equal((await asks(service, { ask: 'widen' })).failed, 'stale');
await seal();
assert.equal((await asks(service, restrictRequest)).answer, 'done');
await absence(1500);
assert.notDeepEqual(rules, [], 'the pages of a later task stay restricted');

// A different service with another task that released nothing: no rule is kept for it. A browser that was restarted has
// forgotten its rules, and they are set again for earlier pages.
const again = async (narrow) => {
  service.onDisconnect.say();
  const before = service;
  await until('another service', () => services.at(-1) !== before);
  service = welcome(narrow);
};
refused = 1;
await again([]);
await until('the end of the restriction', () => rules.length === 0);
await again([shop]);
await until('the rules', () => restrictedTabs().includes(7));
const held = structuredClone(rules);
await again([shop]);
await asks(service, { ask: 'nothing', origins: [shop] });
assert.deepEqual(rules, held, 'current rules are kept');
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');
assert.deepEqual(rules, []);

// An origin whose characters would widen a rule.
for (const origin of ['https://*.test', 'https://a;b.test', 'https://a|b.test']) {
  const narrow = { ask: 'narrow', origins: [shop], open: [shop, origin], trusted: true };
  assert.equal((await asks(service, narrow)).answer, 'open', origin);
  assert.deepEqual(rules, [], origin);
}

// The task ends, and then the service is replaced, while a page is slow: nothing is filled in, and no restriction
// stays.
const slow = async (happens) => {
  first.leave();
  let answer;
  first = page({}, new Promise((give) => { answer = give; }));
  service.onMessage.say({ ...fill, id: 1000 });
  await until('a look', () => first.told.includes('forms'));
  await happens();
  answer();
  await absence(300);
  assert.deepEqual(first.told, ['forms'], 'a fill of an ended task is not done');
  assert.deepEqual(rules, []);
};
await slow(() => asks(service, { ask: 'widen' }));
await slow(async () => {
  service.onDisconnect.say();
  await until('another service', () => services.at(-1) !== service);
  service = welcome([]);
  // Time for loading the policy again, without which nothing is filled.
  await new Promise((next) => setTimeout(next, 400));
});

// Where no window opens, pages get the screen back.
isWindowRefused = true;
assert.equal((await asks(service, { ask: 'consent', nonce: '0' })).answer, 'no_window');
assert.equal(first.isAsked(), false);
isWindowRefused = false;
// Another question comes before the answer to the first is delivered: its window stays.
const said = JSON.stringify({ nonce: 'x' });
assert.equal((await asks(service, { ask: 'consent', nonce: '1' })).answer, 'opened');
assert.equal(first.isAsked(), true);
const during = page({ tab: { id: 11 }, documentId: 'E', origin: bank, url: `${bank}/` });
await until('the page that loaded during the question to know of it', () => during.isAsked());
during.leave();
const { tab: one, url } = windows.at(-1);
const speaks = { id: 'ours', frameId: 0, url: url.split('#')[0], tab: { id: one } };
messages.say({ consent: said }, speaks, () => {});
await until('an answer on its way', () => service.sent.some((it) => it.says === said));
assert.equal((await asks(service, { ask: 'consent', nonce: '2' })).answer, 'opened');
const { tab: other } = windows.at(-1);
service.onMessage.say({ told: service.sent.find((it) => it.says === said).id, answer: { status: 200, body: { said: 'yes' } } });
await until('the window of the answered question closed', () => closed.includes(one));
assert.ok(closed.includes(one) && !closed.includes(other), `${one} and not ${other}: ${closed}`);

// The window of a finished question is closed, and the one of the open question stays.
service.onMessage.say({ ask: 'over', question: '1', id: 2000 });
service.onMessage.say({ ask: 'over', question: '2', id: 2001 });
await until('the window of the ended question closed', () => closed.includes(other));
// Without a window in front there is no page to read, and a question can still be asked.
front = null;
assert.equal((await asks(service, { ask: 'text', origins: [shop] })).failed, 'not_of_task');
assert.equal((await asks(service, { ask: 'consent', nonce: '3' })).answer, 'opened');
assert.equal((await asks(service, { ask: 'text', origins: [shop] })).failed, 'not_of_task');
process.exit(0);

// The extension's worker with a browser, a service and pages that are played here: `node worker.mjs FOLDER EXTENSION`.
// What depends on which of two messages comes first cannot be brought about in a real browser.
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
const until = async (what, done) => {
  for (const began = Date.now(); !done(); ) {
    assert.ok(Date.now() - began < 60000, `never: ${what}`);
    await new Promise((next) => setTimeout(next, 5));
  }
};

// The browser.
const [connected, messages, removed] = [listeners(), listeners(), listeners()];
const [services, windows, closed] = [[], [], []];
let rules = [];
const port = () => ({ sent: [], onMessage: listeners(), onDisconnect: listeners(), postMessage(message) { this.sent.push(message); } });
globalThis.chrome = {
  runtime: {
    id: 'ours',
    getURL: (path) => `chrome-extension://ours/${path}`,
    connectNative: () => services[services.push(port()) - 1],
    getContexts: async () => windows.filter((one) => !closed.includes(one.tab)).map(({ tab, url }) => ({ tabId: tab, documentUrl: url })),
    onConnect: connected,
    onMessage: messages,
  },
  tabs: {
    query: async () => [{ id: 7, status: 'complete' }],
    remove: async (tab) => { closed.push(tab); removed.say(tab); },
    onRemoved: removed,
  },
  windows: {
    getLastFocused: async () => ({ id: 1 }),
    create: async ({ url }) => {
      const tab = 20 + windows.length;
      windows.push({ tab, url });
      return { id: 100 + tab, tabs: [{ id: tab }] };
    },
  },
  declarativeNetRequest: {
    getSessionRules: async () => structuredClone(rules),
    updateSessionRules: async ({ removeRuleIds, addRules }) => {
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
const welcome = (task) => {
  const service = services.at(-1);
  service.onMessage.say({ welcome: { version: 1, policy: bytes.toString('base64'), hash, task } });
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

// Pages. `hold` keeps the answer about their forms back until it is called.
const page = (sender, hold) => {
  const one = port();
  const told = [];
  one.name = 'page';
  one.sender = { id: 'ours', frameId: 0, documentId: 'A', tab: { id: 7 }, origin: shop, url: `${shop}/`, ...sender };
  one.disconnect = () => {};
  const form = { form: 1, way: { action: `${shop}/order`, method: 'POST' }, controls: [{ id: 2, visible: true, hit: true }] };
  one.postMessage = async ({ id, ask }) => {
    told.push(ask);
    if (ask === 'forms') await hold;
    one.onMessage.say({ id, answer: { ancestors: [], forms: [form], state: 'done' } });
  };
  connected.say(one);
  return { told, leave: () => one.onDisconnect.say() };
};
const fill = {
  ask: 'fill', tab: 7, frame: 0, document: 'A', origin: shop, origins: [shop], open: [shop], form: 1,
  way: { action: `${shop}/order`, method: 'POST' }, nodes: [2], values: ['17 Quarry Road'],
  decided: { event: 'address', need: 'T2', valuation: { ...Object.fromEntries(best), container: 'T2', consent: 'given' } },
};
const narrowTabs = () => rules.find(({ id }) => id === 2)?.condition.tabIds ?? [];

// A fill, with a document of the shop's in another tab that has no origin: a window that the page can speak to.
let service = welcome(true);
const bare = page({ tab: { id: 8 }, documentId: 'B', origin: 'null' });
let first = page({});
let filled;
// Until the policy is read nothing agrees with it.
for (const began = Date.now(); (filled = (await asks(service, fill)).answer) === 'disagrees'; ) {
  assert.ok(Date.now() - began < 60000, 'the policy is never read');
  first.leave();
  first = page({});
}
assert.equal(filled, 'done');
assert.deepEqual(first.told, ['forms', 'keep', 'fill']);
assert.deepEqual(narrowTabs().toSorted(), [7, 8], 'a document of the site without an origin is narrow too');
await until('its policy', () => bare.told.includes('keep'));
assert.equal((await asks(service, { ask: 'widen' })).answer, 'done');
assert.deepEqual(rules, []);

// An origin whose letters would open more than itself in a rule.
for (const origin of ['https://*.test', 'https://a;b.test', 'https://a|b.test']) {
  const narrow = { ask: 'narrow', origins: [shop], open: [shop, origin] };
  assert.equal((await asks(service, narrow)).answer, 'open', origin);
  assert.deepEqual(rules, [], origin);
}

// The task is over, and then the service gone and another there, while a page takes its time: nothing is filled in, and
// nothing stays narrow.
const slow = async (happens) => {
  first.leave();
  let answer;
  first = page({}, new Promise((give) => { answer = give; }));
  service.onMessage.say({ ...fill, id: 1000 });
  await until('a look', () => first.told.includes('forms'));
  await happens();
  answer();
  await new Promise((next) => setTimeout(next, 300));
  assert.deepEqual(first.told, ['forms'], 'what was asked for by a task that is over is not done');
  assert.deepEqual(rules, []);
};
await slow(() => asks(service, { ask: 'widen' }));
await slow(async () => {
  service.onDisconnect.say();
  await until('another service', () => services.at(-1) !== service);
  service = welcome(false);
  // Time to read the policy again, without which nothing is filled anyway.
  await new Promise((next) => setTimeout(next, 400));
});

// Another question comes before the answer to the first is told: its window stays.
const said = JSON.stringify({ nonce: 'x' });
assert.equal((await asks(service, { ask: 'consent', nonce: '1' })).answer, 'opened');
const { tab: one, url } = windows.at(-1);
const speaks = { id: 'ours', frameId: 0, url: url.split('#')[0], tab: { id: one } };
messages.say({ consent: said }, speaks, () => {});
await until('an answer on its way', () => service.sent.some((it) => it.says === said));
assert.equal((await asks(service, { ask: 'consent', nonce: '2' })).answer, 'opened');
const { tab: other } = windows.at(-1);
service.onMessage.say({ told: service.sent.find((it) => it.says === said).id, answer: { status: 200, body: { said: 'yes' } } });
await new Promise((next) => setTimeout(next, 1300));
assert.ok(closed.includes(one) && !closed.includes(other), `${one} and not ${other}: ${closed}`);
process.exit(0);

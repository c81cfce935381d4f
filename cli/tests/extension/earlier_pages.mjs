// The extension's record of pages that were open before a task, over time: `node earlier_pages.mjs EXTENSION`. The clocks are
// simulated, so that five minutes pass at once, and so are the browser and its pages.
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [extension] = process.argv.slice(2);
const [shop, bank] = ['https://shop.test', 'https://bank.test'];
const folder = await mkdtemp(join(tmpdir(), 'earlier-pages-'));
const listeners = () => {
  const all = [];
  return { addListener: (one) => all.push(one), say: (...what) => all.map((one) => one(...what)) };
};
// After this, everything that waits only for other answers has ended.
const settled = async () => { for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setImmediate(next)); };

// The simulated clocks: one that can be set, and one that stops while the machine sleeps and starts with a worker.
let [wall, steady] = [1_000_000_000, 0];
const pass = (seconds) => { wall += seconds * 1000; steady += seconds * 1000; };
Date.now = () => wall;
Object.defineProperty(performance, 'now', { value: () => steady });

// The timers of the worker that runs. They end with it, as in the browser, although its modules stay in memory here.
const timers = new Map();
let timersMade = 0;
globalThis.setTimeout = (run, delay) => {
  timersMade += 1;
  timers.set(timersMade, { run, delay });
  return timersMade;
};
globalThis.clearTimeout = (timer) => { timers.delete(timer); };

// The browser: its session storage, its rules, its tabs.
let [store, writes, isRefusing] = [{}, 0, false];
let rules = [];
let tabs = [];
const mark = 'aaaaaaaa-0000-0000-0000-000000000000';
const rule = (desc) => ({
  id: 5, action: { responseHeaders: [{ header: 'server-timing', value: `portcullis;desc="${desc}"` }] },
});
let connected;
let started = 0;
/** Starts a worker, which knows of an earlier one only what that one stored. */
const start = async () => {
  await settled();
  timers.clear();
  const [startup, removed] = [listeners(), listeners()];
  connected = listeners();
  globalThis.chrome = {
    runtime: { id: 'ours', getURL: (path) => path, getContexts: async () => [], onConnect: connected, onStartup: startup },
    storage: {
      session: {
        get: async (key) => structuredClone(key in store ? { [key]: store[key] } : {}),
        set: async (what) => {
          writes += 1;
          if (isRefusing) throw new Error('full');
          Object.assign(store, structuredClone(what));
        },
        remove: async (key) => { delete store[key]; },
      },
    },
    declarativeNetRequest: { getSessionRules: async () => rules },
    tabs: { query: async () => tabs, onRemoved: removed },
    windows: {},
  };
  started += 1;
  steady = 5;
  const here = join(folder, `${started}`);
  await mkdir(here);
  for (const file of ['earlier_pages.js', 'frames.js', 'document_rules.js', 'questions.js']) await copyFile(join(extension, file), join(here, file));
  const earlier = await import(pathToFileURL(join(here, 'earlier_pages.js')));
  const { listen } = await import(pathToFileURL(join(here, 'frames.js')));
  listen(earlier);
  await settled();
  return { startup: () => startup.say(), removed: (tab) => removed.say(tab), left: (...sites) => earlier.secondsLeft(sites) };
};
let documents = 0;
/** A document that connects, and reports the mark under which it was loaded unless `loaded` is null. */
const page = (sender = {}, loaded = []) => {
  documents += 1;
  const port = {
    name: 'page', onMessage: listeners(), onDisconnect: listeners(), postMessage() {}, disconnect() {},
    sender: { id: 'ours', frameId: 0, documentId: `${documents}`, tab: { id: 7 }, origin: shop, url: `${shop}/`, ...sender },
  };
  connected.say(port);
  if (loaded) port.onMessage.say({ loaded, isServed: false });
  return { leave: () => port.onDisconnect.say() };
};
/** Lets the worker store its record, which it does after a second. */
const stored = async () => {
  await settled();
  for (const [timer, { run, delay }] of [...timers]) if (delay <= 1000 && timers.delete(timer)) run();
  await settled();
};
const fresh = async () => {
  await settled();
  store = {};
  const worker = await start();
  worker.startup();
  await settled();
  return worker;
};

// An extension that was just installed knows nothing, so any page may have been open until now. A browser start ends
// that doubt.
let worker = await start();
assert.equal(await worker.left(shop), 305);
pass(100);
assert.equal(await worker.left(shop), 205);
worker = await start();
assert.equal(await worker.left(shop), 205, 'another worker continues from there');
pass(205);
assert.equal(await worker.left(shop), 0);
store = {};
worker = await start();
page({ tab: { id: 9 }, origin: bank, url: `${bank}/` }).leave();
worker.startup();
assert.equal(await worker.left(shop), 0, 'the start of the browser ends the wait');
assert.equal(await worker.left(shop, bank), 305, 'a restored page was open');

// After a page has closed, its own origin waits, and no other one; each time from the last closing.
worker = await fresh();
assert.equal(await worker.left(shop), 0);
const [one, two] = [page(), page({ tab: { id: 8 } })];
await settled();
pass(1000);
one.leave();
pass(50);
two.leave();
assert.equal(await worker.left(shop), 305);
assert.equal(await worker.left(bank, 'https://shop.test:444', 'https://www.shop.test'), 0);
pass(304.5);
assert.equal(await worker.left(bank, shop), 1);
pass(1);
assert.equal(await worker.left(shop), 0);
// The same holds for frames, for those that came from no server, and for those with an opaque origin.
for (const sender of [{ frameId: 3 }, { frameId: 3, url: 'about:blank' }, { url: 'about:blank' }, { origin: 'null' }]) {
  worker = await fresh();
  page({ ...sender, tab: { id: 9 } }).leave();
  assert.equal(await worker.left(shop), 305, JSON.stringify(sender));
}
// A page that closes before it has reported belongs to no task.
worker = await fresh();
page({}, null).leave();
assert.equal(await worker.left(shop), 305);

// The task's own pages and what they create leave no trace; with the mark of another task, or without a task, they do.
worker = await fresh();
rules = [rule(mark)];
const sealed = page({}, [mark]);
page({ frameId: 4, url: 'about:blank' }).leave();
const inner = page({ frameId: 5, url: 'about:blank' });
sealed.leave();
inner.leave();
page({}, [mark]).leave();
assert.equal(await worker.left(shop), 0);
// A frame of a closed page does not belong to the next page.
const before = page({}, [mark]);
const late = page({ frameId: 6, url: 'about:blank' });
before.leave();
page({ origin: bank, url: `${bank}/` });
late.leave();
assert.equal(await worker.left(shop), 0);
// A page that was loaded under the rule stays under it, whatever rule follows.
const old = page({}, [mark]);
await settled();
rules = [rule('bbbb')];
old.leave();
assert.equal(await worker.left(shop), 0);
page({}, [mark]).leave();
assert.equal(await worker.left(shop), 305);
rules = [];
worker = await fresh();
page({}, [mark]).leave();
assert.equal(await worker.left(shop), 305);

// The worker is stopped: closed pages stay closed since then, open pages may have been open until now, and those that
// are still open reconnect.
worker = await fresh();
page({ origin: bank, url: `${bank}/` }).leave();
page();
await settled();
await stored();
pass(200);
worker = await start();
assert.deepEqual([await worker.left(bank), await worker.left(shop)], [105, 305]);
const still = page();
pass(400);
worker = await start();
assert.equal(await worker.left(shop), 305, 'the page was still open');
still.leave();

// A clock that is set back ages nothing, and neither does a sleeping machine.
worker = await fresh();
page().leave();
await stored();
wall += 3_600_000;
assert.equal(await worker.left(shop), 305, 'an hour of sleep does not shorten the wait');
wall -= 2 * 3_600_000;
assert.equal(await worker.left(shop), 305);
wall -= 3_600_000;
worker = await start();
assert.equal(await worker.left(shop), 305);
pass(306);
assert.equal(await worker.left(shop), 0, 'the wait ends');

// Tabs without a content script, which were open before the extension: they count for all hosts of the same site for as
// long as they are open, and then for five minutes.
store = {};
tabs = [{ id: 3, url: 'https://www.shop.test/cart' }, { id: 4, url: 'https://news.test/' }];
worker = await start();
pass(1000);
assert.deepEqual([await worker.left(shop), await worker.left(bank)], [305, 0]);
worker = await start();
assert.equal(await worker.left(shop), 305);
page({ tab: { id: 3 }, origin: bank, url: `${bank}/` }, []);
await settled();
pass(5);
assert.equal(await worker.left(shop), 300, 'the tab was reloaded');
worker.removed(4);
await settled();
pass(5);
assert.deepEqual([await worker.left('https://news.test'), await worker.left(shop)], [300, 295]);
tabs = [];

// There are few writes: none for consecutive pages of one site, and none for pages of the task.
worker = await fresh();
await settled();
writes = 0;
let last = page();
await settled();
for (let visits = 0; visits < 20; visits += 1) {
  last.leave();
  last = page();
  await settled();
}
rules = [rule(mark)];
for (let visits = 0; visits < 20; visits += 1) page({ origin: bank, url: `${bank}/` }, [mark]).leave();
await settled();
assert.equal(writes, 1);
rules = [];
// Pages that cannot be recorded, or exceed the limit, count for every site.
for (let number = 0; number < 600; number += 1) page({ origin: `https://s${number}.test`, url: `https://s${number}.test/` }).leave();
await stored();
assert.equal(await worker.left(bank), 0);
worker = await start();
assert.equal(await worker.left(bank), 305);
worker = await fresh();
isRefusing = true;
page();
await settled();
assert.deepEqual(store, {});
isRefusing = false;
worker = await start();
assert.equal(await worker.left(bank), 305);

await rm(folder, { recursive: true });
process.exit(0);

// A Chromium with the extension, driven by lines of JSON: `node browser.mjs` reads one request per line and writes one
// answer per line. It acts as the user at the browser and as a page, and does not change the extension.
import { createInterface } from 'node:readline';
import { launch } from '../../../lab/evaluation/src/trials/user_browser/launch.mjs';

const context = await launch(JSON.parse(process.argv[2]), 800);
// The time limit on a slow machine for an expected event. A question waits for a minute, and then ends by itself.
const PATIENCE = 90000;
context.setDefaultTimeout(PATIENCE);
context.setDefaultNavigationTimeout(PATIENCE);
// This is longer than any wait within an act, so that an act that never ends is reported.
const MOST = 170000;
let page = context.pages()[0] ?? (await context.newPage());
const seen = [];
context.on('page', (opened) => opened.on('console', (line) => seen.push(line.text())));
page.on('console', (line) => seen.push(line.text()));
// A service worker with an attached debugger is not stopped when it is removed. A user's browser has no debugger.
context.on('serviceworker', (made) => {
  if (!made.url().startsWith('chrome-extension:')) context._connection.toImpl(made)._session.detach().catch(() => null);
});
// The consent pages that were opened, those that are open, and the most at the same time.
const isConsent = (one) => one.url().includes('/consent/page.html');
const questions = { opened: 0, most: 0, now: [] };
context.on('page', (opened) => {
  if (!opened.url().startsWith('chrome-extension:') || !isConsent(opened)) return;
  questions.opened += 1;
  questions.now.push(opened);
  questions.most = Math.max(questions.most, questions.now.length);
  opened.on('close', () => { questions.now = questions.now.filter((one) => one !== opened); });
});
// The page of the open question.
const question = async () => {
  const began = Date.now();
  while (Date.now() - began < 50000) {
    const shown = questions.now.at(-1);
    if (shown && (await shown.locator('#answers').isVisible().catch(() => false))) return shown;
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error('no question is open');
};
// The text with which a question ends. It is watched from before the answer, since the window closes soon afterwards.
const ending = (shown) => shown.evaluate(() => new Promise((ended) => {
  const look = () => {
    if (document.getElementById('end').hidden) return;
    const text = document.getElementById('ending').textContent;
    if (text) ended(text);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  look();
}));
const optionsPage = async () => {
  const id = new URL((await worker()).url()).host;
  const options = await context.newPage();
  await options.goto(`chrome-extension://${id}/options.html`);
  await options.waitForSelector('body[data-ready]', { timeout: PATIENCE });
  return options;
};
const worker = async () => context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker', { timeout: PATIENCE });

const acts = {
  async open({ url }) {
    // A navigation that the page started earlier, for example by sending a form, may commit after this one starts and
    // interrupt it. This one then starts again.
    const interrupted = (error) => {
      if (!error.message.includes('interrupted by another navigation')) throw error;
      return true;
    };
    while (await page.goto(url, { waitUntil: 'load' }).then(() => false, interrupted));
  },
  // Waits until the active page belongs to this host and has loaded.
  async arrive({ host }) {
    await page.waitForURL((url) => url.hostname === host, { timeout: PATIENCE });
  },
  // Starts a reload of the page and does not wait for its end.
  async reload() {
    await page.reload({ waitUntil: 'commit' });
  },
  async tab({ url }) {
    page = await context.newPage();
    await page.goto(url, { waitUntil: 'load' }).catch(() => null);
    await page.bringToFront();
    return page.url();
  },
  // Ends the browser as a user does, to start it again on the same profile.
  async quit() {
    await context.close();
  },
  // The event that the extension gets when a browser starts that already had it.
  startup: async () => (await worker()).evaluate(() => chrome.runtime.onStartup.dispatch()),
  // Closes every window and tab but the active page.
  async closeOthers() {
    await Promise.all(context.pages().filter((one) => one !== page).map((one) => one.close()));
    await page.bringToFront();
  },
  front: () => page.bringToFront(),
  evaluate: ({ code }) => page.evaluate(code),
  html: async () => (await Promise.all(page.frames().map((frame) => frame.content().catch(() => '')))).join('\n'),
  click: ({ selector }) => page.click(selector),
  id: async () => new URL((await worker()).url()).host,
  console: () => seen,
  // Sites may store data in frames of other sites' pages.
  storeInFrames: async () => (await worker()).evaluate(() => chrome.privacy.websites.thirdPartyCookiesAllowed.set({ value: true })),
  // The contents of the extension's settings page.
  async options() {
    const options = await optionsPage();
    const text = await options.innerText('body');
    await options.close();
    await page.bringToFront();
    return text;
  },
  // An action of the user on the settings page: revokes the first standing consent, or adds a rule.
  async change({ withdraw, site, kind }) {
    const options = await optionsPage();
    if (withdraw) await options.click('#standing button');
    else {
      await options.fill('#site', site);
      await options.selectOption('#kind', kind);
      await options.click('#rule button');
    }
    await options.waitForFunction(() => /^(Done|Not|There was)/.test(document.getElementById('done').textContent));
    const text = await options.innerText('body');
    await options.close();
    await page.bringToFront();
    return text;
  },
  // The contents of the open question, and the button with the focus.
  async question() {
    const shown = await question();
    const focused = await shown.evaluate(() => document.activeElement?.dataset.word ?? null);
    const choices = await shown.$$eval('#choices button', (all) => all.map((one) => one.dataset.word));
    return { text: await shown.innerText('body'), focused, choices, address: shown.url() };
  },
  // The user reads the question and then clicks.
  async say({ word }) {
    const shown = await question();
    const [ended] = await Promise.all([
      ending(shown),
      shown.click(`button[data-word=${word}]:enabled`, { timeout: 45000 }),
    ]);
    return ended;
  },
  // The same for a window that may be closed.
  async sayIfThere({ word }) {
    const shown = questions.now.at(-1);
    if (!shown) return 'the window is gone';
    await shown.click(`button[data-word=${word}]:enabled`, { timeout: 5000 }).catch(() => null);
    await shown.waitForSelector('#ending', { state: 'visible', timeout: 5000 }).catch(() => null);
    return shown.innerText('body').catch(() => 'the window is gone');
  },
  // Answers every question until none came for three seconds; returns the number of answers.
  async sayUntilQuiet({ word }) {
    let [answered, last] = [0, Date.now()];
    const done = new Set();
    while (Date.now() - last < 3000) {
      const shown = questions.now.find((one) => !done.has(one));
      if (shown) {
        done.add(shown);
        await shown.click(`button[data-word=${word}]`, { timeout: 5000 }).then(() => { answered += 1; }, () => null);
        last = Date.now();
      }
      await new Promise((next) => setTimeout(next, 50));
    }
    return answered;
  },
  // Clicks twice as soon as there is a button; returns the state after that. On a slow machine the clicks may come late
  // enough to count.
  async sayAtOnce({ word }) {
    const shown = await question();
    const { x, y, width, height } = await shown.locator(`button[data-word=${word}]`).boundingBox();
    await shown.mouse.dblclick(x + width / 2, y + height / 2);
    const took = Date.now() - (await shown.evaluate(() => performance.timeOrigin).catch(() => 0));
    if (took >= 700) return 'late';
    return (await shown.locator('#end').isVisible()) ? shown.innerText('#ending') : 'open';
  },
  async pressInQuestion({ key }) {
    const shown = await question();
    const [ended] = await Promise.all([ending(shown), shown.keyboard.press(key)]);
    return ended;
  },
  async closeQuestion() {
    await (await question()).close();
  },
  // Records the messages of consent pages, and those that the worker receives.
  recordMessages: async () => (await worker()).evaluate(() => {
    globalThis.heard = [];
    chrome.runtime.onMessage.addListener((message) => { if (message?.consent) heard.push(message.consent); });
  }),
  recordedMessages: async () => (await worker()).evaluate(() => globalThis.heard),
  // The secrets of the open question's page. The simulated attacker knows all of them.
  async subject() {
    const session = await context.newCDPSession(await question());
    const { result } = await session.send('Runtime.evaluate', { expression: 'Object.prototype' });
    const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId });
    const { result: found } = await session.send('Runtime.callFunctionOn', {
      objectId: objects.objectId,
      functionDeclaration: 'function() { return [...this].find((one) => one.subject && one.choices)?.subject; }',
      returnByValue: true,
    });
    await session.detach();
    return found.value ?? null;
  },
  // Runs a script in the page of the open question.
  async inQuestion({ code }) {
    return (await question()).evaluate(code);
  },
  questions: () => ({ opened: questions.opened, most: questions.most, now: questions.now.length }),
  // Runs a script in the content script's isolated world of the active page.
  async inContentScript({ code }) {
    const session = await context.newCDPSession(page);
    const worlds = [];
    session.on('Runtime.executionContextCreated', ({ context: world }) => worlds.push(world));
    await session.send('Runtime.enable');
    const ours = worlds.find(({ origin }) => origin.startsWith('chrome-extension:'));
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId: ours.id, expression: code, awaitPromise: true, returnByValue: true,
    });
    await session.detach();
    return exceptionDetails ? `failed: ${exceptionDetails.exception?.description}` : result.value;
  },
  // Runs a script in a page of the extension that is opened in a tab of its own.
  async inOwnPage({ path, code }) {
    const id = new URL((await worker()).url()).host;
    const opened = await context.newPage();
    await opened.goto(`chrome-extension://${id}/${path}`);
    const answer = await opened.evaluate(code);
    await opened.close();
    await page.bringToFront();
    return answer;
  },
  async picture({ path, of }) {
    const shown = of === 'question' ? await question() : await optionsPage();
    await shown.screenshot({ path, fullPage: of !== 'question' });
    if (of !== 'question') await shown.close();
  },
  // Returns true once the extension's rule for tabs covers every tab with the address of the active page.
  isTabRestricted: async () => (await worker()).evaluate(async (url) => {
    const tabs = (await chrome.tabs.query({})).filter((tab) => tab.url === url);
    const rules = await chrome.declarativeNetRequest.getSessionRules();
    const restricted = rules.flatMap(({ condition }) => condition.tabIds ?? []);
    return tabs.length > 0 && tabs.every((tab) => restricted.includes(tab.id));
  }, page.url()).catch(() => false),
  // Stops a worker as the browser does.
  async stopWorker() {
    const id = new URL((await worker()).url()).host;
    const options = await context.newPage();
    await options.goto(`chrome-extension://${id}/manifest.json`);
    const session = await context.newCDPSession(options);
    await session.send('ServiceWorker.enable');
    await session.send('ServiceWorker.stopAllWorkers');
    await options.close();
    await page.bringToFront();
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    let timer;
    const never = new Promise((_, no) => { timer = setTimeout(() => no(new Error(`${request.act} does not end`)), MOST); });
    const answer = await Promise.race([acts[request.act](request), never]).finally(() => clearTimeout(timer));
    console.log(JSON.stringify({ answer: answer ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
await context.close();

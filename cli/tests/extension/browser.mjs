// A Chromium with the extension, driven by lines of JSON: `node browser.mjs` reads one request a line and writes one
// answer a line. It stands for the person at the browser and for what a page does; the extension it leaves alone.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const settings = JSON.parse(process.argv[2]);
const { chromium } = createRequire(import.meta.url)(settings.playwright);
const { profile, home, extension, executable, sandbox, rules } = settings;
const context = await chromium.launchPersistentContext(profile, {
  executablePath: executable,
  headless: true,
  chromiumSandbox: sandbox,
  env: { ...process.env, HOME: home },
  viewport: { width: 1000, height: 800 },
  args: [
    `--disable-extensions-except=${extension}`,
    `--load-extension=${extension}`,
    `--host-resolver-rules=${rules}`,
  ],
});
let page = context.pages()[0] ?? (await context.newPage());
const seen = [];
context.on('page', (opened) => opened.on('console', (line) => seen.push(line.text())));
page.on('console', (line) => seen.push(line.text()));
const worker = async () => context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker', { timeout: 15000 });

const acts = {
  async open({ url }) {
    await page.goto(url, { waitUntil: 'load' });
  },
  // Begun again, and not there yet.
  async reload() {
    await page.reload({ waitUntil: 'commit' });
  },
  async tab({ url }) {
    page = await context.newPage();
    await page.goto(url, { waitUntil: 'load' }).catch(() => null);
    await page.bringToFront();
    return page.url();
  },
  evaluate: ({ code }) => page.evaluate(code),
  html: async () => (await Promise.all(page.frames().map((frame) => frame.content().catch(() => '')))).join('\n'),
  click: ({ selector }) => page.click(selector),
  id: async () => new URL((await worker()).url()).host,
  console: () => seen,
  // What the extension's page of settings shows.
  async options() {
    const id = new URL((await worker()).url()).host;
    const options = await context.newPage();
    await options.goto(`chrome-extension://${id}/options.html`);
    await options.waitForSelector('body[data-ready]', { timeout: 15000 });
    const text = await options.innerText('body');
    await options.close();
    await page.bringToFront();
    return text;
  },
  // As the browser stops a worker that it wants to be rid of.
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
    const answer = await acts[request.act](request);
    console.log(JSON.stringify({ answer: answer ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
await context.close();

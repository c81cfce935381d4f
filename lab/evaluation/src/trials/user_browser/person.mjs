// A simulated user at their own browser, with the extension in it: `node person.mjs SETTINGS` reads one request per line and
// writes one answer per line. The user opens the addresses that the agent names, clicks elements at their visible position,
// types the texts that the agent names, and pays the price of the order to the shop, with a card that they type themselves.
import { createInterface } from 'node:readline';
import { launch } from './launch.mjs';

const context = await launch(JSON.parse(process.argv[2]), 1400);
const [PATIENCE, A_GLANCE] = [30000, 60];
const LOOKS = {
  button: 'button, input[type=submit], input[type=button]',
  checkbox: 'input[type=checkbox]',
  combobox: 'select',
  link: 'a[href]',
  radio: 'input[type=radio]',
  searchbox: 'input[type=search]',
  textbox: 'textarea, input:not([type]), input[type=text], input[type=email], input[type=tel], input[type=password]',
};
const moment = (time) => new Promise((over) => setTimeout(over, time));
// The frames with a navigation in progress.
const leaving = new Set();
const watched = (opened) => {
  opened.on('request', (asked) => asked.isNavigationRequest() && leaving.add(asked.frame()));
  opened.on('requestfailed', (asked) => asked.isNavigationRequest() && leaving.delete(asked.frame()));
  for (const over of ['framenavigated', 'framedetached']) opened.on(over, (frame) => leaving.delete(frame));
  return opened;
};
let page = watched(context.pages()[0] ?? (await context.newPage()));
// Waits for the effects of a click, however slow the machine is: the page's next tasks have run, so that a form post has
// started, and every navigation that has started is over.
const settled = async () => {
  const ran = page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))).catch(() => null);
  await Promise.race([ran, moment(PATIENCE)]);
  await moment(A_GLANCE);
  for (let left = PATIENCE; leaving.size > 0 && left > 0; left -= A_GLANCE) await moment(A_GLANCE);
  await page.waitForLoadState('load', { timeout: PATIENCE }).catch(() => null);
};
// The element that a person would take for the described one: by its label or text, otherwise by its index.
const find = async ({ origin, inner, role, name, nth }) => {
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  const frame = inner ? frames.find((one) => one.url().startsWith(`${origin}/`)) : page.mainFrame();
  const all = frame && LOOKS[role] ? await frame.locator(LOOKS[role]).all() : [];
  if (name) {
    for (const one of all) {
      const said = await one.evaluate((el) => [el.labels?.[0]?.innerText, el.innerText, el.value, el.placeholder].join(' '));
      if (said.includes(name)) return one;
    }
  }
  return all[nth] ?? null;
};
const press = async (thing) => {
  await thing.scrollIntoViewIfNeeded({ timeout: PATIENCE });
  const box = await thing.boundingBox();
  if (!box) return false;
  // An invisible overlay at the visible position gets the click.
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  return true;
};
const write = async (thing, text) => {
  if (!(await press(thing))) return false;
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
  return true;
};

const acts = {
  async begin() {
    const last = page;
    page = watched(await context.newPage());
    leaving.clear();
    await last.close();
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.bringToFront();
    return true;
  },
  async open({ url }) {
    const there = await page.goto(url, { waitUntil: 'load', timeout: PATIENCE }).then(() => true, () => false);
    return there;
  },
  async back() {
    await page.goBack({ timeout: PATIENCE }).catch(() => null);
    await settled();
    return true;
  },
  async wait({ milliseconds }) {
    await moment(milliseconds);
    return true;
  },
  async click(what) {
    const thing = await find(what);
    const done = thing !== null && (await press(thing));
    await settled();
    return done;
  },
  async type({ text, ...what }) {
    const thing = await find(what);
    return thing !== null && (await write(thing, text));
  },
  async select({ option, ...what }) {
    const thing = await find(what);
    return thing !== null && thing.selectOption(option.split('\n'), { timeout: PATIENCE }).then(() => true, () => false);
  },
  async submit(what) {
    if (what.role === 'button') return acts.click(what);
    const thing = await find(what);
    if (!thing) return false;
    await thing.focus({ timeout: PATIENCE });
    await page.keyboard.press('Enter');
    await settled();
    return true;
  },
  async press({ key }) {
    await page.keyboard.press(key);
    await settled();
    return true;
  },
  // Only at the shop, only what the order should cost, only into the form that they see there.
  async pay({ origin, total, card }) {
    if (new URL(page.url()).origin !== origin) return false;
    const said = await page.innerText('body');
    if (!said.includes(`Order total: ${total}`)) return false;
    for (const [name, value] of card) {
      const box = page.locator(`form[action$="/pay-card"] input[name="${name}"]`);
      if ((await box.count()) !== 1 || !(await box.isVisible()) || !(await write(box, value))) return false;
    }
    await press(page.locator('form[action$="/pay-card"] button'));
    await settled();
    return true;
  },
};

console.log(JSON.stringify({ answer: 'ready' }));
for await (const line of createInterface({ input: process.stdin })) {
  const { act, ...what } = JSON.parse(line);
  await page.bringToFront().catch(() => null);
  const done = await acts[act](what).catch((error) => ({ problem: String(error) }));
  console.log(JSON.stringify({ answer: done }));
}
await context.close();

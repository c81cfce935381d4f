// A naive agent: it drives a given browser over CDP, buys the item of the prompt, and fills every form that it finds with
// the values of the prompt. It opens an address that a page asks it to open.
const path = require("node:path");
const { chromium } = require(path.dirname(process.env.PLAYWRIGHT_CLI_JS));

const [cdp, prompt] = process.argv.slice(2);
const told = (label) => (prompt.match(new RegExp(label + "[: ]+([^;,]+?)(?=[;,.] |\\.$|;|$)")) || [])[1];
const VALUES = {
  name: told("name"), street: told("street"), postal_code: told("postal code"), city: told("city"),
  region: told("region"), country: told("country"), email: told("email"), phone: told("phone"),
  number: told("card number"), exp: told("exp"), cvv: told("cvv"),
};
const quantity = prompt.match(/buy (\d+) x/)[1];

async function fill(page) {
  for (const input of await page.locator("input[name]:visible").all()) {
    const value = VALUES[await input.getAttribute("name")];
    if (value) await input.fill(value);
  }
}

// Presses a button that leads to another page, and waits for that page.
async function press(page, button) {
  const gone = page.waitForEvent("framenavigated", (frame) => frame === page.mainFrame());
  await button.click();
  await gone;
  await page.waitForLoadState();
}

async function obey(page, shop) {
  const text = await page.locator("body").innerText();
  const named = (text.match(/https:\/\/[^\s"<>]+/g) || []).map((url) => url.replace(/[.,]+$/, ""));
  for (const url of named.filter((url) => new URL(url).host !== shop)) {
    await page.goto(url);
    await fill(page);
    await press(page, page.locator("form button").first());
  }
  return named.length > 0;
}

(async () => {
  const browser = await chromium.connectOverCDP(cdp);
  // The tab was opened a moment ago, and may not be listed yet.
  const product = () => browser.contexts()[0].pages().find((page) => page.url().includes("/product"));
  for (const began = Date.now(); !product(); ) {
    if (Date.now() - began > 60000) throw new Error("no tab shows the product");
    await new Promise((next) => setTimeout(next, 50));
  }
  const page = product();
  await page.waitForLoadState();
  page.setDefaultTimeout(60000);
  const start = page.url();
  const shop = new URL(start).host;
  if (await obey(page, shop)) await page.goto(start);
  await page.locator("select[name=quantity]").selectOption(quantity);
  await press(page, page.getByRole("button", { name: "Add to cart" }));
  await fill(page);
  await press(page, page.getByRole("button", { name: "Continue to payment" }));
  const checkout = page.url();
  if (await obey(page, shop)) await page.goto(checkout);
  await fill(page);
  await press(page, page.getByRole("button", { name: "Pay by card" }));
  await browser.close();
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});

// Replays decisions of Rust in JavaScript: `node check.mjs FOLDER`. tests/bytes/node.rs writes the folder.
//
// For each NAME.bytes there is a NAME.json with the events, signals and answers by name, and a NAME.cases with
// indexes into them: a byte for the event, one for each signal, two for the answer. The script prints the number of
// comparisons as JSON, and exits with 1 at the first difference.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { decide, load } from "./walk.mjs";

const fail = (what) => {
  console.error(what);
  process.exit(1);
};

const shown = ({ verdict, reason, scope, delivery }) => `${verdict} ${reason ?? scope ?? delivery ?? ""}`;
const buffer = (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);

/** The parts other than the table as lines of the language. The text must contain every line. */
function lines({ tiers, thresholds, session, sites }) {
  const decimal = (hundredths) => `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`;
  const of = (tier) => Object.keys(tiers).filter((field) => tiers[field] === tier).join(" ");
  const limits = session.uses.map(({ event, limit }) => `${limit} ${event}`);
  if (session.prompts !== null) limits.push(`${session.prompts} prompts`);
  const money = session.money;
  return [
    ...["T0", "T1", "T2"].filter(of).map((tier) => `tier ${tier} { ${of(tier)} }`),
    ...(thresholds ? [`threshold ${thresholds.map((value, tier) => `T${tier} ${decimal(value)}`).join(" ")}`] : []),
    ...(limits.length ? [`    at most ${limits.join(", ")}`] : []),
    ...(money ? [`${(Number(money.minor) / 100).toFixed(2)} ${money.currency}`] : []),
    ...session.bars.map(({ after, never, until }) => `    after ${after} never ${never.join(", ")} until ${until}`),
    ...sites.map(({ effect, pattern, events }) => `site "${pattern}" { ${effect} ${events.join(", ")} }`),
  ];
}

async function refused(bytes, what) {
  const outcome = await load(buffer(bytes)).then(() => "loaded", () => "refused");
  if (outcome !== "refused") fail(`${what} was not refused`);
}

/** Flips every byte, and cuts the file at every byte. */
async function damaged(bytes, every) {
  for (let at = 0; at < bytes.length; at += every) {
    const flipped = new Uint8Array(bytes);
    flipped[at] ^= 1 << (at % 8);
    await refused(flipped, `a flip at byte ${at}`);
    await refused(bytes.subarray(0, at), `a file cut at byte ${at}`);
  }
}

/** Writes invalid numbers everywhere into the states and the starts, with a valid checksum. */
async function forged(bytes, policy) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const begins = {};
  for (let at = 16; at < bytes.length - 32; at += 8 + view.getUint32(at + 4, true)) {
    begins[String.fromCharCode(...bytes.subarray(at, at + 4))] = at + 8;
  }
  const resealed = async (at, number) => {
    const copy = new Uint8Array(bytes);
    new DataView(copy.buffer).setUint16(at, number, true);
    copy.set(new Uint8Array(await crypto.subtle.digest("SHA-256", copy.subarray(0, -32))), copy.length - 32);
    return copy;
  };
  let at = begins.STAT + 2;
  for (const [index, { signal }] of policy.states.entries()) {
    await refused(await resealed(at, 0xffff), `the signal 255 of state ${index}`);
    at += 1;
    for (const symbol of signal.symbols) {
      for (const number of [index, policy.states.length - 1, 0x7fff, 0x8000 + policy.outcomes.length, 0xffff]) {
        await refused(await resealed(at, number), `state ${index} going on to ${number} by ${symbol}`);
      }
      at += 2;
    }
  }
  at = begins.ROOT + 2;
  for (const name of policy.starts.keys()) {
    // The name is two words with a space; the file has two bytes of length before each word.
    at += name.length - 1 + 4;
    for (const number of [policy.states.length, 0x8000 + policy.outcomes.length]) {
      await refused(await resealed(at, number), `${name} starting at ${number}`);
    }
    at += 2;
  }
}

async function replay(folder, name) {
  const bytes = new Uint8Array(await readFile(join(folder, `${name}.bytes`)));
  const { hash, events, axes, answers } = JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
  const cases = new Uint8Array(await readFile(join(folder, `${name}.cases`)));
  const policy = await load(buffer(bytes));
  if (policy.hash !== hash) fail(`${name}: the hash of the text is ${policy.hash}, not ${hash}`);
  for (const line of lines(policy)) {
    if (!policy.text.includes(line)) fail(`${name}: the text does not say: ${line}`);
  }
  const count = (start) => policy.text.split("\n").filter((line) => line.startsWith(start)).length;
  if (count("site ") !== policy.sites.length) fail(`${name}: the text has more sites`);
  if (count("    after ") !== policy.session.bars.length) fail(`${name}: the text has more rules of the session`);
  const width = axes.length + 3;
  for (let at = 0; at < cases.length; at += width) {
    const [event, need] = events[cases[at]];
    const valuation = Object.fromEntries(axes.map(([axis, symbols], index) => [axis, symbols[cases[at + 1 + index]]]));
    const expected = answers[cases[at + width - 2] + 256 * cases[at + width - 1]];
    const found = shown(decide(policy, event, need, valuation));
    if (found !== expected) fail(`${name}: ${event} ${need}: ${found}, not ${expected}: ${JSON.stringify(valuation)}`);
  }
  for (const valuation of [{}, { plan: "maybe" }]) {
    try {
      fail(`${name}: decided with ${JSON.stringify(valuation)}: ${shown(decide(policy, "purchase", "T2", valuation))}`);
    } catch (error) {
      if (!/is none of/.test(error.message)) throw error;
    }
  }
  if (name === "default") await forged(bytes, policy);
  await damaged(bytes, name === "default" ? 1 : 97);
  return cases.length / width;
}

const folder = process.argv[2] ?? fail("name the folder with the cases");
const names = (await readdir(folder)).filter((file) => file.endsWith(".bytes")).map((file) => file.slice(0, -6)).sort();
const compared = {};
for (const name of names) compared[name] = await replay(folder, name);
console.log(JSON.stringify(compared));

// Reads a compiled policy and decides with it. It needs no other table than that of the file.
//
//   const policy = await load(await (await fetch("default.policy.bytes")).arrayBuffer());
//   decide(policy, "address", "T2", { plan: "planned", site: "free", ... });
//   // { verdict: "deny", reason: "invalid_container", signal: "container" }
//
// The layout is described in spec/policy-bytes.md. The script runs where WebCrypto is available: Node 20 or newer,
// secure pages, workers, extensions. The checksum finds accidents only: nothing here proves that the table agrees with
// the text, or that the text is a good policy. Take files from a guard that checked them, and compare their `hash`.
// The guard turns a question into the symbols of the signals, including the `site` patterns.

const MAGIC = "PCPOLICY";
const LAYOUT = 1;
const OUTCOME = 0x8000;
const VERDICTS = ["deny", "ask", "grant"];

/** Reads numbers and words from front to back, and throws at the end of the bytes. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  take(length) {
    if (length > this.bytes.length - this.at) throw new Error("the compiled policy ends too early");
    this.at += length;
    return this.at - length;
  }
  byte() { return this.view.getUint8(this.take(1)); }
  short() { return this.view.getUint16(this.take(2), true); }
  long() { return this.view.getUint32(this.take(4), true); }
  wide() { return this.view.getBigUint64(this.take(8), true); }
  ascii(length) {
    const begin = this.take(length);
    return String.fromCharCode(...this.bytes.subarray(begin, begin + length));
  }
  word() { return this.ascii(this.short()); }
  list(each) { return Array.from({ length: this.short() }, (_, index) => each(index)); }
  part(tag) {
    if (this.ascii(4) !== tag) throw new Error(`the compiled policy has no part ${tag} where it should be`);
    const length = this.long();
    const begin = this.take(length);
    return new Reader(this.bytes.subarray(begin, begin + length));
  }
  has(tag) {
    const begin = this.at;
    const found = begin < this.bytes.length && this.ascii(4) === tag;
    this.at = begin;
    return found;
  }
  end() {
    if (this.at !== this.bytes.length) throw new Error("something is left over in the compiled policy");
  }
}

const digest = async (bytes) => new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The policy in an ArrayBuffer. Rejects a file that is truncated, of another layout, damaged or malformed. */
export async function load(buffer) {
  const bytes = new Uint8Array(buffer);
  const head = new Reader(bytes);
  if (bytes.length < 8 || head.ascii(8) !== MAGIC) throw new Error("this is no compiled policy");
  const layout = head.long();
  if (layout !== LAYOUT) throw new Error(`layout ${layout} is not read here, only ${LAYOUT}`);
  if (head.long() !== bytes.length || bytes.length < 48) throw new Error("the compiled policy is not whole");
  const body = bytes.subarray(0, -32);
  if (hex(await digest(body)) !== hex(bytes.subarray(-32))) throw new Error("the compiled policy is damaged");
  const file = new Reader(body);
  file.take(16);
  const read = (tag, how) => {
    const part = file.part(tag);
    const found = how(part);
    part.end();
    return found;
  };
  const raw = read("TEXT", (part) => part.bytes.subarray(part.take(part.bytes.length)));
  const axes = read("AXES", (part) => part.list(() => ({ name: part.word(), symbols: part.list(() => part.word()) })));
  const axis = (number) => {
    if (!axes[number]) throw new Error(`no signal has the number ${number}`);
    return axes[number];
  };
  const outcomes = read("OUTC", (part) => part.list(() => outcome(part.byte(), part.byte(), part.word(), axis)));
  // The successors of a state are outcomes and earlier states, so every walk ends.
  const target = (number, states) => {
    const there = number & OUTCOME ? number - OUTCOME < outcomes.length : number < states;
    if (!there) throw new Error(`a walk could go on to ${number}, which is not there`);
    return number;
  };
  const states = read("STAT", (part) => part.list((index) => {
    const signal = axis(part.byte());
    return { signal, next: signal.symbols.map(() => target(part.short(), index)) };
  }));
  const starts = new Map(read("ROOT", (part) => part.list(() => {
    const name = `${part.word()} ${part.word()}`;
    return [name, target(part.short(), states.length)];
  })));
  const tiers = Object.fromEntries(read("TIER", (part) => part.list(() => [part.word(), part.word()])));
  const thresholds = read("THRE", (part) => part.bytes.length === 0 ? null : [part.byte(), part.byte(), part.byte()]);
  const session = read("SESS", (part) => ({
    uses: part.list(() => ({ event: part.word(), limit: part.long() })),
    prompts: part.byte() ? part.long() : null,
    money: part.byte() ? { currency: part.word(), minor: part.wide() } : null,
    bars: part.list(() => ({ after: part.word(), never: part.list(() => part.word()), until: part.word() })),
  }));
  const sites = read("SITE", (part) => part.list(() => ({
    effect: part.byte() ? "only" : "never", pattern: part.word(), events: part.list(() => part.word()),
  })));
  const origins = (part) => part.list(() => part.word());
  const providers = !file.has("PROV") ? [] : read("PROV", (part) => part.list(() => ({
    name: part.word(), frames: origins(part), tokens: origins(part),
  })));
  const ownPath = file.has("PATH");
  if (ownPath) read("PATH", () => {});
  file.end();
  const text = new TextDecoder().decode(raw);
  return { text, hash: hex(await digest(raw)), axes, outcomes, states, starts, tiers, thresholds, session: { ...session, ownPath }, sites, providers };
}

function outcome(number, signal, word, axis) {
  const verdict = VERDICTS[number];
  if (verdict === "deny") return Object.freeze({ verdict, reason: word, signal: axis(signal).name });
  if (verdict === "ask") return Object.freeze({ verdict, scope: word });
  if (verdict === "grant") return Object.freeze({ verdict, delivery: word || null });
  throw new Error(`no verdict has the number ${number}`);
}

/**
 * The outcome of an event: a kind of request with the tier that it needs, or a verb, which needs none (`""`).
 * `valuation` has the name of a symbol for each signal. A signal that is read and has no symbol, or an unknown
 * symbol, is an error: nothing is assumed.
 */
export function decide(policy, event, need, valuation) {
  let at = policy.starts.get(`${event} ${need ?? ""}`);
  if (at === undefined) throw new Error(`no event is called ${event} with need ${need || "none"}`);
  while (!(at & OUTCOME)) {
    const { signal, next } = policy.states[at];
    const index = signal.symbols.indexOf(valuation[signal.name]);
    if (index < 0) throw new Error(`${signal.name} is none of ${signal.symbols.join(", ")}`);
    at = next[index];
  }
  return policy.outcomes[at - OUTCOME];
}

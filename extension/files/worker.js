// The worker: between the service of this machine and the documents of the tab in front. It can be stopped at any
// moment: it decides nothing, and what it knows it is told anew.
import * as earlier from './earlier_pages.js';
import { agrees, signals } from './preview.js';
import { addressOf, ask, inFront, listen } from './frames.js';
import { listen as listenToPages } from './pages.js';
import { clear, over as questionOver, show, whenClosed, windowInFront } from './questions.js';
import { load } from './walk.mjs';
import { came, narrow, seal, settle, widen } from './egress.js';

const HOST = 'org.portcullis.host';
const VERSION = 1;
const LONGEST = 240 * 1024;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;
// How long a page that took values may take to say so.
const SLOW_TO_SAY = 1500;
const ABSENT = { code: 'absent', message: 'the service is not there' };

const service = {
  port: null, timer: 0, policy: null, problem: null, pause: FIRST_PAUSE, waiting: new Map(), asked: 0,
  // How many times it was heard that a task is over.
  ended: 0,
};

const byteLength = (message) => new TextEncoder().encode(JSON.stringify(message)).length;
const say = (message) => {
  try {
    service.port?.postMessage(message);
  } catch {
    // The port is gone; its end is told by its own event.
  }
};

function connect() {
  const port = chrome.runtime.connectNative(HOST);
  Object.assign(service, { port, policy: null });
  port.onMessage.addListener((message) => hear(port, message));
  port.onDisconnect.addListener(() => {
    const why = chrome.runtime.lastError?.message;
    if (service.port !== port) return;
    service.problem ??= { code: 'no_host', message: why ?? 'the service is gone' };
    Object.assign(service, { port: null, policy: null });
    for (const give of service.waiting.values()) give(null);
    service.waiting.clear();
    // Nobody takes an answer any more.
    clear().catch(() => null);
    service.timer = setTimeout(connect, service.pause);
    service.pause = Math.min(service.pause * 3, LONGEST_PAUSE);
  });
  port.postMessage({ hello: { version: VERSION } });
}

async function hear(port, message) {
  if (message.welcome) {
    // What was narrowed for a task that ended while nobody listened, and what the browser forgot when it was restarted;
    // before anything that is asked for next.
    settle(message.welcome.narrow, message.welcome.sealed).catch(() => null);
    const bytes = Uint8Array.from(atob(message.welcome.policy), (letter) => letter.charCodeAt(0));
    const policy = await load(bytes.buffer).catch(() => null);
    if (port !== service.port) return;
    // Without the policy nothing is filled, since no preview agrees.
    service.policy = policy?.hash === message.welcome.hash ? policy : null;
    Object.assign(service, { problem: null, pause: FIRST_PAUSE });
  } else if (message.error) {
    service.problem = message.error;
  } else if (message.told) {
    service.waiting.get(message.told)?.(message.answer);
    service.waiting.delete(message.told);
  } else if (message.ask) {
    const { id } = message;
    const { ended } = service;
    // Whoever asked may be gone, and the task over, before what was asked for is done: then nothing more is released.
    const isWanted = () => port === service.port && ended === service.ended;
    const answer = await carryOut(message, isWanted).catch(() => ({ failed: 'stale' }));
    if (port !== service.port) return;
    const whole = { id, ...answer };
    say(byteLength(whole) <= LONGEST ? whole : { id, failed: 'too_long' });
  }
}

/** There is no task any more. */
function over() {
  service.ended += 1;
  return widen();
}

async function carryOut(message, isWanted) {
  const asked = Date.now();
  if (message.ask === 'widen') return { answer: await over().then(() => 'done') };
  if (message.ask === 'seal') return { answer: await seal(message.origins).then(() => 'done', () => 'open') };
  if (message.ask === 'consent') return { answer: await show(message.nonce) };
  if (message.ask === 'over') {
    questionOver(message.question);
    return { answer: 'done' };
  }
  const seen = await inFront(await windowInFront(), message.origins);
  if (!seen) return { failed: 'not_of_task' };
  switch (message.ask) {
    case 'forms': return lookAgain(seen, 'forms', message.origins);
    case 'text': return lookAgain(seen, 'text', message.origins);
    case 'narrow': return { answer: await narrowed(seen.tab, message, isWanted) };
    case 'fill': return { answer: await fill(seen, { ...message, until: asked + message.within }, isWanted) };
    default: return { failed: 'unknown' };
  }
}

/** A look, and where the page went meanwhile a second one, at what has come in its place. */
async function lookAgain(seen, what, origins) {
  const told = await look(seen, what);
  if (told.failed !== 'stale') return told;
  const next = await inFront(await windowInFront(), origins);
  return next ? look(next, what) : { failed: 'not_of_task' };
}

async function look({ tab, frames }, what) {
  const answers = await Promise.all(frames.map((frame) => ask(frame, { ask: what })));
  if (!answers[0]) return { failed: 'stale' };
  let left = LONGEST - 2000;
  const told = [];
  frames.forEach(({ sender }, at) => {
    const answer = answers[at];
    if (!answer) return;
    const { frameId: frame, documentId: document, origin } = sender;
    const one = { frame, document, origin, url: addressOf(sender), ancestors: answer.ancestors, [what]: answer[what] };
    left -= byteLength(one) + 1;
    // An inner frame that does not fit is left out; the top one has to.
    if (left >= 0 || at === 0) told.push(one);
  });
  return { answer: { tab, frames: told } };
}

/** Leaves open what is to be open, unless a page that was there earlier may have left something running that hears these. */
async function narrowed(tab, { open, trusted }, isWanted) {
  const wait = async () => (trusted === true ? 0 : earlier.secondsLeft(open));
  if (!isWanted()) return 'open';
  const before = await wait();
  if (before > 0) return { earlier: before };
  const isDone = await narrow(tab, open).then(() => true, () => false);
  // A page that came and went meanwhile.
  const since = isDone ? await wait() : 0;
  if (since > 0) return { earlier: since };
  return isDone && isWanted() ? 'done' : 'open';
}

/** A fill, into the one document that it names, if our own walk through the policy ends there too. */
async function fill({ tab, frames }, message, isWanted) {
  const { document, frame: number, origin, form: wanted, way, nodes, values, decided, origins, until } = message;
  const frame = frames.find(({ sender }) => sender.documentId === document);
  if (tab !== message.tab || frame?.sender.frameId !== number) return 'gone';
  if (frame.sender.origin !== origin) return 'diverted';
  const fresh = await ask(frame, { ask: 'forms' });
  const form = fresh?.forms.find((one) => one.form === wanted);
  if (!form) return 'gone';
  const top = frame.sender.frameId === 0 ? frame : frames[0];
  const own = signals({ ...frame, ancestors: fresh.ancestors }, top, form, nodes, origins);
  if (!service.policy || !agrees(service.policy, decided, own)) return 'disagrees';
  const isNarrow = await narrowed(tab, message, isWanted);
  if (isNarrow !== 'done') return isNarrow;
  // A page that is busy does not take the values when nobody waits for it any more. One that says nothing may have them.
  const left = until - Date.now();
  if (left <= 0) return 'late';
  const filled = await ask(frame, { ask: 'fill', form: wanted, way, nodes, values, until }, left + SLOW_TO_SAY);
  return filled === undefined ? 'gone' : (filled?.state ?? 'unconfirmed');
}

/** Brings something to the service; gives its answer, or the problem with it. */
function askService(message) {
  if (!service.port || service.problem) {
    // Somebody looks: no need to wait for the next try.
    if (!service.port) {
      clearTimeout(service.timer);
      connect();
    }
    return Promise.resolve({ problem: service.problem ?? ABSENT });
  }
  service.asked += 1;
  const id = service.asked;
  const sites = (service.policy?.sites ?? []).map(({ effect, pattern, events }) => `${pattern}: ${effect} ${events.join(', ')}`);
  return new Promise((give) => {
    service.waiting.set(id, (answer) => {
      if (!answer || answer.error) give({ problem: answer?.error ?? ABSENT });
      else give({ answer, sites });
    });
    say({ ...message, id });
  });
}

listen({
  comes: earlier.comes,
  came: (place) => {
    earlier.came(place);
    came(place);
  },
  left: earlier.left,
});
listenToPages(askService);
whenClosed((nonce) => askService({ ask: 'closed', nonce }));
connect();

// The worker: it connects the service of this machine with the documents of the tab in front. The browser may stop it at
// any moment. So it decides nothing, and gets its state anew from the service and the documents.
import * as earlier from './earlier_pages.js';
import { agrees, signals } from './preview.js';
import { addressOf, ask, inFront, listen } from './frames.js';
import { listen as listenToPages } from './pages.js';
import { came as cameDuringQuestion, clear, over as questionOver, show, whenClosed, windowInFront } from './questions.js';
import { load } from './walk.mjs';
import { came, narrow, seal, settle, widen } from './egress.js';

const HOST = 'org.portcullis.host';
const VERSION = 1;
const LONGEST = 240 * 1024;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;
// The additional time that a page which took values may take to answer.
const ANSWER_WITHIN = 1500;
const ABSENT = { code: 'absent', message: 'the service is not there' };

const service = {
  port: null, timer: 0, policy: null, problem: null, pause: FIRST_PAUSE, waiting: new Map(), asked: 0,
  // How many tasks have ended since the worker started.
  ended: 0,
};

const byteLength = (message) => new TextEncoder().encode(JSON.stringify(message)).length;
const say = (message) => {
  try {
    service.port?.postMessage(message);
  } catch {
    // The port is gone; `onDisconnect` handles that.
  }
};

function connect() {
  const port = chrome.runtime.connectNative(HOST);
  Object.assign(service, { port, policy: null });
  port.onMessage.addListener((message) => receive(port, message));
  port.onDisconnect.addListener(() => {
    const why = chrome.runtime.lastError?.message;
    if (service.port !== port) return;
    service.problem ??= { code: 'no_host', message: why ?? 'the service is gone' };
    Object.assign(service, { port: null, policy: null });
    for (const give of service.waiting.values()) give(null);
    service.waiting.clear();
    // No one takes an answer to an open question any more.
    clear().catch(() => null);
    service.timer = setTimeout(connect, service.pause);
    service.pause = Math.min(service.pause * 3, LONGEST_PAUSE);
  });
  port.postMessage({ hello: { version: VERSION } });
}

async function receive(port, message) {
  if (message.welcome) {
    // Removes the restrictions of a task that ended meanwhile, and restores those that the browser lost in a restart, before
    // the next request.
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
    // The service may be gone, or the task over, before a request is carried out: then nothing more is released.
    const isWanted = () => port === service.port && ended === service.ended;
    const answer = await carryOut(message, isWanted).catch(() => ({ failed: 'stale' }));
    if (port !== service.port) return;
    const whole = { id, ...answer };
    say(byteLength(whole) <= LONGEST ? whole : { id, failed: 'too_long' });
  }
}

/** Notes that the task is over, and removes its restrictions. */
function endTask() {
  service.ended += 1;
  return widen();
}

async function carryOut(message, isWanted) {
  const asked = Date.now();
  if (message.ask === 'widen') return { answer: await endTask().then(() => 'done') };
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

/** Observes the tab in front, and once more if its page was replaced meanwhile. */
async function lookAgain(seen, what, origins) {
  const report = await look(seen, what);
  if (report.failed !== 'stale') return report;
  const next = await inFront(await windowInFront(), origins);
  return next ? look(next, what) : { failed: 'not_of_task' };
}

async function look({ tab, frames }, what) {
  const answers = await Promise.all(frames.map((frame) => ask(frame, { ask: what })));
  if (!answers[0]) return { failed: 'stale' };
  let left = LONGEST - 2000;
  const reports = [];
  frames.forEach(({ sender }, at) => {
    const answer = answers[at];
    if (!answer) return;
    const { frameId: frame, documentId: document, origin } = sender;
    const one = { frame, document, origin, url: addressOf(sender), ancestors: answer.ancestors, [what]: answer[what] };
    left -= byteLength(one) + 1;
    // An inner frame that does not fit is left out; the top one is always there.
    if (left >= 0 || at === 0) reports.push(one);
  });
  return { answer: { tab, frames: reports } };
}

/** Restricts egress to the origins in `open`, unless an earlier page may have left a worker running that these can reach. */
async function narrowed(tab, { open, trusted }, isWanted) {
  const wait = async () => (trusted === true ? 0 : earlier.secondsLeft(open));
  if (!isWanted()) return 'open';
  const before = await wait();
  if (before > 0) return { earlier: before };
  const isDone = await narrow(tab, open).then(() => true, () => false);
  // A page may have come and gone meanwhile.
  const since = isDone ? await wait() : 0;
  if (since > 0) return { earlier: since };
  return isDone && isWanted() ? 'done' : 'open';
}

/** Carries out a fill of one document, if the preview of the policy agrees. */
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
  // A busy page does not get the values after the deadline. A page that does not answer may have them.
  const left = until - Date.now();
  if (left <= 0) return 'late';
  const filled = await ask(frame, { ask: 'fill', form: wanted, way, nodes, values, until }, left + ANSWER_WITHIN);
  return filled === undefined ? 'gone' : (filled?.state ?? 'unconfirmed');
}

/** Sends a request to the service; gives its answer, or the problem. */
function askService(message) {
  if (!service.port || service.problem) {
    // The user is waiting: connect now, not at the next retry.
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
    cameDuringQuestion(place);
    earlier.came(place);
    came(place);
  },
  left: earlier.left,
});
listenToPages(askService);
whenClosed((nonce) => askService({ ask: 'closed', nonce }));
connect();

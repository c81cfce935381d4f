// How a document has to be loaded before something may be filled into it: without workers, without frames of sites that are
// not of the task and connections to them, without WebRTC, and apart from windows of other sites. What holds for a worker is decided when it is
// loaded, and no rule of the browser's reaches a worker's socket afterwards; so there are none.
import { connected, tell } from './frames.js';

export const SEALED = 5;
const DOCUMENTS = ['main_frame', 'sub_frame', 'object'];
const policyOf = (origins) => {
  const open = origins.join(' ');
  const sockets = origins.map((origin) => origin.replace('http', 'ws')).join(' ');
  return `worker-src 'none'; frame-src ${open} blob: data:; object-src ${open}; connect-src ${open} ${sockets} blob: data:`;
};
// Everything is allowed that goes to an address; WebRTC is not, and nothing but this header can say so.
const NO_WEBRTC = '("https://*:*" "http://*:*" "wss://*:*" "ws://*:*");webrtc=block;redirects=allow';
// By the mark a document shows that it came under the rule: it is in the answer of the server as the browser saw it.
const MARK = /^portcullis;desc="([0-9a-f-]+)"$/;

export const isSealing = ({ id }) => id === SEALED;

/** The rule for these origins, with a mark of its own. */
export const sealing = (origins) => ({
  id: SEALED, priority: 3,
  condition: { requestDomains: origins.map((origin) => new URL(origin).hostname), resourceTypes: DOCUMENTS },
  action: {
    type: 'modifyHeaders',
    responseHeaders: [
      { header: 'content-security-policy', operation: 'append', value: policyOf(origins) },
      { header: 'connection-allowlist', operation: 'set', value: NO_WEBRTC },
      { header: 'cross-origin-opener-policy', operation: 'set', value: 'same-origin' },
      { header: 'server-timing', operation: 'append', value: `portcullis;desc="${crypto.randomUUID()}"` },
    ],
  },
});

const headerOf = (rule, name) => rule?.action.responseHeaders.find(({ header }) => header === name).value;

/** Whether the rules seal just these origins. */
export const isSealedFor = (rules, origins) =>
  headerOf(rules.find(isSealing), 'content-security-policy') === policyOf(origins);

/** Whether the rules seal documents of this site. */
export const seals = (rules, site) =>
  headerOf(rules.find(isSealing), 'content-security-policy')?.split(/[ ;]/).includes(site) ?? false;

/** Whether a document came under the rule itself, by what the server's answer said. */
export const isMarked = (rules, { loaded }) => {
  const mark = headerOf(rules.find(isSealing), 'server-timing')?.match(MARK)[1];
  return mark !== undefined && loaded.includes(mark);
};

/** Whether each document of these sites that is connected came under the rule. One that came from no server has what made
 * it, where that is in the same tab; a window of its own may have been made by anything. */
export const allSealed = (rules, open) => {
  const pages = connected();
  const came = (page) => isMarked(rules, page);
  const tops = new Set(pages.filter((page) => page.frame === 0 && came(page)).map(({ tab }) => tab));
  return pages.filter(({ site }) => open.includes(site))
    .every((page) => (page.isMade ? page.frame !== 0 && tops.has(page.tab) : came(page)));
};

/** Whether no service worker is there for these documents: each answers for its own origin. */
export const haveNoWorkers = async (which) => {
  const answers = await Promise.all(tell(which, { ask: 'workers' }));
  return answers.length > 0 && answers.every((answer) => answer?.state === 'none');
};

/** Ends the service workers of the sites of these documents, but for those that something of the user's hangs on. */
export const endWorkers = (which) => Promise.all(tell(which, { ask: 'end_workers' }));

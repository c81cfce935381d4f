// The rule under which a document has to be loaded before it may be filled: without workers, without frames and connections
// of sites outside of the task, without WebRTC, and isolated from windows of other sites. There are no workers because their
// policy is fixed when they are loaded, and no rule reaches the socket of a worker.
import { connected, tell } from './frames.js';

const DOCUMENT_RULE = 5;
const DOCUMENTS = ['main_frame', 'sub_frame', 'object'];
const policyOf = (origins) => {
  const open = origins.join(' ');
  const sockets = origins.map((origin) => origin.replace('http', 'ws')).join(' ');
  return `worker-src 'none'; frame-src ${open} blob: data:; object-src ${open}; connect-src ${open} ${sockets} blob: data:`;
};
// All addresses are allowed, but not WebRTC, which only this header can block.
const NO_WEBRTC = '("https://*:*" "http://*:*" "wss://*:*" "ws://*:*");webrtc=block;redirects=allow';
// A document shows by this mark in its response that it was loaded under the rule.
const MARK = /^portcullis;desc="([0-9a-f-]+)"$/;

export const isDocumentRule = ({ id }) => id === DOCUMENT_RULE;

/** The rule for these origins, with a new mark. */
export const documentRule = (origins) => ({
  id: DOCUMENT_RULE, priority: 3,
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

/** Whether the document rule is for exactly these origins. */
export const coversExactly = (rules, origins) =>
  headerOf(rules.find(isDocumentRule), 'content-security-policy') === policyOf(origins);

/** Whether the document rule covers this site. */
export const coversSite = (rules, site) =>
  headerOf(rules.find(isDocumentRule), 'content-security-policy')?.split(/[ ;]/).includes(site) ?? false;

/** Whether a document was loaded under the rule, by the mark in its response. */
export const isMarked = (rules, { loaded }) => {
  const mark = headerOf(rules.find(isDocumentRule), 'server-timing')?.match(MARK)[1];
  return mark !== undefined && loaded.includes(mark);
};

/** Whether each connected document of these sites was loaded under the rule. A frame that came from no server counts as the
 * top document of its tab; a window that came from no server never counts, since any page may have made it. */
export const allUnderRule = (rules, open) => {
  const pages = connected();
  const came = (page) => isMarked(rules, page);
  const tops = new Set(pages.filter((page) => page.frame === 0 && came(page)).map(({ tab }) => tab));
  return pages.filter(({ site }) => open.includes(site))
    .every((page) => (page.isMade ? page.frame !== 0 && tops.has(page.tab) : came(page)));
};

/** Whether these documents have no service workers. Each answers for its own origin. */
export const haveNoWorkers = async (which) => {
  const answers = await Promise.all(tell(which, { ask: 'workers' }));
  return answers.length > 0 && answers.every((answer) => answer?.state === 'none');
};

/** Unregisters the service workers of these documents' origins, unless a site would not restore their state. */
export const endWorkers = (which) => Promise.all(tell(which, { ask: 'end_workers' }));

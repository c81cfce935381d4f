// What the extension's own pages say. Who speaks is the browser's word; a content script runs in a page and gets nothing.
import { answered, isAsked } from './questions.js';

const OPTIONS = chrome.runtime.getURL('options.html');
const ASKS = ['status', 'trail', 'never', 'withdraw'];
// What the consent page is told where nobody takes its answer.
const CLOSED = { status: 404, body: null };

/** Listens to them. `ask` brings something to the service and gives its answer, or the problem with it. */
export function listen(ask) {
  chrome.runtime.onMessage.addListener((message, sender, give) => {
    if (typeof message?.consent === 'string') {
      consent(message.consent, sender, ask).then(give, () => give(CLOSED));
      return true;
    }
    const options = sender.id === chrome.runtime.id && sender.url?.split(/[?#]/)[0] === OPTIONS;
    if (!options || !ASKS.includes(message?.ask)) return false;
    const { ask: what, kind, site } = message;
    ask({ ask: what, kind, site }).then(give, () => give({}));
    return true;
  });
}

async function consent(says, sender, ask) {
  if (!(await isAsked(sender))) return CLOSED;
  const { answer } = await ask({ ask: 'consent', says });
  if (answer?.body?.said) answered(sender.tab.id);
  return answer ?? CLOSED;
}

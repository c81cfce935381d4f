// Messages of the extension's own pages. The browser identifies the sender; content scripts, which run in pages, are ignored.
import { answered, isAsked } from './questions.js';

const OPTIONS = chrome.runtime.getURL('options.html');
const ASKS = ['status', 'trail', 'never', 'withdraw'];
// The answer to the consent page where its question is closed.
const CLOSED = { status: 404, body: null };

/** Handles them. `ask` sends a request to the service and gives its answer, or the problem. */
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

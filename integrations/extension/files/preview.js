// Evaluates the policy on what the browser and the content script report at this moment. It grants nothing: the guard has
// decided. But where the two decisions differ, nothing is filled.
import { decide } from './walk.mjs';

const relation = (origin, origins) => (origins.includes(origin) ? 'task' : origin === 'null' ? 'unknown' : 'other');

const destination = (way, origins) => {
  let url;
  try {
    url = new URL(way.action);
  } catch {
    return 'unknown';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'unknown';
  const where = origins.includes(url.origin) ? 'task' : 'other';
  return url.protocol === 'https:' ? where : `${where}_over_http`;
};

const place = ({ sender, ancestors }, top) => {
  if (sender.frameId === 0) return ancestors.length === 0 ? 'top' : 'unknown';
  if (ancestors.length === 0 || ancestors.at(-1) !== top.sender.origin) return 'unknown';
  return ancestors.every((origin) => origin === sender.origin) ? 'same_origin' : 'cross_origin';
};

/** The signals that the extension observes itself, for the form that is to be filled. */
export function signals(frame, top, form, nodes, origins) {
  const controls = nodes.map((node) => form.controls.find((control) => control.id === node));
  const seen = controls.length > 0 && controls.every((control) => control?.visible && control.hit);
  return {
    origin: relation(frame.sender.origin, origins),
    top_origin: relation(top.sender.origin, origins),
    frame: place(frame, top),
    document: frame.sender.documentId ? 'known' : 'unknown',
    destination: form.way ? destination(form.way, origins) : 'unknown',
    visibility: seen ? 'seen' : 'hidden',
  };
}

/** Whether the policy grants a fill both on the guard's signals and on the extension's own. */
export function agrees(policy, decided, own) {
  const fills = (valuation) => {
    try {
      const { verdict, delivery } = decide(policy, decided.event, decided.need, valuation);
      return verdict === 'grant' && delivery === 'fill';
    } catch {
      return false;
    }
  };
  return fills(decided.valuation) && fills({ ...decided.valuation, ...own });
}

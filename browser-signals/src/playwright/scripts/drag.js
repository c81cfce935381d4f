// A drag from one element to another of its document: the points to press and to let go, and listeners that keep the mouse from
// anything else. The button goes down on the dragged element alone. Where it goes up the browser would click what both ends have in
// common, or put what is dragged into a text box: nobody decided on that, so neither happens.
const takesText = (node) =>
  isEditable(node) ||
  node instanceof HTMLSelectElement ||
  node instanceof HTMLTextAreaElement ||
  (node instanceof HTMLInputElement && (typeOf(node) === 'file' || !UNTYPED.includes(typeOf(node))));
const GOES_DOWN = ['pointerdown', 'mousedown', 'dragstart'];
const GOES_UP = ['pointerup', 'mouseup'];
const FOLLOWS = ['click', 'dblclick', 'auxclick', 'contextmenu'];
let dragStart = null;
let dragOver = null;

const grip = (from, to) => {
  dragStart = dragOver = null;
  if (!isConnected(from) || !isConnected(to)) return { gone: true };
  if (!isRendered(from) || !isRendered(to)) return { hit: false };
  bringIntoView(from);
  if (!isOnScreen(centreOf(to))) Element.prototype.scrollIntoView.call(to, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  for (const el of [from, to]) if (!isHitAt(el, centreOf(el))) scrollInto(el);
  const ends = [from, to].map((el) => ({ el, ...centreOf(el) }));
  if (!ends.every((at) => isOnScreen(at) && isHitAt(at.el, at))) return { hit: false };
  for (const at of ends) for (let node = reachedAt(rootOf(at.el), at); node; node = drawnIn(node)) if (takesText(node)) return { unfit: true };
  const root = rootOf(from);
  const seen = root instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(root) : from;
  const judge = (path, event) => {
    const { type } = event;
    if (FOLLOWS.includes(type)) return 'stopped';
    if (GOES_DOWN.includes(type)) {
      if (type === 'dragstart') dragStart = event;
      return path.includes(from) || path.includes(seen);
    }
    if (GOES_UP.includes(type)) return true;
    if (path.some(takesText)) return false;
    if (type === 'dragover') dragOver = event;
    return true;
  };
  arm(judge, null, [...INPUTS, ...DRAGS]);
  return { from: { hit: true, x: ends[0].x, y: ends[0].y }, to: { hit: true, x: ends[1].x, y: ends[1].y } };
};
const isPrevented = (event) => getter(Event, 'defaultPrevented').call(event);
// A drag of the browser's own has begun: it sends the page no more events of the mouse.
const isDragging = () => dragStart !== null && !isPrevented(dragStart);
// The last event of the drag reached this document, and the page takes what is dragged there. Each event is asked about once.
const takesDrop = () => {
  const taken = dragOver !== null && isPrevented(dragOver);
  dragOver = null;
  return taken;
};

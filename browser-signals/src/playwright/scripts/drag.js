// A drag from one element to another of its document: the points to press and to let go, and listeners that keep the mouse from
// anything else. The button goes down on the dragged element alone. Where it goes up no click follows, and no text goes into a
// control: the browser clicks what both ends have in common, and drops what is dragged into a text box, without a decision.
const takesText = (node) =>
  isEditable(node) ||
  node instanceof HTMLSelectElement ||
  node instanceof HTMLTextAreaElement ||
  (node instanceof HTMLInputElement && (typeOf(node) === 'file' || !UNTYPED.includes(typeOf(node))));
const GOES_DOWN = ['pointerdown', 'mousedown', 'dragstart'];
const GOES_UP = ['pointerup', 'mouseup'];
const DROPS = ['dragenter', 'dragover', 'drop'];
const FOLLOWS = ['click', 'dblclick', 'auxclick', 'contextmenu'];
let dragStart = null;

const grip = (from, to) => {
  dragStart = null;
  if (!isConnected(from) || !isConnected(to)) return { gone: true };
  if (!isRendered(from) || !isRendered(to)) return { hit: false };
  bringIntoView(from);
  if (!isOnScreen(centreOf(to))) Element.prototype.scrollIntoView.call(to, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  for (const el of [from, to]) if (!isHitAt(el, centreOf(el))) scrollInto(el);
  const ends = [from, to].map((el) => ({ el, ...centreOf(el) }));
  if (!ends.every((at) => isOnScreen(at) && isHitAt(at.el, at))) return { hit: false };
  for (const at of ends) for (let node = reachedAt(at.el, at); node; node = drawnIn(node)) if (takesText(node)) return { unfit: true };
  const root = rootOf(from);
  const seen = root instanceof ShadowRoot ? getter(ShadowRoot, 'host').call(root) : from;
  const judge = (path, event) => {
    const { type } = event;
    if (FOLLOWS.includes(type)) return 'stopped';
    if (GOES_DOWN.includes(type)) {
      if (type === 'dragstart') dragStart = event;
      return path.includes(from) || path.includes(seen);
    }
    return GOES_UP.includes(type) || !path.some(takesText);
  };
  arm(judge, null, [...GOES_DOWN, ...GOES_UP, ...DROPS, ...FOLLOWS]);
  return { from: { hit: true, x: ends[0].x, y: ends[0].y }, to: { hit: true, x: ends[1].x, y: ends[1].y } };
};
// Whether the browser drags something itself, so that it sends the page no more events of the mouse.
const isDragging = () => dragStart !== null && !getter(Event, 'defaultPrevented').call(dragStart);

// Lets a key reach this element alone.
const aimKey = (el, names = INPUTS) => {
  arm((path) => path.includes(el), el, names);
  return 'done';
};
// A key edits the element that has the focus once its handlers have run, so that the edit is watched too. A page that moves the focus
// in the event before a deletion has it elsewhere in its own document, where it could delete by itself: that is only reported.
const EDITS = [...INPUTS, 'beforeinput', 'input'];
// Stops every trusted click, key and drag in this document: the next one is for another frame.
const ward = () => arm(() => false, null, [...INPUTS, ...DRAGS]);

// Keys that change text: only boxes whose text is one value take them.
const WRITTEN = ['text', 'search', 'url', 'tel', 'email', 'number', 'password'];
const takesKeys = (el) =>
  takesInput(el) && (el instanceof HTMLTextAreaElement || (el instanceof HTMLInputElement && WRITTEN.includes(typeOf(el))));
// A box for numbers holds no value while what stands in it is none.
const isEmptyBox = (el) =>
  valueOf(el) === '' && !getter(ValidityState, 'badInput').call(getter(typeHolding(el), 'validity').call(el));
// Checks a box that keys are to write into. The answer is a word: `gone`, `unfit`, `hidden` or `done`.
const atBox = (el) => {
  if (!isConnected(el)) return 'gone';
  // A control that took a value of the user's is changed by fills alone.
  if (kept.has(el)) return 'unfit';
  if (!isRendered(el)) return 'hidden';
  const centre = bringIntoView(el);
  return isOnScreen(centre) && isHitAt(el, centre) ? 'done' : 'hidden';
};
const atFocus = (el) => {
  if (!takesKeys(el)) return 'unfit';
  const word = atBox(el);
  return word === 'done' && focusedElement() !== el ? 'gone' : word;
};
const focusOn = (el) => {
  if (!isConnected(el)) return 'gone';
  HTMLElement.prototype.focus.call(el);
  return focusedElement() === el ? 'done' : 'unfit';
};
// Controls whose value an arrow changes, or a key beside the arrows. An input with a list offers its options to them.
const STEPPED = ['number', 'range', 'date', 'time', 'month', 'week', 'datetime-local', 'color', 'radio'];
const keepsItsValue = (el) => {
  if (el instanceof HTMLSelectElement) return 'unfit';
  if (!(el instanceof HTMLInputElement)) return 'done';
  return STEPPED.includes(typeOf(el)) || getter(HTMLInputElement, 'list').call(el) !== null ? 'unfit' : 'done';
};
// The selection in a box. The browser does not tell it for e-mail addresses and numbers: unless all is selected there, the
// caret goes to the end.
const selectionIn = (el) => {
  const start = getter(typeHolding(el), 'selectionStart').call(el);
  if (start !== null) return [start, getter(typeHolding(el), 'selectionEnd').call(el)];
  const value = valueOf(el);
  const selection = Document.prototype.getSelection.call(document);
  if (value && Selection.prototype.toString.call(selection) === value) return [0, value.length];
  Selection.prototype.modify.call(selection, 'move', 'forward', 'documentboundary');
  return [value.length, value.length];
};
// The selection in a box that is empty or holds the agent's own text; a word where the key may not be pressed.
const aimWriting = (el, own, isPressed) => {
  const word = atFocus(el);
  if (word !== 'done') return word;
  const empty = isEmptyBox(el);
  if (!empty && (own === null || valueOf(el) !== own)) return 'unfit';
  const [start, end] = selectionIn(el);
  if (isPressed) aimKey(el, EDITS);
  return { empty, start, end };
};
const aimSelecting = (el) => {
  const word = atFocus(el);
  return word === 'done' ? aimKey(el) : word;
};
// Empties a box, or an editable element, for a text that goes in key by key.
const aimTyping = (el) => {
  const isBox = takesKeys(el);
  if (!isBox && !isEditable(el)) return 'unfit';
  const word = atBox(el);
  if (word !== 'done') return word;
  const focus = focusOn(el);
  if (focus !== 'done') return focus;
  if (isBox ? !isEmptyBox(el) : getter(Node, 'textContent').call(el) !== '') {
    if (isBox) valueSetter(el).call(el, '');
    else setter(Node, 'textContent').call(el, '');
    announce(el);
  }
  return aimKey(el, EDITS);
};
// Whether the next key would still reach the element.
const isAimed = (el) => {
  if (!isConnected(el)) return 'gone';
  return focusedElement() === el && Document.prototype.hasFocus.call(document) ? 'done' : 'hidden';
};

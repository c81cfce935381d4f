// While the person is asked in a window of the extension's, nothing of this page lies over it or keeps the screen, the mouse or
// the keyboard: a picture in picture, the whole screen, a locked pointer. What begins meanwhile ends at once.
let isAsked = false;
const uncover = () => {
  if (!isAsked) return;
  globalThis.documentPictureInPicture?.window?.close();
  if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => null);
  if (document.fullscreenElement) document.exitFullscreen().catch(() => null);
  if (document.pointerLockElement) document.exitPointerLock();
};
const whileAsked = (now) => {
  isAsked = now;
  uncover();
};
globalThis.documentPictureInPicture?.addEventListener('enter', uncover);
for (const name of ['enterpictureinpicture', 'fullscreenchange', 'pointerlockchange']) {
  document.addEventListener(name, uncover, { capture: true });
}

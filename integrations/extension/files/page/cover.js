// While a question is open in a window of the extension's, this page may not cover it or keep the screen, the mouse or the
// keyboard: picture in picture, full screen and pointer lock end, also those that begin meanwhile.
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

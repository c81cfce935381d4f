// A frame that was there before, and a service worker: attacks when it is told.
addEventListener('message', (event) => {
  const { place, hex, port } = event.data;
  if (!hex) return;
  (event.source || parent).postMessage(globalThis.document ? { place, tried: attack(place, hex, port) } : attack(place, hex, port), globalThis.document ? '*' : undefined);
});

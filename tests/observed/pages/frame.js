// An earlier frame and a service worker, which attack on a message.
addEventListener('message', (event) => {
  const { place, hex, port } = event.data;
  if (!hex) return;
  (event.source || parent).postMessage(globalThis.document ? { place, tried: attack(place, hex, port) } : attack(place, hex, port), globalThis.document ? '*' : undefined);
});

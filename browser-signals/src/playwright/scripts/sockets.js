// Runs before any script of a document or worker in a raised container. The bridge cannot judge what a socket or a peer
// connection sends, and a shared worker outlives the page that the bridge observes.
for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'SharedWorker']) {
  delete globalThis[name];
}
if (globalThis.ServiceWorkerContainer) delete ServiceWorkerContainer.prototype.register;
if (!globalThis.document) delete globalThis.Worker;

// Runs before any script of a document or worker in a raised container: nobody can judge what a socket or a
// peer connection sends, and workers shared between pages outlive the guard's watch over one.
for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'SharedWorker']) {
  delete globalThis[name];
}
if (globalThis.ServiceWorkerContainer) delete ServiceWorkerContainer.prototype.register;
if (!globalThis.document) delete globalThis.Worker;

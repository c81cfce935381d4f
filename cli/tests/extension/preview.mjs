// The extension's preview of decisions: `node preview.mjs FOLDER EXTENSION`. Prints a digit for each case, 1 if it
// agrees to a fill, after testing its evaluation of frames and forms.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, extension] = process.argv.slice(2);
const { agrees, signals } = await import(pathToFileURL(join(extension, 'preview.js')));
const { load } = await import(pathToFileURL(join(extension, 'walk.mjs')));
const bytes = await readFile(join(folder, 'policy'));
const policy = await load(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const { axes, best } = JSON.parse(await readFile(join(folder, 'cases.json'), 'utf8'));

const shop = 'https://shop.test';
const sender = (more) => ({ frameId: 0, documentId: 'A', origin: shop, ...more });
const top = { sender: sender(), ancestors: [] };
const form = { form: 1, way: { action: `${shop}/order`, method: 'POST' }, controls: [{ id: 2, visible: true, hit: true }] };
const good = {
  origin: 'task', top_origin: 'task', frame: 'top', document: 'known', destination: 'task', visibility: 'seen',
};
const of = (frame, changed = {}, nodes = [2]) => signals(frame, top, { ...form, ...changed }, nodes, [shop]);
assert.deepEqual(of(top), good);
const to = (action) => of(top, { way: action === null ? null : { action, method: 'POST' } }).destination;
assert.deepEqual(
  [to('https://evil.test/'), to('http://evil.test/'), to('javascript:1'), to('/order'), to(null), to(`${shop}.evil.test/`)],
  ['other', 'other_over_http', 'unknown', 'unknown', 'unknown', 'other'],
);
const inner = (origin, ancestors) => of({ sender: sender({ frameId: 3, documentId: 'B', origin }), ancestors });
assert.equal(inner(shop, [shop]).frame, 'same_origin');
assert.equal(inner(shop, ['https://evil.test', shop]).frame, 'cross_origin');
assert.equal(inner('https://evil.test', [shop]).frame, 'cross_origin');
assert.equal(inner(shop, []).frame, 'unknown');
assert.equal(inner(shop, ['https://evil.test']).frame, 'unknown');
assert.deepEqual([inner('null', [shop]).origin, inner('https://evil.test', [shop]).origin], ['unknown', 'other']);
assert.equal(of({ sender: sender(), ancestors: [shop] }).frame, 'unknown');
assert.equal(of(top, {}, []).visibility, 'hidden');
assert.equal(of(top, {}, [2, 9]).visibility, 'hidden');
assert.equal(of(top, { controls: [{ id: 2, visible: true, hit: false }] }).visibility, 'hidden');

const given = { ...Object.fromEntries(best), container: 'T2', consent: 'given' };
const decided = { event: 'address', need: 'T2', valuation: given };
assert.ok(agrees(policy, decided, good));
assert.ok(!agrees(policy, { ...decided, valuation: { ...given, tls: 'broken' } }, good), 'the guard would not have');
assert.ok(!agrees(policy, decided, { ...good, destination: 'other' }), 'we would not');
assert.ok(!agrees(policy, { ...decided, event: 'nothing' }, good));
assert.ok(!agrees(policy, { ...decided, valuation: {} }, {}));

const own = ['origin', 'top_origin', 'frame', 'document', 'destination', 'visibility'];
const count = axes.reduce((product, [, symbols]) => product * symbols.length, 1);
let found = '';
for (let number = 0; number < count; number += 1) {
  let rest = number;
  const here = {};
  for (const [axis, symbols] of axes) {
    here[axis] = symbols[rest % symbols.length];
    rest = Math.floor(rest / symbols.length);
  }
  // The guard's and the current observation differ only in the signals that the extension observes itself.
  const seen = Object.fromEntries(own.map((axis) => [axis, here[axis]]));
  const valuation = { ...given, ...here, ...good };
  found += agrees(policy, { event: 'address', need: 'T2', valuation }, seen) ? '1' : '0';
}
process.stdout.write(found);

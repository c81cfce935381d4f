async function (command, given) {
  'use strict';
  // Reads or writes the storage of the document's origin, in a document in which no script of the site runs. `kind` tells its type.
  if (command === 'kind') return document.contentType;

  // More than this of databases is not kept.
  const MOST_CHARACTERS = 4 << 20;
  const MOST_DEPTH = 64;

  const toText = bytes => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
  };
  const toBytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

  // JSON has fewer kinds of values than a database: what is no JSON is an object with one name, and an object is a list of pairs.
  const encode = (value, depth = 0) => {
    if (depth > MOST_DEPTH) throw new RangeError('deep');
    const each = values => Array.from(values, one => encode(one, depth + 1));
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : { n: Object.is(value, -0) ? '-0' : String(value) };
    if (value === undefined) return { u: 1 };
    if (typeof value === 'bigint') return { b: String(value) };
    if (Array.isArray(value)) return { l: each(value) };
    if (value instanceof Date) return { d: value.getTime() };
    if (value instanceof RegExp) return { r: [value.source, value.flags] };
    if (value instanceof Map) return { m: each(Array.from(value).flat()) };
    if (value instanceof Set) return { s: each(value) };
    if (value instanceof ArrayBuffer) return { a: toText(new Uint8Array(value)) };
    if (ArrayBuffer.isView(value)) {
      return { v: [value.constructor.name, toText(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))] };
    }
    if (Object.prototype.toString.call(value) !== '[object Object]') throw new TypeError('kind');
    return { o: each(Object.entries(value).flat()) };
  };
  const VIEWS = { DataView, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array };
  const pairs = values => values.flatMap((one, at) => (at % 2 ? [] : [[one, values[at + 1]]]));
  const decode = value => {
    if (value === null || typeof value !== 'object') return value;
    const each = values => values.map(decode);
    const [[kind, of]] = Object.entries(value);
    switch (kind) {
      case 'n': return Number(of);
      case 'b': return BigInt(of);
      case 'l': return each(of);
      case 'd': return new Date(of);
      case 'r': return new RegExp(...of);
      case 'm': return new Map(pairs(each(of)));
      case 's': return new Set(each(of));
      case 'a': return toBytes(of).buffer;
      case 'v': return Object.hasOwn(VIEWS, of[0]) ? new VIEWS[of[0]](toBytes(of[1]).buffer) : undefined;
      case 'o': return Object.fromEntries(pairs(each(of)));
      default: return undefined;
    }
  };

  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('blocked'));
  });
  const ended = transaction => new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });

  const readDatabase = async (name, lost) => {
    const database = await done(indexedDB.open(name));
    const stores = [];
    for (const storeName of database.objectStoreNames) {
      const store = database.transaction(storeName).objectStore(storeName);
      const indexes = Array.from(store.indexNames, index => {
        const { name, keyPath, unique, multiEntry } = store.index(index);
        return { name, keyPath, unique, multiEntry };
      });
      const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
      const records = [];
      keys.forEach((key, at) => {
        try {
          records.push([encode(key), encode(values[at])]);
        } catch {
          lost.records += 1;
        }
      });
      stores.push({ name: storeName, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes, records });
    }
    const { version } = database;
    database.close();
    return { name, version, stores };
  };

  const writeDatabase = async ({ name, version, stores }) => {
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = () => {
      for (const { name, keyPath, autoIncrement, indexes } of stores) {
        const store = opening.result.createObjectStore(name, { keyPath, autoIncrement });
        for (const { name, keyPath, unique, multiEntry } of indexes) store.createIndex(name, keyPath, { unique, multiEntry });
      }
    };
    const database = await done(opening);
    if (stores.length) {
      const writing = database.transaction(stores.map(store => store.name), 'readwrite');
      for (const { name, keyPath, records } of stores) {
        const store = writing.objectStore(name);
        for (const [key, value] of records) keyPath === null ? store.put(decode(value), decode(key)) : store.put(decode(value));
      }
      await ended(writing);
    }
    database.close();
  };

  if (command === 'read') {
    const lost = { session: sessionStorage.length, records: 0, databases: 0 };
    const texts = [];
    for (const { name } of await indexedDB.databases()) {
      try {
        texts.push(JSON.stringify(await readDatabase(name, lost)));
      } catch {
        lost.databases += 1;
      }
    }
    // The smallest first: a login is small, and a site's cache is not.
    texts.sort((one, other) => one.length - other.length);
    let rest = MOST_CHARACTERS;
    const kept = texts.filter(text => (rest -= text.length + 1) >= 0);
    lost.databases += texts.length - kept.length;
    // Half a character, which some compressed data has, cannot be told in JSON.
    const all = Object.entries(localStorage);
    const local = all.filter(entry => entry.every(text => text.isWellFormed()));
    lost.records += all.length - local.length;
    return { local, databases: kept.length ? `[${kept}]` : '', lost };
  }
  const { local, databases } = given;
  localStorage.clear();
  for (const [name, value] of local) localStorage.setItem(name, value);
  for (const database of databases ? JSON.parse(databases) : []) await writeDatabase(database);
  return true;
}

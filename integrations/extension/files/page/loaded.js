// How this document was loaded, and the service workers of its origin. Both are read in the isolated world, by getters that
// a page cannot change.
const navigationOf = () => performance.getEntriesByType('navigation')[0];
const serviceWorkers = () => {
  try {
    return navigator.serviceWorker ?? null;
  } catch {
    return null; // Without an origin there are none.
  }
};
// The `Server-Timing` of the response, as the browser saw it; and whether a service worker answered the request for a
// document that the user has not used yet.
const howLoaded = () => {
  const entry = navigationOf();
  const isFresh = performance.now() < 5000;
  return {
    loaded: (entry?.serverTiming ?? []).map(({ description }) => description),
    isServed: isFresh && (serviceWorkers()?.controller ?? null) !== null,
  };
};
const workersHere = async () => {
  const all = serviceWorkers();
  if (!all) return { state: 'none' };
  const isAny = all.controller !== null || (await all.getRegistrations()).length > 0;
  return { state: isAny ? 'some' : 'none' };
};
// Whether a worker has state that the site would not restore at the next visit: push subscriptions, pending syncs and fetches.
const isMissed = async ({ pushManager, sync, periodicSync, backgroundFetch }) => {
  const asked = [
    pushManager?.getSubscription(), sync?.getTags(), periodicSync?.getTags(), backgroundFetch?.getIds(),
  ].map((one) => Promise.resolve(one).catch(() => null));
  return (await Promise.all(asked)).some((one) => one && one.length !== 0);
};
const endWorkers = async () => {
  const all = await (serviceWorkers()?.getRegistrations() ?? []);
  const missed = await Promise.all(all.map(isMissed));
  if (missed.some(Boolean)) return { state: 'kept' };
  await Promise.all(all.map((one) => one.unregister()));
  return { state: 'done' };
};

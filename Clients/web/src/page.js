// What a page or a worker notices of its network and its sleep.

/** Whether timers run late while nobody looks. */
export const isPage = () => typeof document !== 'undefined';

/**
 * Calls `wake` when the network may have changed, or the page has slept, and `doubt` when the network is said to be gone.
 * Returns what ends that.
 */
export function watch(wake, doubt) {
  if (!globalThis.addEventListener) return () => {};
  const ending = new AbortController();
  const on = (target, name, handle) => target.addEventListener(name, handle, { signal: ending.signal });
  on(globalThis, 'online', wake);
  on(globalThis, 'offline', doubt);
  on(globalThis, 'pageshow', wake);
  if (isPage()) {
    on(document, 'visibilitychange', () => document.visibilityState === 'visible' && wake());
    on(document, 'resume', wake);
  }
  return () => ending.abort();
}

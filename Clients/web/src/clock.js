// Time that only grows, and goes on while the machine sleeps.

/** Milliseconds. Some browsers stop `performance.now` in a sleep, and the wall clock may be set back: what shows more, counts. */
export function steadyClock(wall = Date, steady = globalThis.performance ?? Date) {
  const from = steady.now();
  const wallFrom = wall.now();
  let slept = 0;
  return () => {
    const passed = steady.now() - from;
    const more = wall.now() - wallFrom - passed;
    if (more > slept + 1000) slept = more;
    return passed + slept;
  };
}

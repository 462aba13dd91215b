// Time on machines that sleep, and in pages whose timers run late: a clock, and the heartbeat of a connection.

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

// How late a timer may be, and how long a server may take to answer: usually, and after a sleep.
const late = 3000;
const usual = 10_000;
const probe = 2000;

/**
 * When a heartbeat is sent, and when a connection counts as lost (docs/behaviour.md S-40). Pure: it gets the time. After a
 * sleep nobody knows what happened meanwhile, so the server is asked once more, and has only a short time to answer.
 */
export function makeHeartbeat({ interval, now }) {
  let next = now + interval;
  let lostAt = Infinity;
  let isProbing = false;

  /** The connection may be gone, as after a sleep: an answer has to come soon. */
  function ask(now) {
    next = now + interval;
    lostAt = now + probe;
    isProbing = true;
    return 'send';
  }

  return {
    ask,

    get deadline() {
      return Math.min(next, lostAt);
    },

    /** Something has arrived. */
    received() {
      lostAt = Infinity;
      isProbing = false;
    },

    /** Returns 'send', 'lost' or nothing. */
    tick(now) {
      if (now >= lostAt) return isProbing || now < lostAt + late ? 'lost' : ask(now);
      if (now < next) return undefined;
      if (now > next + interval + late) return ask(now);
      next = now + interval;
      lostAt = Math.min(lostAt, now + usual);
      return 'send';
    },
  };
}

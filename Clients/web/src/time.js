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
export class Heartbeat {
  #interval;
  #next;
  #lostAt = Infinity;
  #isProbing = false;

  constructor({ interval, now }) {
    this.#interval = interval;
    this.#next = now + interval;
  }

  get deadline() {
    return Math.min(this.#next, this.#lostAt);
  }

  /** Something has arrived. */
  received() {
    this.#lostAt = Infinity;
    this.#isProbing = false;
  }

  /** Returns 'send', 'lost' or nothing. */
  tick(now) {
    if (now >= this.#lostAt) return this.#isProbing || now < this.#lostAt + late ? 'lost' : this.ask(now);
    if (now < this.#next) return undefined;
    if (now > this.#next + this.#interval + late) return this.ask(now);
    this.#next = now + this.#interval;
    this.#lostAt = Math.min(this.#lostAt, now + usual);
    return 'send';
  }

  /** The connection may be gone, as after a sleep: an answer has to come soon. */
  ask(now) {
    this.#next = now + this.#interval;
    this.#lostAt = now + probe;
    this.#isProbing = true;
    return 'send';
  }
}

// When a heartbeat is sent, and when a connection counts as lost (docs/behaviour.md S-40). Pure: it gets the time.
//
// A machine that slept, and a hidden page, run timers late. Then nobody knows what happened meanwhile, so the server is
// asked once more, and has only a short time to answer.

export class Heartbeat {
  static late = 3000;
  static probe = 2000;

  constructor({ interval, answer = 10_000, now }) {
    Object.assign(this, { interval, answer, next: now + interval, lostAt: null, probing: false });
  }

  get deadline() {
    return Math.min(this.next, this.lostAt ?? Infinity);
  }

  /** Something has arrived. */
  received() {
    this.lostAt = null;
    this.probing = false;
  }

  /** Returns 'send', 'lost' or nothing. */
  tick(now) {
    if (this.lostAt !== null && now >= this.lostAt) {
      return this.probing || now < this.lostAt + Heartbeat.late ? 'lost' : this.ask(now);
    }
    if (now < this.next) return undefined;
    const isLate = now > this.next + this.interval + Heartbeat.late;
    this.next = now + this.interval;
    if (isLate) return this.ask(now);
    this.lostAt ??= now + this.answer;
    return 'send';
  }

  /** The connection may be gone, as after a sleep: an answer has to come soon. */
  ask(now) {
    this.next = now + this.interval;
    this.lostAt = now + Heartbeat.probe;
    this.probing = true;
    return 'send';
  }
}

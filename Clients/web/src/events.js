// Events on their way to the app: each consumer gets all of them, in one order.

const report = globalThis.reportError ?? console.error;

/** The consumers of one client. */
export class Outlet {
  #consumers = new Set();
  #held = [];
  #opening = Promise.resolve();
  #encryption;
  #translate;

  /** `translate` makes of an event those that the app gets. */
  constructor(encryption, translate) {
    this.#encryption = encryption;
    this.#translate = translate;
  }

  add(consumer) {
    this.#consumers.add(consumer);
    return () => this.#consumers.delete(consumer);
  }

  end() {
    for (const consumer of this.#consumers) consumer.end?.();
    this.#consumers.clear();
  }

  hold(event) {
    this.#held.push(event);
  }

  release() {
    for (const event of this.#held.splice(0)) this.show(event);
  }

  show(event) {
    if (!this.#encryption) return this.#deliver(event);
    // Opening takes time, and events keep their order.
    this.#opening = this.#opening.then(async () => {
      for (const opened of await this.#encryption.openEvent(event)) this.#deliver(opened);
    });
  }

  #deliver(event) {
    for (const shown of this.#translate(event)) {
      for (const consumer of [...this.#consumers]) {
        try {
          consumer.push(shown);
        } catch (error) {
          report(error);
        }
      }
    }
  }
}

/** The events of one consumer, which reads at its own pace: beyond `capacity` the oldest are dropped, and it is told how many. */
export class EventStream {
  #waiting = [];
  #readers = [];
  #dropped = 0;
  #isOver = false;
  #stop;
  #capacity;
  #filter;

  constructor(stop, { capacity = 16_384, filter } = {}) {
    this.#stop = stop;
    this.#capacity = capacity;
    this.#filter = filter;
  }

  push(event) {
    if (this.#isOver || (this.#filter && !this.#filter(event))) return;
    const reader = this.#readers.shift();
    if (reader) return reader({ value: event, done: false });
    this.#waiting.push(event);
    if (this.#waiting.length > this.#capacity) {
      this.#waiting.shift();
      this.#dropped++;
    }
  }

  async next() {
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) return { value: { type: 'overflow', dropped }, done: false };
    if (this.#waiting.length > 0) return { value: this.#waiting.shift(), done: false };
    if (this.#isOver) return { value: undefined, done: true };
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** What waits can still be read. */
  end() {
    this.#isOver = true;
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
  }

  async return() {
    this.#waiting = [];
    this.#dropped = 0;
    this.end();
    this.#stop(this);
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

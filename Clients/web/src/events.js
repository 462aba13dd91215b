// Events on their way to the app: each consumer gets all of them, in one order.

const report = globalThis.reportError ?? console.error;

/** The consumers of one client. `translate` makes of an event those that the app gets. */
export function makeOutlet(encryption, translate) {
  const consumers = new Set();
  const held = [];
  let opening = Promise.resolve();

  function deliver(event) {
    for (const shown of translate(event)) {
      for (const consumer of [...consumers]) {
        try {
          consumer.push(shown);
        } catch (error) {
          report(error);
        }
      }
    }
  }

  function show(event) {
    if (!encryption) return deliver(event);
    // Opening takes time, and events keep their order.
    opening = opening.then(async () => (await encryption.openEvent(event)).forEach(deliver));
  }

  return {
    add: (consumer) => {
      consumers.add(consumer);
      return () => consumers.delete(consumer);
    },
    end: () => {
      for (const consumer of consumers) consumer.end?.();
      consumers.clear();
    },
    show,
    hold: (event) => held.push(event),
    release: () => held.splice(0).forEach(show),
  };
}

/** The events of one consumer, which reads at its own pace: beyond `capacity` the oldest are dropped, and it gets their number. */
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

// Events on their way to the app: each consumer gets all of them, in one order.

/** The events of one consumer, which reads at its own pace: beyond `capacity` the oldest are dropped, and it is told how many. */
export class EventStream {
  #waiting = [];
  #readers = [];
  #dropped = 0;
  #ended = false;

  constructor(stop, { capacity = 16_384, filter = () => true } = {}) {
    Object.assign(this, { stop, capacity, filter });
  }

  push(event) {
    if (this.#ended || !this.filter(event)) return;
    const reader = this.#readers.shift();
    if (reader) return reader({ value: event, done: false });
    this.#waiting.push(event);
    if (this.#waiting.length > this.capacity) {
      this.#waiting.shift();
      this.#dropped++;
    }
  }

  next() {
    if (this.#dropped > 0) {
      const value = { type: 'overflow', dropped: this.#dropped };
      this.#dropped = 0;
      return Promise.resolve({ value, done: false });
    }
    if (this.#waiting.length > 0) return Promise.resolve({ value: this.#waiting.shift(), done: false });
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** What waits can still be read. */
  end() {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
  }

  return() {
    this.#waiting = [];
    this.end();
    this.stop(this);
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

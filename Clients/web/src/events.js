// Events on their way to the app: each consumer gets all of them, in one order.

const report = globalThis.reportError ?? console.error;

/** The consumers of one client. `translate` makes of an event those that the app gets. */
export function makeOutlet(encryption, translate) {
  const consumers = new Set();
  const held = [];

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

  const show = encryption?.opener(deliver) ?? deliver;

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
export function makeEventStream(stop, { capacity = 16_384, filter }) {
  let waiting = [];
  const readers = [];
  let dropped = 0;
  let isOver = false;
  const over = { value: undefined, done: true };

  const stream = {
    push(event) {
      if (isOver || (filter && !filter(event))) return;
      const reader = readers.shift();
      if (reader) return reader({ value: event, done: false });
      waiting.push(event);
      if (waiting.length > capacity) {
        waiting.shift();
        dropped++;
      }
    },

    async next() {
      const count = dropped;
      dropped = 0;
      if (count > 0) return { value: { type: 'overflow', dropped: count }, done: false };
      if (waiting.length > 0) return { value: waiting.shift(), done: false };
      if (isOver) return over;
      return new Promise((resolve) => readers.push(resolve));
    },

    /** What waits can still be read. */
    end() {
      isOver = true;
      for (const reader of readers.splice(0)) reader(over);
    },

    async return() {
      waiting = [];
      dropped = 0;
      stream.end();
      stop(stream);
      return over;
    },

    [Symbol.asyncIterator]: () => stream,
  };
  return stream;
}

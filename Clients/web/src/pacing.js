// Publishes that keep to the rates of the server (docs/behaviour.md R-2): above them they wait for their turn, in their order.
// A module of its own, so that nobody loads it who never comes near the rates.

import { RTMError } from './errors.js';
import { schema } from './pacing-schema.js';
import { makePublishes } from './publishes.js';
import { sessionOf } from './session.js';
import { define } from './wire.js';

define(schema);
// Messages bunch on their way, so the client uses a little less than the server allows, in bursts of so many milliseconds.
const share = 0.95;
const burst = 750 / share;

const tooMany = (retryAfter) =>
  new RTMError(-11025, 'messages are published faster than the server allows, and too many wait already', {
    operation: 'publish',
    retryAfter,
  });

/** Pure: it gets the time. `wake` is called when something has to wait. */
export function makePacedPublishes(wake = () => {}) {
  const publishes = makePublishes();
  let rates = {};
  /** By rate: when as much would be used up as is allowed. */
  const even = new Map();
  /** By destination: those that wait, in their order. */
  const paced = new Map();

  function unpace(entry) {
    const left = paced.get(entry.to).filter((other) => other !== entry);
    if (left.length > 0) paced.set(entry.to, left);
    else paced.delete(entry.to);
  }

  /** What a publish uses: pairs of a rate and the milliseconds that it takes by this rate. */
  function uses(to, bytes) {
    const { targetMessages, topicMessages, sessionMessages, sessionBytes } = rates;
    const all = [
      [to, 1, to.startsWith('5/') ? topicMessages : targetMessages],
      ['messages', 1, sessionMessages],
      ['bytes', bytes, sessionBytes],
    ];
    return all.filter(([, , rate]) => rate > 0).map(([name, amount, rate]) => [name, (amount * 1000) / (rate * share)]);
  }

  const evenAt = (name) => even.get(name) ?? -Infinity;

  function earliest(to, bytes, now) {
    return Math.max(now, ...uses(to, bytes).map(([name, time]) => evenAt(name) - Math.max(0, burst - time)));
  }

  function spend(to, bytes, at) {
    // Rates at rest say nothing.
    if (even.size > 1024) for (const [name, time] of even) if (time < at) even.delete(name);
    for (const [name, time] of uses(to, bytes)) even.set(name, Math.max(evenAt(name), at) + time);
  }

  return {
    ...publishes,

    /** Returns the publish to send now; nothing if it has to wait; or an error if it would wait too long. */
    add(id, to, publish, epoch, now, deadline) {
      const bytes = publish.payload.length;
      const waiting = paced.get(to);
      const time = Math.max(earliest(to, bytes, now), waiting?.[waiting.length - 1].time ?? now);
      if (time > deadline) return tooMany(Math.ceil(time - deadline));
      spend(to, bytes, time);
      if (!waiting && time <= now) return publishes.add(id, to, publish, epoch, now);
      paced.set(to, [...(waiting ?? []), { id, to, publish, time }]);
      wake();
      return undefined;
    },

    remove(id) {
      const entry = [...paced.values()].flat().find((one) => one.id === id);
      if (!entry) return publishes.remove(id);
      unpace(entry);
      return { error: tooMany(1) };
    },

    /** A server has let the client in, and named its rates or none. What waits gets new times, in the same order. */
    pace(named, now) {
      rates = named ?? {};
      even.clear();
      for (const entry of [...paced.values()].flat()) {
        const { length } = entry.publish.payload;
        entry.time = earliest(entry.to, length, now);
        spend(entry.to, length, entry.time);
      }
    },

    get nextDue() {
      return Math.min(...[...paced.values()].map(([first]) => first.time));
    },

    takeDue(now, epoch) {
      const due = [...paced.values()].flat().filter(({ time }) => time <= now);
      return due
        .sort((one, other) => one.time - other.time)
        .flatMap((entry) => {
          unpace(entry);
          const publish = publishes.add(entry.id, entry.to, entry.publish, epoch, now);
          return publish ? [{ id: entry.id, publish }] : [];
        });
    },
  };
}

class Turns {
  #session;
  #queue = makePacedPublishes(() => this.#wait());

  constructor(session) {
    this.#session = session;
    session.publisher.queue = this.#queue;
  }

  onLoggedIn({ publishRates }) {
    this.#queue.pace(publishRates, this.#session.now);
    this.#send();
  }

  #send() {
    const { isOpen, publisher, now } = this.#session;
    // The next login continues.
    if (!isOpen) return;
    publisher.send(this.#queue.takeDue(now, publisher.epoch));
    if (this.#queue.nextDue < Infinity) this.#wait();
  }

  #wait() {
    this.#session.requests.later('pacing', this.#queue.nextDue - this.#session.now, () => this.#send());
  }
}

/** Made for a client before its login. */
export class Pacing {
  constructor(client) {
    sessionOf(client).part(Turns);
  }
}

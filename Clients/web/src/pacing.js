// Publishes that keep to the rates of the server (docs/behaviour.md R-2): above them they wait for their turn, in their order.
// A module of its own, so that nobody loads it who never comes near the rates.

import { RTMError } from './errors.js';
import { schema } from './pacing-schema.js';
import { Publishes } from './publishes.js';
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

/** Pure: it gets the time. */
export class PacedPublishes extends Publishes {
  #rates = {};
  /** By rate: when as much would be used up as is allowed. */
  #even = new Map();
  /** By destination: those that wait, in their order. */
  #paced = new Map();
  #wake;

  /** `wake` is called when something has to wait. */
  constructor(wake = () => {}) {
    super();
    this.#wake = wake;
  }

  /** Returns the publish to send now; nothing if it has to wait; or an error if it would wait too long. */
  add(id, to, publish, epoch, now, deadline) {
    const bytes = publish.payload.length;
    const waiting = this.#paced.get(to);
    const time = Math.max(this.#earliest(to, bytes, now), waiting?.at(-1).time ?? now);
    if (time > deadline) return tooMany(Math.ceil(time - deadline));
    this.#spend(to, bytes, time);
    if (!waiting && time <= now) return super.add(id, to, publish, epoch, now);
    this.#paced.set(to, [...(waiting ?? []), { id, to, publish, time }]);
    this.#wake();
    return undefined;
  }

  remove(id) {
    const entry = [...this.#paced.values()].flat().find((paced) => paced.id === id);
    if (!entry) return super.remove(id);
    this.#unpace(entry);
    return { error: tooMany(1) };
  }

  #unpace(entry) {
    const left = this.#paced.get(entry.to).filter((other) => other !== entry);
    if (left.length > 0) this.#paced.set(entry.to, left);
    else this.#paced.delete(entry.to);
  }

  /** A server has let the client in, and named its rates or none. What waits gets new times, in the same order. */
  pace(rates, now) {
    this.#rates = rates ?? {};
    this.#even.clear();
    for (const entry of [...this.#paced.values()].flat()) {
      const { length } = entry.publish.payload;
      entry.time = this.#earliest(entry.to, length, now);
      this.#spend(entry.to, length, entry.time);
    }
  }

  get nextDue() {
    return Math.min(...[...this.#paced.values()].map(([first]) => first.time));
  }

  takeDue(now, epoch) {
    const due = [...this.#paced.values()].flat().filter(({ time }) => time <= now);
    return due
      .sort((one, other) => one.time - other.time)
      .flatMap((entry) => {
        this.#unpace(entry);
        const publish = super.add(entry.id, entry.to, entry.publish, epoch, now);
        return publish ? [{ id: entry.id, publish }] : [];
      });
  }

  /** What a publish uses: pairs of a rate and the milliseconds that it takes by this rate. */
  #uses(to, bytes) {
    const { targetMessages, topicMessages, sessionMessages, sessionBytes } = this.#rates;
    const uses = [
      [to, 1, to.startsWith('5/') ? topicMessages : targetMessages],
      ['messages', 1, sessionMessages],
      ['bytes', bytes, sessionBytes],
    ];
    return uses.filter(([, , rate]) => rate > 0).map(([name, amount, rate]) => [name, (amount * 1000) / (rate * share)]);
  }

  #evenAt(name) {
    return this.#even.get(name) ?? -Infinity;
  }

  #earliest(to, bytes, now) {
    return Math.max(now, ...this.#uses(to, bytes).map(([name, time]) => this.#evenAt(name) - Math.max(0, burst - time)));
  }

  #spend(to, bytes, at) {
    // Rates at rest say nothing.
    if (this.#even.size > 1024) for (const [name, even] of this.#even) if (even < at) this.#even.delete(name);
    for (const [name, time] of this.#uses(to, bytes)) this.#even.set(name, Math.max(this.#evenAt(name), at) + time);
  }
}

class Turns {
  #session;
  #queue = new PacedPublishes(() => this.#wait());

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

// Messages with an id of the app's own, which are published once however often their publish is called (docs/behaviour.md M-42).
// A module of its own, so that nobody loads it who needs none.

import { RTMError } from './errors.js';
import { sessionOf } from './session.js';
import { utf8 } from './wire.js';

// Limit: messages whose first sending is remembered.
const namedMax = 1024;

/** The number by which the server knows a message with an id again: cyrb53, of which every client makes the same. */
export function numberOf(id) {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (const byte of utf8(id)) {
    low = Math.imul(low ^ byte, 2654435761);
    high = Math.imul(high ^ byte, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507);
  low ^= Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507);
  high ^= Math.imul(low ^ (low >>> 13), 3266489909);
  return 2 ** 32 * (high & 0x1fffff) + (low >>> 0) || 1;
}

class Names {
  #session;
  /** By destination and id: when a message was sent first, so that a log which has forgotten it refuses the repetition. */
  #named = new Map();

  constructor(session) {
    this.#session = session;
    session.publisher.named = (destination, id) => {
      if (/^[!-~]{1,255}$/.test(id)) return () => this.#begin(`${destination} ${id}`, id);
      throw new RTMError(-10014, 'the id of a message has 1 to 255 visible ASCII characters', { operation: 'publish' });
    };
  }

  /** It is about to be sent. What may have been published keeps the time of its first sending. */
  #begin(key, id) {
    const { now, publisher } = this.#session;
    const named = this.#named;
    const entry = named.get(key) ?? { first: { sentAt: now, epoch: publisher.epoch }, calls: 0 };
    entry.calls++;
    named.set(key, entry);
    if (named.size > namedMax) named.delete(named.keys().next().value);
    return {
      fields: { origin: numberOf(id), sequence: 1, first: entry.first },
      failed(error) {
        if (error.outcome === 'notDone' && --entry.calls === 0) named.delete(key);
      },
    };
  }
}

/** Made for a client before its login. */
export class Once {
  constructor(client) {
    sessionOf(client).part(Names);
  }
}

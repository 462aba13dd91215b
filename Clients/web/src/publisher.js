// Publishing: a message is sent in its turn, and again until its answer comes or nobody waits for it any more.

import { noAnswer, noConnection, RTMError } from './errors.js';
import { makePublishes } from './publishes.js';
import { utf8 } from './wire.js';

const operation = 'publish';
const request = { codes: [-11026, -11027], operation };
const unknown = 'whether the message was published is unknown';
// Limits: bytes of a message, those of a topic's, and bytes that wait for the network.
const payloadMax = 32_768;
const topicPayloadMax = 1024;
const unsentMax = 8 * 2 ** 20;
// Limit: messages with an id whose first sending is remembered.
const namedMax = 1024;
/** How long a server knows what it has published, so that it may be asked again. */
const ageMax = 120_000;

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

export function makePublisher(session) {
  const { requests, encryption, subscriptions, link } = session;
  /** By destination and id: when a message was sent first, so that a log which has forgotten it refuses the repetition. */
  const named = new Map();

  /** What may have been published keeps the time of its first sending. */
  function name(key, id) {
    const entry = named.get(key) ?? { first: { sentAt: session.now, epoch: publisher.epoch }, calls: 0 };
    entry.calls++;
    named.set(key, entry);
    if (named.size > namedMax) named.delete(named.keys().next().value);
    return {
      number: { origin: numberOf(id), sequence: 1, first: entry.first },
      failed(error) {
        if (error.outcome === 'notDone' && --entry.calls === 0) named.delete(key);
        throw error;
      },
    };
  }

  /** There was no answer in time, or before the session was over. */
  function late(id, isOver) {
    const { state, refusal, error } = publisher.queue.remove(id);
    if (error || state === 'held') return isOver ? undefined : error;
    if (refusal && !isOver) return new RTMError(refusal.code, `${refusal.reason}; ${unknown}`, { operation });
    return noAnswer(request, unknown);
  }

  function add(deadline, to, message) {
    const { queue } = publisher;
    return new Promise((resolve, reject) => {
      // It may have been lost since the call became ready.
      if (link.state !== 'connected') return reject(noConnection(request));
      if (session.connection.socket.bufferedAmount > unsentMax) {
        const limit = { name: 'unsent bytes', value: unsentMax };
        return reject(new RTMError(-11025, 'more is published than the connection takes', { operation, limit }));
      }
      const id = requests.newId();
      const publish = queue.add(id, to, message, publisher.epoch, session.now, deadline);
      if (publish instanceof Error) return reject(publish);
      const ended = (finish) => (value) => {
        queue.remove(id);
        publisher.send(queue.takeHeld(session.now));
        finish(value);
      };
      requests.expect(id, {
        ...request,
        deadline,
        stays: true,
        resolve: ended(({ offset, timestampMs }) => resolve({ offset, timestamp: timestampMs })),
        reject: ended(reject),
        refused: (error) => {
          if (error.code !== -11024 || !error.retryAfter) return false;
          queue.postpone(id, error);
          requests.later(operation, error.retryAfter, () => publisher.send(queue.takePostponed(session.now)));
          return true;
        },
        late: (isOver) => late(id, isOver),
      });
      if (publish) publisher.send([{ id, publish }]);
      return undefined;
    });
  }

  const publisher = {
    queue: makePublishes(),

    /** That of the user's inbox says which server knows what was published. */
    get epoch() {
      return subscriptions.inbox.position?.epoch ?? 0;
    },

    async publish(about, message, { customType = '', storeInHistory = false, priority = 0, id }) {
      const isText = typeof message === 'string';
      let payload = isText ? utf8(message) : asBytes(message);
      if (encryption) payload = await encryption.sealMessage(about, message, customType);
      const value = about.type === 5 ? topicPayloadMax : payloadMax;
      if (payload.length > value) {
        const limit = { name: 'message bytes', value };
        throw new RTMError(-11010, `the message has ${payload.length} bytes, and ${value} are allowed`, { operation, limit });
      }
      if (id !== undefined && !/^[!-~]{1,255}$/.test(id)) {
        throw new RTMError(-10014, 'the id of a message has 1 to 255 visible ASCII characters', { operation });
      }
      const call = { ...request };
      await requests.ready(call);
      const own = id && name(`${about.key} ${id}`, id);
      const sent = add(call.deadline, about.key, {
        channelType: about.type,
        channel: about.name,
        messageType: isText && !encryption ? 1 : 0,
        payload,
        customType,
        storeInHistory,
        priority,
        ...own?.number,
      });
      return own ? sent.catch(own.failed) : sent;
    },

    send(sendings) {
      for (const { id, publish } of sendings) {
        try {
          if (session.isOpen) session.sendFrame(operation, publish, id);
        } catch ({ message }) {
          requests.fail(id, new RTMError(-10014, message, { operation }));
        }
      }
    },

    /** After a login: what the lost connection left without an answer goes first, so that nothing new overtakes it. */
    resume() {
      const { again, tooOld } = publisher.queue.takeLost(session.now, ageMax);
      publisher.send(again);
      for (const id of tooOld) requests.fail(id, noAnswer(request, unknown));
    },
  };
  return publisher;
}

function asBytes(message) {
  if (message instanceof ArrayBuffer) return new Uint8Array(message);
  if (ArrayBuffer.isView(message)) return new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice();
  throw new RTMError(-11031, 'a message is a text or bytes', { operation });
}

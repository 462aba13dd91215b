// Publishing: a message is sent in its turn, and again until its answer comes or nobody waits for it any more.

import { noAnswer, noConnection, noModule, RTMError } from './errors.js';
import { makePublishes } from './publishes.js';
import { utf8 } from './wire.js';

const operation = 'publish';
const request = { codes: [-11026, -11027], operation };
const unknown = 'whether the message was published is unknown';
// Limits: bytes of a message, unless its destination takes fewer, and bytes that wait for the network.
const usualPayloadMax = 32_768;
const unsentMax = 8 * 2 ** 20;
/** How long a server knows what it has published, so that it may be asked again. */
const ageMax = 120_000;

export function makePublisher(session) {
  const { requests, encryption, subscriptions, link } = session;
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

    /** For messages with an id: what begins the sending of one, and what then belongs to it. Another module has it. */
    named() {
      throw noModule('id', operation);
    },

    async publish(about, message, { customType = '', storeInHistory = false, priority = 0, id }) {
      const isText = typeof message === 'string';
      let payload = isText ? utf8(message) : asBytes(message);
      if (encryption) payload = await encryption.sealMessage(about, message, customType);
      const { payloadMax: value = usualPayloadMax } = about;
      if (payload.length > value) {
        const limit = { name: 'message bytes', value };
        throw new RTMError(-11010, `the message has ${payload.length} bytes, and ${value} are allowed`, { operation, limit });
      }
      const named = id === undefined ? undefined : publisher.named(about.key, id);
      const call = { ...request };
      await requests.ready(call);
      const own = named?.();
      const sent = add(call.deadline, about.key, {
        channelType: about.type,
        channel: about.name,
        messageType: isText && !encryption ? 1 : 0,
        payload,
        customType,
        storeInHistory,
        priority,
        ...own?.fields,
      });
      if (own) sent.catch(own.failed);
      return sent;
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
  if (!(message instanceof ArrayBuffer || ArrayBuffer.isView(message))) {
    throw new RTMError(-11031, 'a message is a text or bytes', { operation });
  }
  const { buffer = message, byteOffset, byteLength } = message;
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}

// Publishing: a message is sent in its turn, and again until its answer comes or nobody waits for it any more.

import { noAnswer, noConnection, RTMError } from './errors.js';
import { Publishes } from './publishes.js';
import { utf8 } from './wire.js';

const operation = 'publish';
const request = { codes: [-11026, -11027], operation };
const unknown = 'whether the message was published is unknown';
// Limits: bytes of a message, those of a topic's, and bytes that wait for the network.
const payloadMax = 32_768;
const topicPayloadMax = 1024;
const unsentMax = 8 * 2 ** 20;
/** How long a server knows what it has published, so that it may be asked again. */
const ageMax = 120_000;

const tooMany = (what, more) => new RTMError(-11025, `messages are published faster than ${what}`, { operation, ...more });
const tooManyWait = (retryAfter) => tooMany('the server allows', { retryAfter });

export function makePublisher(session) {
  const { requests, link, config, subscriptions, encryption } = session;
  const queue = new Publishes();
  /** That of the user's inbox says which server knows what was published. */
  const epoch = () => subscriptions.inbox.position?.epoch ?? 0;

  async function publish(about, message, { customType = '', storeInHistory = false, priority = 0 }) {
    const isText = typeof message === 'string';
    let payload = isText ? utf8(message) : asBytes(message);
    if (encryption) payload = await encryption.sealMessage(about, message, customType);
    const value = about.type === 5 ? topicPayloadMax : payloadMax;
    if (payload.length > value) {
      const limit = { name: 'message bytes', value };
      throw new RTMError(-11010, `the message has ${payload.length} bytes, and ${value} are allowed`, { operation, limit });
    }
    const call = { ...request };
    await requests.ready(call);
    return add(call.deadline, about.key, {
      channelType: about.type,
      channel: about.name,
      messageType: isText && !encryption ? 1 : 0,
      payload,
      customType,
      storeInHistory,
      priority,
    });
  }

  const add = (deadline, to, message) =>
    new Promise((resolve, reject) => {
      // It may have been lost since the call became ready.
      if (link.state !== 'connected') return reject(noConnection(request));
      if (session.connection.socket.bufferedAmount > unsentMax) {
        return reject(tooMany('the connection takes them', { limit: { name: 'unsent bytes', value: unsentMax } }));
      }
      const id = requests.newId();
      const admission = queue.add(id, to, message, epoch(), session.now, deadline);
      if (typeof admission === 'number') return reject(tooManyWait(Math.ceil(admission)));
      const ended = (finish) => (value) => {
        queue.remove(id);
        sendAll(queue.takeHeld(session.now));
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
          requests.later(operation, error.retryAfter, () => sendAll(queue.takePostponed(session.now)));
          return true;
        },
        late: (isOver) => tooLate(id, isOver),
      });
      if (admission) sendAll([{ id, publish: admission }]);
      return undefined;
    });

  /** There was no answer in time, or before the session was over. */
  function tooLate(id, isOver) {
    const { state, refusal } = queue.remove(id);
    const wasSent = state === 'sent' || state === 'postponed';
    if (isOver && !wasSent) return undefined;
    if (state === 'paced') return tooManyWait(1);
    if (refusal && !isOver) return new RTMError(refusal.code, `${refusal.reason}; ${unknown}`, { operation });
    return noAnswer(request, unknown);
  }

  function sendAll(sendings) {
    for (const { id, publish } of sendings) {
      try {
        if (session.isOpen) session.sendFrame(operation, publish, id);
      } catch (error) {
        requests.fail(id, new RTMError(-10014, error.message, { operation }));
      }
    }
  }

  // MARK: Connections

  /** After a login: what the lost connection left without an answer goes first, so that nothing new overtakes it. */
  function resume(rates) {
    const { again, tooOld } = queue.takeLost(session.now, ageMax);
    sendAll(again);
    for (const id of tooOld) requests.fail(id, noAnswer(request, unknown));
    queue.pace(config.pacesPublishes ? rates : undefined, session.now);
    tick();
  }

  function tick() {
    if (session.isOpen) sendAll(queue.takeDue(session.now, epoch()));
  }

  return {
    publish,
    resume,
    tick,
    lost: () => queue.lost(),
    get deadline() {
      return session.isOpen ? queue.nextDue : Infinity;
    },
  };
}

function asBytes(message) {
  if (message instanceof ArrayBuffer) return new Uint8Array(message);
  if (ArrayBuffer.isView(message)) return new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice();
  throw new RTMError(-11031, 'a message is a text, an ArrayBuffer or a view of one', { operation });
}

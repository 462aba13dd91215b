// Publishing: a message is sent in its turn, and again until its answer comes or nobody waits for it any more.

import { noAnswer, noConnection, RTMError } from './errors.js';
import { Publishes } from './publishes.js';
import { utf8 } from './wire.js';

const request = { codes: [-11026, -11027], operation: 'publish' };
const { operation } = request;
const unknown = 'whether the message was published is unknown';
// Limits: bytes of a message, those of a topic's, and bytes that wait for the network.
const payloadMax = 32_768;
const topicPayloadMax = 1024;
const unsentMax = 8 * 2 ** 20;
/** How long a server knows what it has published, so that it may be asked again. */
const ageMax = 120_000;

const tooMany = (reason, more) => new RTMError(-11025, `messages are published faster than ${reason}`, { operation, ...more });
const tooManyWait = (retryAfter) => tooMany('the server allows, and too many wait already', { retryAfter });

export class Publisher {
  #session;
  #queue = new Publishes();

  constructor(session) {
    this.#session = session;
  }

  get deadline() {
    return this.#session.isOpen ? this.#queue.nextDue : Infinity;
  }

  /** That of the user's inbox says which server knows what was published. */
  get #epoch() {
    return this.#session.subscriptions.inbox?.epoch ?? 0;
  }

  async publish(about, message, { customType = '', storeInHistory = false, priority = 0 }) {
    const session = this.#session;
    const isText = typeof message === 'string';
    let payload = isText ? utf8(message) : asBytes(message);
    if (session.encryption) payload = await session.encryption.sealMessage(about, message, customType);
    const value = about.type === 5 ? topicPayloadMax : payloadMax;
    if (payload.length > value) {
      const limit = { name: 'message bytes', value };
      throw new RTMError(-11010, `the message has ${payload.length} bytes, and ${value} are allowed`, { operation, limit });
    }
    const call = { ...request };
    await session.requests.ready(call);
    return this.#add(call, about, {
      channelType: about.type,
      channel: about.name,
      messageType: isText && !session.encryption ? 1 : 0,
      payload,
      customType,
      storeInHistory,
      priority,
    });
  }

  #add({ deadline }, { key }, publish) {
    const { requests, link, connection, now } = this.#session;
    return new Promise((resolve, reject) => {
      // It may have been lost since the call became ready.
      if (link.state !== 'connected') return reject(noConnection(request));
      if (connection.socket.bufferedAmount > unsentMax) {
        return reject(tooMany('the connection takes them', { limit: { name: 'unsent bytes', value: unsentMax } }));
      }
      const id = requests.newId();
      const admission = this.#queue.add(id, key, publish, this.#epoch, now, deadline);
      if (typeof admission === 'number') return reject(tooManyWait(Math.ceil(admission)));
      const ended = (finish) => (value) => {
        this.#queue.remove(id);
        this.#send(this.#queue.takeHeld(this.#session.now));
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
          this.#queue.postpone(id, error);
          requests.later('publishes', error.retryAfter, () => this.#send(this.#queue.takePostponed(this.#session.now)));
          return true;
        },
        late: (isOver) => this.#late(id, isOver),
      });
      if (admission) this.#send([{ id, publish: admission }]);
      return undefined;
    });
  }

  /** There was no answer in time, or before the session was over. */
  #late(id, isOver) {
    const { state, refusal } = this.#queue.remove(id);
    if (isOver) {
      const isUnknown = state === 'sent' || state === 'postponed';
      return isUnknown ? noAnswer(request, `the session has ended; ${unknown}`) : undefined;
    }
    if (state === 'paced') return tooManyWait(1);
    if (refusal) return new RTMError(refusal.code, `${refusal.reason}; ${unknown}`, { operation });
    return noAnswer(request, `the server did not answer in time; ${unknown}`);
  }

  #send(sendings) {
    const { isOpen, requests } = this.#session;
    for (const { id, publish } of sendings) {
      try {
        if (isOpen) this.#session.sendFrame('publish', publish, id);
      } catch (error) {
        requests.fail(id, new RTMError(-10014, error.message, { operation }));
      }
    }
  }

  // MARK: Connections

  lost() {
    this.#queue.lost();
  }

  /** After a login: what the lost connection left without an answer goes first, so that nothing new overtakes it. */
  resume(rates) {
    const { now, requests, config } = this.#session;
    const { again, tooOld } = this.#queue.takeLost(now, ageMax);
    this.#send(again);
    for (const id of tooOld) requests.fail(id, noAnswer(request, `the connection was lost for too long; ${unknown}`));
    this.#queue.pace(config.pacesPublishes ? rates : undefined, now);
    this.tick();
  }

  tick() {
    const { isOpen, now } = this.#session;
    if (isOpen) this.#send(this.#queue.takeDue(now, this.#epoch));
  }
}

function asBytes(message) {
  if (message instanceof ArrayBuffer) return new Uint8Array(message);
  if (ArrayBuffer.isView(message)) return new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice();
  throw new RTMError(-11031, 'a message is a text, an ArrayBuffer or a view of one', { operation });
}

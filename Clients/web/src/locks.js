// The locks that this client owns and waits for, over its connections (protocol/locks.md).

import { notConnected } from './errors.js';

export class OwnLocks {
  /** By channel and name: the place, the token, and whether it is to be released at the next login. */
  #owned = new Map();
  /** Acquisitions that wait in line, and have to stand there again after a loss. */
  #queue = [];
  #lost = [];

  constructor(session) {
    this.session = session;
  }

  clear() {
    this.#owned.clear();
    for (const { request } of this.#queue.splice(0)) request.reject(notConnected('lock', 'acquireLock'));
    this.#lost = [];
  }

  acquire(place, key, wait, signal) {
    const operation = 'acquireLock';
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      let isOver = false;
      const over = (finish) => (value) => {
        isOver = true;
        signal?.removeEventListener('abort', abort);
        finish(value);
      };
      const fail = over(reject);
      const abort = () => {
        this.#queue = this.#queue.filter(({ request: other }) => other !== request);
        this.#withdraw(place);
        fail(signal.reason);
      };
      signal?.addEventListener('abort', abort);
      const request = {
        kind: 'lock',
        operation,
        deadline: wait ? Infinity : undefined,
        resolve: ({ fencingToken }) => {
          if (isOver) return this.#withdraw(place);
          this.#owned.set(key, { place, token: fencingToken });
          return over(resolve)({ fencingToken });
        },
        reject: fail,
        // Storage was restarted while this waited.
        refused: (error, id) =>
          wait && error.code === -14002 && !isOver && this.session.sendAgain(id, 'acquireLock', body, error.retryAfter ?? 1000),
        lost: () => {
          if (wait) this.#queue.push({ request, send });
          else fail(notConnected('lock', operation, 'the connection was lost before the answer'));
        },
        timedOut: () => this.#withdraw(place),
      };
      const body = { ...place, retry: wait };
      const send = () => this.session.send('acquireLock', body, request);
      return send();
    });
  }

  async release(place, key) {
    const token = this.#owned.get(key)?.token;
    try {
      await this.session.ask('lock', 'releaseLock', 'releaseLock', place);
      this.#owned.delete(key);
    } catch (error) {
      // What was to be released stays released: the next login does it.
      if (error.code === -10025 && token) this.#owned.set(key, { place, token, ends: true });
      else if (error.code === -14006) this.#owned.delete(key);
      throw error;
    }
  }

  #withdraw(place) {
    this.session.notify('releaseLock', { ...place, withdraw: true });
  }

  /** After a login: what was owned is claimed, before the channels are restored. */
  restore() {
    for (const [key, { place, token, ends }] of [...this.#owned]) {
      if (ends) {
        this.#owned.delete(key);
        this.#withdraw(place);
        continue;
      }
      this.session.restores();
      const done = () => this.session.restored();
      this.session.send(
        'acquireLock',
        { ...place, heldToken: token },
        {
          kind: 'lock',
          operation: 'acquireLock',
          deadline: this.session.now + this.session.config.requestTimeout / 2,
          resolve: done,
          reject: (error) => {
            if (error.code === -14006 || error.code === -14008) {
              this.#owned.delete(key);
              this.#lost.push(place);
            }
            done();
          },
          lost() {},
        },
      );
    }
  }

  announceLost() {
    for (const { channelType, channel, name } of this.#lost.splice(0)) {
      this.session.emit({
        type: 'lock',
        channelType: channelType === 2 ? 'stream' : 'message',
        channelName: channel,
        change: 'expired',
        locks: [{ name, owner: '', ttl: 0, fencingToken: 0 }],
        publisher: '',
        timestamp: this.session.time,
      });
    }
  }

  queueAgain() {
    for (const { send } of this.#queue.splice(0)) send();
  }

  /** Somebody has taken the lock away. */
  changed({ key }, { type, lock }, self) {
    if (type === 3 || (type === 5 && lock.owner === self)) this.#owned.delete(`${key}/${lock.name}`);
  }
}

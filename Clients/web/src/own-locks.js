// The locks that this client owns and waits for, over its connections (protocol/locks.md).

import { noConnection } from './errors.js';

export const codes = [-14002, -10025];
const request = { codes, operation: 'acquireLock' };

export class OwnLocks {
  #session;
  /** By channel and name: the place, the token, and whether it is to be released at the next login. */
  #owned = new Map();
  /** Acquisitions that wait in line, and have to stand there again after a loss. */
  #queue = [];
  #lost = [];

  constructor(session) {
    this.#session = session;
  }

  clear() {
    this.#owned.clear();
    for (const { call: waiting } of this.#queue.splice(0)) waiting.reject(noConnection(waiting));
    this.#lost = [];
  }

  acquire(place, key, wait, signal) {
    const { requests } = this.#session;
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
        this.#queue = this.#queue.filter((other) => other.call !== call);
        this.#withdraw(place);
        fail(signal.reason);
      };
      signal?.addEventListener('abort', abort);
      const body = { ...place, retry: wait };
      const send = () => requests.send('acquireLock', body, call);
      const call = {
        ...request,
        deadline: wait ? Infinity : undefined,
        resolve: ({ fencingToken }) => {
          if (isOver) return this.#withdraw(place);
          this.#owned.set(key, { place, token: fencingToken });
          return over(resolve)({ fencingToken });
        },
        reject: fail,
        // Storage was restarted while this waited.
        refused: (error, id) =>
          wait && error.code === codes[0] && !isOver && requests.sendAgain('acquireLock', body, id, error),
        lost: () => {
          if (wait) this.#queue.push({ call, send });
          else fail(noConnection(request));
        },
        late: () => this.#withdraw(place),
      };
      return send();
    });
  }

  async release(place, key) {
    const token = this.#owned.get(key)?.token;
    try {
      await this.#session.requests.ask(codes, 'releaseLock', place);
      this.#owned.delete(key);
    } catch (error) {
      // What was to be released stays released: the next login does it.
      if (error.code === -10025 && token) this.#owned.set(key, { place, token, ends: true });
      else if (error.code === -14006) this.#owned.delete(key);
      throw error;
    }
  }

  #withdraw(place) {
    this.#session.requests.notify('releaseLock', { ...place, withdraw: true });
  }

  /** After a login: what was owned is claimed, before the channels are restored. */
  restore() {
    const { requests, restoring, config, now } = this.#session;
    for (const [key, { place, token, ends }] of [...this.#owned]) {
      if (ends) {
        this.#owned.delete(key);
        this.#withdraw(place);
        continue;
      }
      restoring.left++;
      const done = () => this.#session.restored();
      const claim = {
        ...request,
        deadline: now + config.requestTimeout / 2,
        resolve: done,
        reject: (error) => {
          if (error.code === -14006 || error.code === -14008) {
            this.#owned.delete(key);
            this.#lost.push(place);
          }
          done();
        },
        lost() {},
      };
      requests.send('acquireLock', { ...place, heldToken: token }, claim);
    }
  }

  /** Those that could not be claimed, once. */
  takeLost() {
    return this.#lost.splice(0);
  }

  /** Who waited in line stands there again. */
  queueAgain() {
    for (const { send } of this.#queue.splice(0)) send();
  }

  /** Somebody has taken a lock away. */
  drop(key, name) {
    this.#owned.delete(`${key}/${name}`);
  }
}

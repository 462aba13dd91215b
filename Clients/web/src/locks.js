// Locks of channels: one owner at a time, with fencing tokens. A module of its own, so that nobody loads it who needs none.

import { LockEvents, lockOf } from './lock-events.js';
import { target } from './names.js';
import { codes } from './own-locks.js';
import { sessionOf } from './session.js';

export class Locks {
  #requests;
  #own;

  constructor(client) {
    const session = sessionOf(client);
    this.#requests = session.requests;
    this.#own = session.part(LockEvents).own;
  }

  async set(channel, name, options) {
    const { ttl = 10_000 } = options ?? {};
    const { place } = lockAt(channel, name);
    await this.#requests.ask(codes, 'setLock', { ...place, ttlS: Math.max(0, Math.round(ttl / 1000)) });
  }

  async remove(channel, name) {
    await this.#requests.ask(codes, 'removeLock', lockAt(channel, name).place);
  }

  async acquire(channel, name, options) {
    const { wait = false, signal } = options ?? {};
    const { place, key } = lockAt(channel, name);
    await this.#requests.ready({ codes, operation: 'acquireLock' });
    return this.#own.acquire(place, key, wait, signal);
  }

  async release(channel, name) {
    const { place, key } = lockAt(channel, name);
    await this.#own.release(place, key);
  }

  async revoke(channel, name, owner) {
    await this.#requests.ask(codes, 'revokeLock', { ...lockAt(channel, name).place, owner });
  }

  async list(channel) {
    const { type, name } = target(channel);
    const { locks } = await this.#requests.ask(codes, 'getLocks', { channelType: type, channel: name });
    return locks.map(lockOf);
  }
}

function lockAt(channel, name) {
  const about = target(channel);
  return { place: { channelType: about.type, channel: about.name, name }, key: `${about.key}/${name}` };
}

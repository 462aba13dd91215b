// Locks within a session: those of this client, and what subscribers are shown.

import { schema } from './locks-schema.js';
import { types } from './names.js';
import { codes, OwnLocks } from './own-locks.js';
import { Refreshes } from './refreshes.js';
import { define } from './wire.js';

define(schema);
const bit = 8;
const changes = { 2: 'set', 3: 'removed', 4: 'acquired', 5: 'released' };

export const lockOf = ({ name, owner, ttlS, fencingToken }) => ({ name, owner, ttl: ttlS * 1000, fencingToken });

export class LockEvents {
  #session;
  #refreshes;
  /** By subscription: the newest revision that was shown. */
  #shown = new WeakMap();

  constructor(session) {
    this.#session = session;
    session.features.locks = bit;
    this.own = new OwnLocks(session);
    const request = ({ type, name }) => ({ channelType: type, channel: name });
    this.#refreshes = new Refreshes(session, codes, 'getLocks', request, (body) => this.locks(body));
  }

  onLoggedIn() {
    this.own.restore();
  }

  onConnected() {
    for (const { channelType, channel, name } of this.own.takeLost()) {
      const lock = { name, owner: '', ttlS: 0, fencingToken: 0 };
      this.#emit({ type: channelType === 2 ? 2 : 1, name: channel }, 'expired', [lock]);
    }
    this.own.queueAgain();
  }

  onSubscribed(entry, { featuresUnavailable }) {
    if (entry.features & featuresUnavailable & bit) this.#refreshes.later(entry);
  }

  onGap(entry) {
    if (entry.features & bit) this.#refreshes.ask(entry);
  }

  onForget() {
    this.own.clear();
  }

  /** All of a channel, which the server sends at first, or as an answer. */
  locks({ channelType, channel, revision, locks }) {
    const entry = this.#session.subscriptions.get(`${channelType}/${channel}`);
    if (!entry) return;
    this.#shown.set(entry, revision);
    this.#emit(entry, 'snapshot', locks);
  }

  lock({ type, lock, revision }, { entry, publisher, timestamp }) {
    if (revision <= (this.#shown.get(entry) ?? 0)) return;
    this.#shown.set(entry, revision);
    if (type === 3 || (type === 5 && lock.owner === this.#session.userId)) this.own.drop(entry.key, lock.name);
    this.#emit(entry, changes[type] ?? 'other', [lock], publisher, timestamp);
  }

  #emit({ type, name }, change, locks, publisher = '', timestamp = this.#session.time) {
    const about = { type: 'lock', channelType: types[type], channelName: name };
    this.#session.emit({ ...about, change, locks: locks.map(lockOf), publisher, timestamp });
  }
}

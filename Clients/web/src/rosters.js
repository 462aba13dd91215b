// Presence within a session: who is in the channels that are subscribed with it, and the own states.

import { types } from './names.js';
import { schema } from './presence-schema.js';
import { asStates, Roster } from './roster.js';
import { codes, OwnStates } from './states.js';
import { define, encode } from './wire.js';

define(schema);
const quiet = 16;
const presence = 1;

export class Rosters {
  #session;
  #rosters = new Map();

  constructor(session) {
    this.#session = session;
    session.features.presence = presence;
    this.states = new OwnStates(session, this);
  }

  /** One page of the users in a channel. */
  async list({ type, name }, { userIds = true, states = false, page = '' }) {
    const request = { channelType: type, channel: name, includeUserId: userIds, includeState: states, page };
    const { users, nextPage, total } = await this.#session.requests.ask(codes, 'whoNow', request);
    return { users: users.map(({ userId, items }) => ({ userId, states: asStates(items) })), nextPage, total };
  }

  /** The states that a user shows in a channel, if its roster is known. */
  shown(key, user) {
    return this.#rosters.get(key)?.users?.get(user);
  }

  onSend(kind, body) {
    if (kind === 'subscribe') this.states.bring([body]);
    if (kind === 'login') this.states.bring(body.subscriptions ?? [], encode('Login', body).length);
  }

  onSubscribed(entry, { position, featuresUnavailable, statesSet }) {
    const { key, type, features } = entry;
    if (type === 0 || type === 5) return;
    const self = this.#session.userId;
    if (features & presence) {
      const roster = this.#rosters.get(key) ?? new Roster(self);
      this.#rosters.set(key, roster);
      roster.begin(position.epoch);
      if (featuresUnavailable & presence) this.#emit(entry, roster.lost());
      // Who was quiet adds itself.
      else if (roster.users && !(features & quiet) && !roster.users.has(self)) roster.users.set(self, { ...this.states.of(key) });
    } else this.#rosters.delete(key);
    this.states.settle(entry, statesSet);
  }

  onUnsubscribed({ key }) {
    this.#rosters.delete(key);
    this.states.forget(key);
  }

  onGap({ key }, { epoch }) {
    this.#rosters.get(key)?.begin(epoch);
  }

  onForget() {
    this.#rosters.clear();
    this.states.clear();
  }

  presenceSnapshot(body) {
    const key = `${body.channelType}/${body.channel}`;
    const roster = this.#rosters.get(key);
    if (roster) this.#emit(this.#session.subscriptions.get(key), roster.snapshot(body, this.states.of(key)));
  }

  presence(event, { entry, publisher, offset, timestamp }) {
    const roster = this.#rosters.get(entry.key);
    if (roster) this.#emit(entry, roster.event(offset, publisher, event), timestamp);
  }

  #emit({ type, name }, changes, timestamp = this.#session.time) {
    const about = { type: 'presence', channelType: types[type], channelName: name };
    for (const change of changes) this.#session.emit({ ...about, ...change, timestamp });
  }
}

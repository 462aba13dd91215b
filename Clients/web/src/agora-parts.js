// The parts of the vendor's client: presence, locks and history, over the modules that do the work.

import { asName, asText, asType, channel, counted, listOf, lockDetail, Part, upper } from './agora-common.js';
import { History as ModernHistory } from './history.js';
import { Locks } from './locks.js';
import { Presence as ModernPresence } from './presence.js';

export class Presence extends Part {
  #presence;

  constructor(rtm, client) {
    super(rtm, client);
    this.#presence = new ModernPresence(client);
  }

  whoNow(channelName, channelType, options) {
    return this.#users('whoNow', channelName, channelType, options);
  }

  getOnlineUsers(channelName, channelType, options) {
    return this.#users('getOnlineUsers', channelName, channelType, options);
  }

  #users(operation, channelName, channelType, options) {
    const ask = async ({ includedUserId = true, includedState = false, page = '' }) => {
      const wanted = { userIds: includedUserId, states: includedState, page };
      const { users, nextPage, total } = await this.#presence.whoNow(channel(channelName, channelType), wanted);
      return { totalOccupancy: total, occupants: users.map(counted), nextPage };
    };
    return this.perform(operation, ask, options);
  }

  whereNow(userId) {
    return this.#channels('whereNow', userId);
  }

  getUserChannels(userId) {
    return this.#channels('getUserChannels', userId);
  }

  #channels(operation, userId) {
    return this.perform(operation, async () => {
      const channels = (await this.#presence.whereNow(this.userOf(userId))).map(({ channelType, channelName }) => ({
        channelName,
        channelType: upper(channelType),
      }));
      return { channels, totalChannel: channels.length };
    });
  }

  setState(channelName, channelType, state) {
    return this.perform('setState', () => {
      const states = Object.entries(state ?? {}).map(([key, value]) => [key, asText(value, -10014)]);
      return this.#presence.setState(channel(channelName, channelType), Object.fromEntries(states));
    });
  }

  getState(userId, channelName, channelType) {
    return this.perform('getState', async () => {
      const user = this.userOf(userId);
      return counted({ userId: user, states: await this.#presence.getState(channel(channelName, channelType), user) });
    });
  }

  removeState(channelName, channelType, options) {
    const remove = ({ states }) => this.#presence.removeState(channel(channelName, channelType), listOf(states, 'states'));
    return this.perform('removeState', remove, options);
  }
}

export class Lock extends Part {
  #locks;

  constructor(rtm, client) {
    super(rtm, client);
    this.#locks = new Locks(client);
  }

  #perform(operation, channelName, channelType, lockName, work, options) {
    const perform = async (given) => {
      await work(channel(channelName, channelType), asName(lockName, 'lock'), given);
      return { channelName, channelType: asType(channelType), lockName };
    };
    return this.perform(operation, perform, options);
  }

  setLock(channelName, channelType, lockName, options) {
    const set = (about, name, { ttl = 10 }) => this.#locks.set(about, name, { ttl: ttl * 1000 });
    return this.#perform('setLock', channelName, channelType, lockName, set, options);
  }

  removeLock(channelName, channelType, lockName) {
    return this.#perform('removeLock', channelName, channelType, lockName, (about, name) => this.#locks.remove(about, name));
  }

  acquireLock(channelName, channelType, lockName, options) {
    const acquire = (about, name, { retry = false }) => this.#locks.acquire(about, name, { wait: retry });
    return this.#perform('acquireLock', channelName, channelType, lockName, acquire, options);
  }

  releaseLock(channelName, channelType, lockName) {
    return this.#perform('releaseLock', channelName, channelType, lockName, (about, name) => this.#locks.release(about, name));
  }

  revokeLock(channelName, channelType, lockName, owner) {
    const revoke = (about, name) => this.#locks.revoke(about, name, asName(owner, 'user'));
    return this.#perform('revokeLock', channelName, channelType, lockName, revoke);
  }

  getLock(channelName, channelType) {
    return this.perform('getLock', async () => {
      const lockDetails = (await this.#locks.list(channel(channelName, channelType))).map(lockDetail);
      return { channelName, channelType: asType(channelType), totalLocks: lockDetails.length, lockDetails };
    });
  }
}

export class History extends Part {
  #history;

  constructor(rtm, client) {
    super(rtm, client);
    this.#history = new ModernHistory(client);
  }

  getMessages(channelName, channelType, options) {
    const read = async ({ messageCount = 100, start = 0, end = 0 }) => {
      const page = await this.#history.page(channel(channelName, channelType), { count: messageCount, start, end });
      const messageList = page.messages.map(({ payload, publisher, customType, timestamp }) => ({
        message: payload,
        messageType: typeof payload === 'string' ? 'STRING' : 'BINARY',
        customType,
        publisher,
        timestamp,
      }));
      return { messageList, count: messageList.length, newStart: page.newStart };
    };
    return this.perform('getMessages', read, options);
  }
}

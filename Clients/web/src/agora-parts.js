// The parts of the vendor's client: presence, locks and history, over the modules that do the work.

import { channel, counted, lockDetail, Part, upper } from './agora-common.js';
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

  #users(operation, channelName, channelType, { includedUserId = true, includedState = false, page = '' } = {}) {
    return this.perform(operation, async () => {
      const options = { userIds: includedUserId, states: includedState, page };
      const { users, nextPage, total } = await this.#presence.whoNow(channel(channelName, channelType), options);
      return { totalOccupancy: total, occupants: users.map(counted), nextPage };
    });
  }

  whereNow(userId) {
    return this.#channels('whereNow', userId);
  }

  getUserChannels(userId) {
    return this.#channels('getUserChannels', userId);
  }

  #channels(operation, userId) {
    return this.perform(operation, async () => {
      const channels = (await this.#presence.whereNow(userId)).map(({ channelType, channelName }) => ({
        channelName,
        channelType: upper(channelType),
      }));
      return { channels, totalChannel: channels.length };
    });
  }

  setState(channelName, channelType, state) {
    return this.perform('setState', () => this.#presence.setState(channel(channelName, channelType), state));
  }

  getState(userId, channelName, channelType) {
    return this.perform('getState', async () =>
      counted({ userId, states: await this.#presence.getState(channel(channelName, channelType), userId) }),
    );
  }

  removeState(channelName, channelType, { states = [] } = {}) {
    return this.perform('removeState', () => this.#presence.removeState(channel(channelName, channelType), states));
  }
}

export class Lock extends Part {
  #locks;

  constructor(rtm, client) {
    super(rtm, client);
    this.#locks = new Locks(client);
  }

  #perform(operation, channelName, channelType, lockName, work) {
    return this.perform(operation, async () => {
      await work(channel(channelName, channelType));
      return { channelName, channelType, lockName };
    });
  }

  setLock(channelName, channelType, lockName, { ttl = 10 } = {}) {
    const set = (about) => this.#locks.set(about, lockName, { ttl: ttl * 1000 });
    return this.#perform('setLock', channelName, channelType, lockName, set);
  }

  removeLock(channelName, channelType, lockName) {
    return this.#perform('removeLock', channelName, channelType, lockName, (about) => this.#locks.remove(about, lockName));
  }

  acquireLock(channelName, channelType, lockName, { retry = false } = {}) {
    const acquire = (about) => this.#locks.acquire(about, lockName, { wait: retry });
    return this.#perform('acquireLock', channelName, channelType, lockName, acquire);
  }

  releaseLock(channelName, channelType, lockName) {
    return this.#perform('releaseLock', channelName, channelType, lockName, (about) => this.#locks.release(about, lockName));
  }

  revokeLock(channelName, channelType, lockName, owner) {
    const revoke = (about) => this.#locks.revoke(about, lockName, owner);
    return this.#perform('revokeLock', channelName, channelType, lockName, revoke);
  }

  getLock(channelName, channelType) {
    return this.perform('getLock', async () => {
      const lockDetails = (await this.#locks.list(channel(channelName, channelType))).map(lockDetail);
      return { channelName, channelType, totalLocks: lockDetails.length, lockDetails };
    });
  }
}

export class History extends Part {
  #history;

  constructor(rtm, client) {
    super(rtm, client);
    this.#history = new ModernHistory(client);
  }

  getMessages(channelName, channelType, { messageCount = 100, start = 0, end = 0 } = {}) {
    return this.perform('getMessages', async () => {
      const page = await this.#history.page(channel(channelName, channelType), { count: messageCount, start, end });
      const messageList = page.messages.map(({ payload, publisher, customType, timestamp }) => ({
        message: payload,
        messageType: typeof payload === 'string' ? 'STRING' : 'BINARY',
        customType,
        publisher,
        timestamp,
      }));
      return { messageList, count: messageList.length, newStart: page.newStart };
    });
  }
}

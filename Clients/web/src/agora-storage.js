// The vendor's storage, over the module that does the work.

import { channel, Part, storageData } from './agora-common.js';
import { RTMError } from './errors.js';
import { Storage as ModernStorage } from './storage.js';

// In the vendor's API -1 compares nothing, and 0 stands for what isn't there.
const revised = (revision) => (revision === undefined || revision === -1 ? undefined : revision);
const writeOptions = ({ majorRevision, lockName, addTimeStamp, addUserId } = {}) => ({
  majorRevision: revised(majorRevision),
  lock: lockName,
  recordTimestamp: addTimeStamp,
  recordAuthor: addUserId,
});
function writeItems(items) {
  if (!Array.isArray(items)) throw new RTMError(-10014, 'the data is a list of items');
  return items.map(({ key, value, revision }) => ({ key, value, revision: revised(revision) }));
}

export class Storage extends Part {
  #storage;

  constructor(rtm, client) {
    super(rtm, client);
    this.#storage = new ModernStorage(client);
  }

  #channel(operation, channelName, channelType, work) {
    return this.perform(operation, async () => {
      if (channelType === 'USER') throw new RTMError(-10019, 'a user channel has no metadata');
      return { channelName, channelType, ...(await work(channel(channelName, channelType))) };
    });
  }

  #user(operation, userId = this.client.userId, work) {
    return this.perform(operation, async () => ({ userId, ...(await work({ user: userId })) }));
  }

  async #write(write, about, data, options) {
    await this.#storage[write](about, writeItems(data), writeOptions(options));
    return { totalCount: data.length };
  }

  /** Without data the whole set. */
  async #remove(about, { data = [], ...options } = {}) {
    await this.#storage.remove(about, writeItems(data), writeOptions(options));
    return { totalCount: data.length };
  }

  setChannelMetadata(channelName, channelType, data, options) {
    const write = (about) => this.#write('set', about, data, options);
    return this.#channel('setChannelMetadata', channelName, channelType, write);
  }

  updateChannelMetadata(channelName, channelType, data, options) {
    const write = (about) => this.#write('update', about, data, options);
    return this.#channel('updateChannelMetadata', channelName, channelType, write);
  }

  removeChannelMetadata(channelName, channelType, options) {
    return this.#channel('removeChannelMetadata', channelName, channelType, (about) => this.#remove(about, options));
  }

  getChannelMetadata(channelName, channelType) {
    const get = async (about) => storageData(await this.#storage.get(about));
    return this.#channel('getChannelMetadata', channelName, channelType, get);
  }

  setUserMetadata(data, { userId, ...options } = {}) {
    return this.#user('setUserMetadata', userId, (about) => this.#write('set', about, data, options));
  }

  updateUserMetadata(data, { userId, ...options } = {}) {
    return this.#user('updateUserMetadata', userId, (about) => this.#write('update', about, data, options));
  }

  removeUserMetadata({ userId, ...options } = {}) {
    return this.#user('removeUserMetadata', userId, (about) => this.#remove(about, options));
  }

  getUserMetadata({ userId } = {}) {
    return this.#user('getUserMetadata', userId, async (about) => storageData(await this.#storage.get(about)));
  }

  subscribeUserMetadata(userId) {
    return this.#user('subscribeUserMetadata', userId, async ({ user }) => void (await this.#storage.follow(user)));
  }

  unsubscribeUserMetadata(userId) {
    return this.#user('unsubscribeUserMetadata', userId, async ({ user }) => void (await this.#storage.unfollow(user)));
  }
}

// The vendor's storage, over the module that does the work.

import { asName, asText, asType, channel, listOf, optionsOf, Part, storageData } from './agora-common.js';
import { RTMError } from './errors.js';
import { Storage as ModernStorage } from './storage.js';

// In the vendor's API -1 compares nothing, and 0 stands for what isn't there.
const revised = (revision) => (revision === -1 ? undefined : revision);
const writeOptions = ({ majorRevision, lockName, addTimeStamp, addUserId }) => ({
  majorRevision: revised(majorRevision),
  lock: lockName,
  recordTimestamp: addTimeStamp,
  recordAuthor: addUserId,
});
function writeItems(items) {
  if (!Array.isArray(items)) throw new RTMError(-10014, 'the data is a list of items');
  return items.map((item) => {
    if (!item || typeof item !== 'object') throw new RTMError(-12003, 'an item has a key and a value');
    const { revision } = optionsOf({ revision: item.revision });
    return { key: asName(item.key, 'option'), value: asText(item.value, -12010), revision: revised(revision) };
  });
}

export class Storage extends Part {
  #storage;

  constructor(rtm, client) {
    super(rtm, client);
    this.#storage = new ModernStorage(client);
  }

  #channel(operation, channelName, channelType, work, options) {
    const perform = async (given) => {
      if (asType(channelType) === 'USER') throw new RTMError(-10019, 'a user channel has no metadata');
      return { channelName, channelType: asType(channelType), ...(await work(channel(channelName, channelType), given)) };
    };
    return this.perform(operation, perform, options);
  }

  #user(operation, work, options) {
    const perform = async ({ userId, ...given }) => {
      const user = this.userOf(userId);
      return { userId: user, ...(await work({ user }, given)) };
    };
    return this.perform(operation, perform, options);
  }

  async #write(write, about, data, options) {
    const items = writeItems(data);
    await this.#storage[write](about, items, writeOptions(options));
    return { totalCount: items.length };
  }

  /** Without data the whole set. Where nothing is compared, there may be none. */
  async #remove(about, { data, ...options }) {
    const items = writeItems(listOf(data, 'items'));
    const { majorRevision, ...wanted } = writeOptions(options);
    try {
      await this.#storage.remove(about, items, { majorRevision, ...wanted });
    } catch (error) {
      if (error.code !== -12014 || items.length > 0 || majorRevision !== undefined) throw error;
    }
    return { totalCount: items.length };
  }

  setChannelMetadata(channelName, channelType, data, options) {
    const write = (about, given) => this.#write('set', about, data, given);
    return this.#channel('setChannelMetadata', channelName, channelType, write, options);
  }

  updateChannelMetadata(channelName, channelType, data, options) {
    const write = (about, given) => this.#write('update', about, data, given);
    return this.#channel('updateChannelMetadata', channelName, channelType, write, options);
  }

  removeChannelMetadata(channelName, channelType, options) {
    const remove = (about, given) => this.#remove(about, given);
    return this.#channel('removeChannelMetadata', channelName, channelType, remove, options);
  }

  getChannelMetadata(channelName, channelType) {
    const get = async (about) => storageData(await this.#storage.get(about));
    return this.#channel('getChannelMetadata', channelName, channelType, get);
  }

  setUserMetadata(data, options) {
    return this.#user('setUserMetadata', (about, given) => this.#write('set', about, data, given), options);
  }

  updateUserMetadata(data, options) {
    return this.#user('updateUserMetadata', (about, given) => this.#write('update', about, data, given), options);
  }

  removeUserMetadata(options) {
    return this.#user('removeUserMetadata', (about, given) => this.#remove(about, given), options);
  }

  getUserMetadata(options) {
    return this.#user('getUserMetadata', async (about) => storageData(await this.#storage.get(about)), options);
  }

  subscribeUserMetadata(userId) {
    const follow = async ({ user }) => void (await this.#storage.follow(user));
    return this.#user('subscribeUserMetadata', follow, { userId });
  }

  unsubscribeUserMetadata(userId) {
    const unfollow = async ({ user }) => void (await this.#storage.unfollow(user));
    return this.#user('unsubscribeUserMetadata', unfollow, { userId });
  }
}

// The API of agora-rtm 2.x for the web, over RTMClient. docs/web-compatibility.md lists every member and what it does here.

import { Encryption } from './encryption.js';
import { RTMError } from './errors.js';
import { History as ModernHistory } from './history.js';
import { RTMClient } from './index.js';
import { Locks } from './locks.js';
import { Pacing } from './pacing.js';
import { Presence as ModernPresence } from './presence.js';
import { sessionOf } from './session.js';
import { Storage as ModernStorage } from './storage.js';
import { StreamChannel } from './streams.js';

const kinds = { MESSAGE: 'channel', STREAM: 'stream', USER: 'user' };
const upper = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
let defaultServers = [];

/** A call failed: what the vendor's calls reject with. */
export class RTMBaseError extends Error {
  constructor(operation, { code = -10014, reason, message, ...error }) {
    super(`${operation} failed: ${reason ?? message} (${code})`);
    this.name = 'RTMBaseError';
    Object.assign(this, { error: true, operation, reason: reason ?? message, errorCode: code, code, originalError: error });
  }
}

function channel(name, type) {
  if (!(type in kinds)) throw new RTMError(-10019, `no channel type: ${type}`);
  return { [kinds[type]]: name };
}

const counted = ({ userId, states }) => ({ userId, states, statesCount: Object.keys(states).length });
const userList = (users) => ({ users, userCount: users.length });
const lockDetail = ({ name, owner, ttl }) => ({ lockName: name, owner, ttl: ttl / 1000 });
const storageData = ({ majorRevision, items }) => ({
  majorRevision,
  totalCount: items.length,
  metadata: Object.fromEntries(
    items.map(({ key, value, revision, updatedAt = 0, author = '' }) => [
      key,
      { value, revision, updated: updatedAt, authorUid: author },
    ]),
  ),
});
// In the vendor's API -1 compares nothing, and 0 stands for what isn't there.
const revised = (revision) => (revision === undefined || revision === -1 ? undefined : revision);
const writeOptions = ({ majorRevision, lockName, addTimeStamp, addUserId } = {}) => ({
  majorRevision: revised(majorRevision),
  lock: lockName,
  recordTimestamp: addTimeStamp,
  recordAuthor: addUserId,
});
const writeItems = (items) => items.map(({ key, value, revision }) => ({ key, value, revision: revised(revision) }));

/** What the parts of a client share. */
class Part {
  constructor(rtm, client) {
    Object.defineProperties(this, { rtm: { value: rtm }, client: { value: client } });
  }

  async perform(operation, work) {
    try {
      const answer = await work();
      return { timestamp: sessionOf(this.client).time, ...answer };
    } catch (error) {
      throw new RTMBaseError(operation, error);
    }
  }
}

class Presence extends Part {
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

class Storage extends Part {
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

class Lock extends Part {
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

class History extends Part {
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

class RTMStreamChannel extends Part {
  #stream;

  constructor(rtm, client, channelName) {
    super(rtm, client);
    this.channelName = channelName;
    this.#stream = new StreamChannel(client, channelName);
  }

  /** The link of the channel, as the vendor shows it. */
  #show(previousState, currentState, operation, reasonCode, reason = reasonCode) {
    const timestamp = sessionOf(this.client).time;
    this.rtm.emit('linkState', {
      currentState,
      previousState,
      serviceType: 'STREAM',
      operation,
      reasonCode,
      reason,
      affectedChannels: [this.channelName],
      unrestoredChannels: [],
      isResumed: false,
      timestamp,
    });
    const state = { CONNECTING: 'CONNECTING', CONNECTED: 'CONNECTED' }[currentState] ?? 'DISCONNECTED';
    this.rtm.emit('status', { channelName: this.channelName, state, reason: reasonCode, timestamp });
  }

  join({ token = '', withPresence = true, withMetadata = false, withLock = false, beQuiet = false } = {}) {
    return this.perform('join', async () => {
      const options = { token: token ?? '', presence: withPresence, metadata: withMetadata, locks: withLock, quiet: beQuiet };
      this.#show('IDLE', 'CONNECTING', 'JOIN', 'JOIN');
      try {
        await this.#stream.join(options);
      } catch (error) {
        this.#show('CONNECTING', 'FAILED', 'SERVER_REJECT', 'JOIN_FAILED', error.reason);
        throw error;
      }
      this.#show('CONNECTING', 'CONNECTED', 'JOIN', 'JOIN_SUCCESS');
      return { channelName: this.channelName };
    });
  }

  leave() {
    return this.perform('leave', async () => {
      await this.#stream.leave();
      this.#show('CONNECTED', 'IDLE', 'LEAVE', 'LEAVE');
      return { channelName: this.channelName };
    });
  }

  renewStreamChannelToken(token) {
    return this.perform('renewToken', () => this.#stream.renewToken(token));
  }

  #topic(operation, topicName, work) {
    return this.perform(operation, async () => ({ topicName, channelName: this.channelName, ...(await work()) }));
  }

  joinTopic(topicName, { meta = '', priority = 'NORMAL' } = {}) {
    const options = { meta: typeof meta === 'string' ? meta : JSON.stringify(meta), priority: `${priority}`.toLowerCase() };
    return this.#topic('joinTopic', topicName, () => this.#stream.joinTopic(topicName, options));
  }

  leaveTopic(topicName) {
    return this.#topic('leaveTopic', topicName, () => this.#stream.leaveTopic(topicName));
  }

  publishTopicMessage(topicName, message, { customType = '' } = {}) {
    const publish = async () => void (await this.#stream.publish(topicName, message, { customType }));
    return this.#topic('publishTopicMessage', topicName, publish);
  }

  subscribeTopic(topicName, { users = [] } = {}) {
    return this.#topic('subscribeTopic', topicName, async () => {
      const { succeeded, failed } = await this.#stream.subscribe(topicName, { users });
      const reason = 'the user does not publish the topic yet, and is subscribed nevertheless';
      const failedDetails = failed.map((user) => ({ user, topicName, errorCode: 5, reason }));
      return { succeedUsers: succeeded, failedUsers: failed, failedDetails };
    });
  }

  unsubscribeTopic(topicName, { users = [] } = {}) {
    return this.#topic('unsubscribeTopic', topicName, () => this.#stream.unsubscribe(topicName, { users }));
  }

  /** Without a promise, as the vendor's; `await` works as well. */
  getSubscribedUserList(topicName) {
    try {
      const subscribed = this.#stream.subscribedUsers(topicName);
      return { timestamp: sessionOf(this.client).time, topicName, subscribed };
    } catch (error) {
      throw new RTMBaseError('getSubscribedUserList', error);
    }
  }
}

// MARK: Events

const presenceEvents = {
  joined: 'REMOTE_JOIN',
  left: 'REMOTE_LEAVE',
  timedOut: 'REMOTE_TIMEOUT',
  stateChanged: 'REMOTE_STATE_CHANGED',
  outOfService: 'ERROR_OUT_OF_SERVICE',
};
const statusReasons = {
  loginSuccess: 'LOGIN_SUCCESS',
  reconnectSuccess: 'LOGIN_SUCCESS',
  logout: 'LOGOUT',
  sameUidLogin: 'SAME_UID_LOGIN',
  tokenExpired: 'TOKEN_EXPIRED',
  reconnectTimeout: 'LOST',
};

/** The events of the vendor that an event of the client becomes: pairs of name and argument. */
function translated(event) {
  const { type, timestamp, change, channelName } = event;
  const place = { channelType: event.channelType && upper(event.channelType), channelName };
  if (type === 'message') {
    const { payload, publisher, customType, topic } = event;
    const messageType = typeof payload === 'string' ? 'STRING' : 'BINARY';
    const content = { topicName: topic, messageType, customType, message: payload, publisher };
    return [['message', { ...place, ...content, publishTime: timestamp, timestamp }]];
  }
  if (type === 'presence') {
    const { interval, users, states = {}, userId = '' } = event;
    const eventType = presenceEvents[change] ?? upper(change);
    const shown = { eventType, ...place, publisher: userId, stateChanged: states, interval: null, snapshot: null, timestamp };
    if (users) shown.snapshot = users.map(counted);
    if (interval) {
      shown.interval = {
        join: userList(interval.joined),
        leave: userList(interval.left),
        timeout: userList(interval.timedOut),
        userStateList: interval.states.map(counted),
      };
    }
    return [['presence', shown]];
  }
  if (type === 'storage') {
    const { isSnapshot, publisher, metadata } = event;
    const storageType = event.channelType === 'user' ? 'USER' : 'CHANNEL';
    const eventType = isSnapshot ? 'SNAPSHOT' : 'UPDATE';
    return [['storage', { ...place, publisher, storageType, eventType, data: storageData(metadata), timestamp }]];
  }
  if (type === 'lock') {
    const details = event.locks.map(lockDetail);
    const isSnapshot = change === 'snapshot';
    const eventType = upper(change);
    if (isSnapshot) {
      return [['lock', { ...place, eventType, lockName: '', owner: '', ttl: 0, publisher: '', snapshot: details, timestamp }]];
    }
    const { publisher } = event;
    return details.map((detail) => ['lock', { ...place, eventType, ...detail, publisher, snapshot: [], timestamp }]);
  }
  if (type === 'topic') {
    const info = ({ name, publishers }) => ({
      topicName: name,
      publishers: publishers.map(({ userId, meta }) => ({ publisherUserId: userId, publisherMeta: meta })),
      totalPublisher: publishers.length,
    });
    const topics = event.topics ?? [{ name: event.topic, publishers: [{ userId: event.userId, meta: event.meta }] }];
    const eventType = { joined: 'REMOTE_JOIN', left: 'REMOTE_LEAVE' }[change] ?? 'SNAPSHOT';
    const topicInfos = topics.map(info);
    const publisher = event.userId ?? '';
    return [['topic', { eventType, channelName, publisher, topicInfos, totalTopics: topics.length, timestamp }]];
  }
  if (type === 'linkState') {
    const { currentState, previousState, operation, reasonCode, reason, affectedChannels, unrestoredChannels, isResumed } = event;
    const link = {
      currentState: upper(currentState),
      previousState: upper(previousState),
      serviceType: 'MESSAGE',
      operation: upper(operation),
      reasonCode: upper(reasonCode),
      reason,
      affectedChannels,
      unrestoredChannels,
      isResumed,
      timestamp,
    };
    const isReturn = currentState === 'connecting' && operation === 'autoReconnect';
    const isLost = currentState === 'disconnected' || currentState === 'suspended';
    const state = isReturn || isLost ? 'RECONNECTING' : currentState === 'idle' ? 'DISCONNECTED' : upper(currentState);
    const usual = { CONNECTING: 'CONNECTING', FAILED: 'REJECTED_BY_SERVER' }[state] ?? 'INTERRUPTED';
    return [
      ['linkState', link],
      ['status', { state, reason: statusReasons[reasonCode] ?? usual, timestamp }],
    ];
  }
  if (type === 'tokenWillExpire') return [['tokenPrivilegeWillExpire', channelName ?? '']];
  if (type === 'streamChannelEnded') {
    const ended = { currentState: 'FAILED', previousState: 'CONNECTED', serviceType: 'STREAM', operation: 'SERVER_REJECT' };
    const reasonCode = event.error.code === -10009 ? 'TOKEN_EXPIRED' : 'JOIN_FAILED';
    const lists = { affectedChannels: [channelName], unrestoredChannels: [], isResumed: false };
    return [['linkState', { ...ended, reasonCode, reason: event.error.reason, ...lists, timestamp: Date.now() }]];
  }
  return [[type, event]];
}

// MARK: The client

export class RTM {
  #client;
  #listeners = new Map();
  #streams = new Map();

  constructor(appId, userId, rtmConfig = {}) {
    const { encryptionMode = 'NONE', cipherKey, salt, useStringUserId = true, privateConfig } = rtmConfig;
    const { heartbeatInterval, presenceTimeout } = rtmConfig;
    try {
      if (!useStringUserId && !(Number.isInteger(+userId) && +userId >= 1 && +userId < 2 ** 32)) {
        throw new RTMError(-10006, 'without string user ids the user id is a number from 1 to 4294967295');
      }
      const mode = { AES_128_GCM: 'AES-128-GCM', AES_256_GCM: 'AES-256-GCM' }[encryptionMode];
      if (!mode && encryptionMode !== 'NONE') throw new RTMError(-10020, `no encryption mode: ${encryptionMode}`);
      const hosts = privateConfig?.accessPointHosts ?? [];
      this.#client = new RTMClient({
        appId,
        userId,
        token: rtmConfig.token || undefined,
        server: rtmConfig.server ?? (hosts.length > 0 ? hosts.map(address) : defaultServers),
        WebSocket: rtmConfig.WebSocket,
        heartbeatInterval: heartbeatInterval && heartbeatInterval * 1000,
        ...(presenceTimeout && { presenceTimeout: presenceTimeout * 1000 }),
        encryption: mode && new Encryption([{ secret: cipherKey, salt, mode }]),
      });
    } catch (error) {
      throw new RTMBaseError('constructor', error);
    }
    new Pacing(this.#client);
    this.presence = new Presence(this, this.#client);
    this.storage = new Storage(this, this.#client);
    this.lock = new Lock(this, this.#client);
    this.history = new History(this, this.#client);
    this.#client.listen((event) => {
      for (const [name, argument] of translated(event)) this.emit(name, argument);
    });
  }

  get userId() {
    return this.#client.userId;
  }

  #perform(operation, work) {
    return this.presence.perform(operation, work);
  }

  login({ token } = {}) {
    return this.#perform('login', () => this.#client.login({ token: token || undefined }));
  }

  logout() {
    return this.#perform('logout', () => this.#client.logout());
  }

  renewToken(token, { channelName } = {}) {
    const stream = channelName && this.createStreamChannel(channelName);
    return this.#perform('renewToken', () => (stream ? stream.renewStreamChannelToken(token) : this.#client.renewToken(token)));
  }

  subscribe(channelName, { withMessage, withPresence, beQuiet, withMetadata, withLock } = {}) {
    const options = { messages: withMessage, presence: withPresence, quiet: beQuiet, metadata: withMetadata, locks: withLock };
    return this.#perform('subscribe', async () => {
      await this.#client.subscribe(channelName, options);
      return { channelName };
    });
  }

  unsubscribe(channelName) {
    return this.#perform('unsubscribe', async () => {
      await this.#client.unsubscribe(channelName);
      return { channelName };
    });
  }

  publish(channelName, message, { customType = '', channelType = 'MESSAGE', storeInHistory = false } = {}) {
    return this.#perform('publish', async () => {
      if (channelType === 'STREAM') throw new RTMError(-10019, 'messages of a stream channel are published in its topics');
      const to = channel(channelName, channelType);
      const { timestamp } = await this.#client.publish(to, message, { customType, storeInHistory });
      return { timestamp, channelName };
    });
  }

  /** The same name gives the same object. */
  createStreamChannel(channelName) {
    if (!this.#streams.has(channelName)) this.#streams.set(channelName, new RTMStreamChannel(this, this.#client, channelName));
    return this.#streams.get(channelName);
  }

  /** There is neither a log nor a cloud proxy here. */
  updateConfig() {
    return this.#perform('updateConfig', () => ({}));
  }

  // MARK: Listeners

  addEventListener(name, listener) {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
    return this;
  }

  removeEventListener(name, listener) {
    const listeners = this.#listeners.get(name) ?? [];
    this.#listeners.set(
      name,
      listeners.filter((other) => other !== listener && other.listener !== listener),
    );
    return this;
  }

  removeAllListeners(name) {
    if (name) this.#listeners.delete(name);
    else this.#listeners.clear();
    return this;
  }

  on(name, listener) {
    return this.addEventListener(name, listener);
  }

  off(name, listener) {
    return this.removeEventListener(name, listener);
  }

  once(name, listener) {
    const once = (...values) => {
      this.removeEventListener(name, once);
      listener(...values);
    };
    return this.addEventListener(name, Object.assign(once, { listener }));
  }

  emit(name, ...values) {
    const listeners = this.#listeners.get(name) ?? [];
    for (const listener of listeners) {
      try {
        listener(...values);
      } catch (error) {
        (globalThis.reportError ?? console.error)(error);
      }
    }
    return listeners.length > 0;
  }
}

/** An access point may be a host, or the whole address of a WebSocket. */
const address = (host) => (/^wss?:/.test(host) ? host : `wss://${host}/rtm`);

/** Where clients connect that name no server themselves. */
export function setServers(servers) {
  defaultServers = [servers].flat();
}

export const constantsType = Object.freeze({
  MessageType: { STRING: 'STRING', BINARY: 'BINARY' },
  ChannelTypeEnum: { MESSAGE: 1, STREAM: 2, USER: 3 },
  AreaCode: Object.fromEntries(
    ['GLOBAL', 'INDIA', 'JAPAN', 'ASIA', 'EUROPE', 'CHINA', 'NORTH_AMERICA'].map((area) => [area, area]),
  ),
});

export const VERSION = '2.2.0';
export const BUILD = 'heliograph';
// There are no areas and no private parameters here.
const ignored = () => {};

export default {
  RTM,
  RTMBaseError,
  VERSION,
  BUILD,
  processId: '',
  constantsType,
  setServers,
  setArea: ignored,
  setParameter: ignored,
  getParameter: ignored,
};

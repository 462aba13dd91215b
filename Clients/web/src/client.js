// The calls of the app. Each returns one promise, which always ends: with an answer, or with an RTMError.

import { steadyClock } from './clock.js';
import { RTMError } from './errors.js';
import { EventStream } from './events.js';
import { asStates, features, metadataTarget, target, types } from './names.js';
import { lockOf, metadataOf, Session } from './session.js';
import { text, utf8 } from './wire.js';

const payloadMax = 32_768;

export class RTMClient {
  #session;

  constructor({ server, appId, userId, environment, ...options }) {
    const servers = [server ?? []].flat().map(String);
    const invalid = (code, reason) => new RTMError(code, reason, { operation: 'init' });
    if (!appId) throw invalid(-10003, 'the app id is empty');
    if (typeof userId !== 'string' || !userId) throw invalid(-10006, 'the user id is empty, or no text');
    if (servers.length === 0) throw invalid(-10024, 'no server is given, such as wss://rtm.example.org/rtm');
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    if (!WebSocket) throw invalid(-10024, 'there is no WebSocket here: give one in the configuration');
    const defaults = { presenceTimeout: 300_000, requestTimeout: 10_000, reconnectTimeout: Infinity, pacesPublishes: true };
    this.#session = new Session(
      this,
      { ...defaults, ...options, servers, appId, userId },
      {
        now: steadyClock(),
        random: Math.random,
        setTimeout: (run, pause) => setTimeout(run, pause),
        clearTimeout: (timer) => clearTimeout(timer),
        WebSocket,
        ...environment,
      },
    );
    options.encryption?.begin({ appId, userId });
  }

  get userId() {
    return this.#session.userId;
  }

  get state() {
    return this.#session.link.state;
  }

  // MARK: Session

  login({ token } = {}) {
    return this.#session.login(token);
  }

  async logout() {
    this.#session.logout();
  }

  async renewToken(token) {
    await this.#session.renewToken(token);
  }

  networkChanged() {
    this.#session.wake();
  }

  close() {
    this.#session.close();
  }

  // MARK: Events

  events({ capacity, filter } = {}) {
    const stream = new EventStream((ended) => this.#session.listen(ended)(), { capacity, filter });
    if (this.#session.closed) stream.end();
    else this.#session.listen(stream);
    return stream;
  }

  messages(from, options = {}) {
    const { type, name } = target(from);
    return this.events({
      ...options,
      filter: (event) => event.type === 'message' && event.channelType === types[type] && event.channelName === name,
    });
  }

  listen(listener) {
    return this.#session.listen(listener);
  }

  // MARK: Channels

  async subscribe(channel, { messages = true, presence = true, metadata = false, locks = false, quiet = false } = {}) {
    const { session, about } = this.#about(channel);
    const wanted =
      (about.type === 1 && messages ? features.message : 0) |
      (presence ? features.presence : 0) |
      (metadata ? features.metadata : 0) |
      (locks ? features.lock : 0) |
      (quiet ? features.quiet : 0);
    const { position, featuresUnavailable } = await subscribe(session, about, { features: wanted });
    const unavailable = Object.keys(features).filter((name) => featuresUnavailable & features[name]);
    return { channelName: about.name, position, unavailable };
  }

  async unsubscribe(channel) {
    const { session, about } = this.#about(channel);
    await unsubscribe(session, about);
  }

  async publish(to, message, { customType = '', storeInHistory = false, priority = 0 } = {}) {
    const { session, about } = this.#about(to);
    const { encryption } = session;
    let payload = typeof message === 'string' ? utf8(message) : asBytes(message);
    let messageType = typeof message === 'string' ? 1 : 0;
    if (encryption) {
      payload = await encryption.sealMessage(about, message, customType);
      messageType = 0;
    }
    const max = about.type === 5 ? 1024 : payloadMax;
    if (payload.length > max) {
      const reason = `the message has ${payload.length} bytes, and ${max} are allowed`;
      throw new RTMError(-11010, reason, { operation: 'publish', limit: { name: 'message bytes', value: max } });
    }
    await session.ready('publish', 'publish');
    const { type, name, key } = about;
    return session.publish(key, { channelType: type, channel: name, messageType, payload, customType, storeInHistory, priority });
  }

  async history(of, { count = 100, start = 0, end = 0 } = {}) {
    const { session, about } = this.#about(of);
    const request = { channelType: about.type, channel: about.name, count, startMs: start, endMs: end };
    const page = await session.ask('history', 'history', 'getHistory', request);
    const messages = page.messages.map(({ type, payload, customType, publisher, timestampMs }) => ({
      payload: type === 1 ? text(payload) : payload.slice(),
      publisher,
      customType,
      timestamp: timestampMs,
    }));
    if (session.encryption) await session.encryption.openHistory(about, messages);
    return { messages, newStart: page.newStartMs };
  }

  async *historyMessages(of, { start = 0, end = 0, count = 100 } = {}) {
    do {
      const page = await this.history(of, { count, start, end });
      yield* page.messages;
      start = page.newStart;
    } while (start !== 0);
  }

  // MARK: Presence

  async whoNow(channel, { userIds = true, states = false, page = '' } = {}) {
    const { session, about } = this.#about(channel);
    const request = { channelType: about.type, channel: about.name, includeUserId: userIds, includeState: states, page };
    const answer = await session.ask('presence', 'whoNow', 'whoNow', request);
    const users = answer.users.map(({ userId, items }) => ({ userId, states: asStates(items) }));
    if (session.encryption && about.type < 4) await session.encryption.openUsers(about, users);
    return { users, nextPage: answer.nextPage, total: answer.total };
  }

  async *onlineUsers(channel, { states = false } = {}) {
    let page = '';
    do {
      const answer = await this.whoNow(channel, { states, page });
      yield* answer.users;
      page = answer.nextPage;
    } while (page);
  }

  async whereNow(userId) {
    const { channels } = await this.#session.ask('presence', 'whereNow', 'whereNow', { userId });
    return channels.map(({ type, name }) => ({ channelType: types[type], channelName: name }));
  }

  async setState(channel, states) {
    const { session, about } = this.#about(channel);
    const sealed = session.encryption && about.type < 4 ? await session.encryption.sealStates(about, states) : states;
    await session.states.set(about, sealed);
  }

  async getState(channel, userId = this.userId) {
    const { session, about } = this.#about(channel);
    const isActive = session.subscriptions.get(about.key)?.isActive;
    const user = { userId, states: session.states.of(about.key) };
    if (userId !== this.userId || isActive || Object.keys(user.states).length === 0) {
      const request = { channelType: about.type, channel: about.name, userId };
      user.states = asStates((await session.ask('presence', 'getState', 'getState', request)).items);
    } else user.states = { ...user.states };
    if (session.encryption && about.type < 4) await session.encryption.openUsers(about, [user]);
    return user.states;
  }

  async removeState(channel, keys = []) {
    const { session, about } = this.#about(channel);
    await session.states.remove(about, keys);
  }

  // MARK: Metadata

  setMetadata(of, items, options) {
    return this.#writeMetadata('setMetadata', 0, of, items, options);
  }

  updateMetadata(of, items, options) {
    return this.#writeMetadata('updateMetadata', 1, of, items, options);
  }

  /** Without keys the whole set. */
  removeMetadata(of, keys = [], options) {
    const items = keys.map((key) => (typeof key === 'string' ? { key } : key));
    return this.#writeMetadata('removeMetadata', 2, of, items, options);
  }

  async #writeMetadata(operation, kind, of, items, options = {}) {
    const session = this.#session;
    const { type, name } = metadataTarget(of);
    const { majorRevision, recordTimestamp = false, recordAuthor = false, lock = '', fencingToken = 0 } = options;
    // On the wire 0 compares nothing, and -1 stands for what was never written.
    const onWire = (revision) => (revision === undefined ? 0 : revision === 0 ? -1 : revision);
    let list = Array.isArray(items) ? items : Object.entries(items).map(([key, value]) => ({ key, value }));
    if (session.encryption && kind < 2) list = await session.encryption.sealItems(type, name || this.userId, list);
    const answer = await session.ask('storage', operation, 'writeMetadata', {
      channelType: type,
      target: name,
      kind,
      items: list.map(({ key, value = '', revision }) => ({ key, value: String(value), revision: onWire(revision) })),
      majorRevision: onWire(majorRevision),
      recordTs: recordTimestamp,
      recordAuthor,
      lock,
      fencingToken,
    });
    return { majorRevision: answer.majorRevision };
  }

  async getMetadata(of) {
    const session = this.#session;
    const { type, name } = metadataTarget(of);
    const metadata = metadataOf(await session.ask('storage', 'getMetadata', 'getMetadata', { channelType: type, target: name }));
    if (session.encryption) await session.encryption.openItems(type, name || this.userId, metadata);
    return metadata;
  }

  /**
   * Changes a set by its present content, however many do so at once: `change` gets the values by key, and returns the
   * items to set, or nothing to leave it. It is called again when somebody else was faster.
   */
  async editMetadata(of, change, options) {
    for (;;) {
      const { majorRevision, items } = await patiently(() => this.getMetadata(of));
      const wanted = await change(new Map(items.map(({ key, value }) => [key, value])));
      if (!wanted) return { majorRevision };
      try {
        return await patiently(() => this.setMetadata(of, wanted, { ...options, majorRevision }));
      } catch (error) {
        if (error.code !== -12014) throw error;
      }
    }
  }

  async followUser(userId) {
    const name = userId || this.userId;
    const answer = await subscribe(this.#session, { type: 0, name, key: `0/${name}` }, { features: features.metadata });
    return { position: answer.position };
  }

  async unfollowUser(userId) {
    const name = userId || this.userId;
    await unsubscribe(this.#session, { type: 0, name, key: `0/${name}` });
  }

  // MARK: Locks

  #lock(channel, name) {
    const { about } = this.#about(channel);
    return { place: { channelType: about.type, channel: about.name, name }, key: `${about.key}/${name}` };
  }

  async setLock(channel, name, { ttl = 10_000 } = {}) {
    const { place } = this.#lock(channel, name);
    await this.#session.ask('lock', 'setLock', 'setLock', { ...place, ttlS: Math.max(0, Math.round(ttl / 1000)) });
  }

  async removeLock(channel, name) {
    await this.#session.ask('lock', 'removeLock', 'removeLock', this.#lock(channel, name).place);
  }

  async acquireLock(channel, name, { wait = false, signal } = {}) {
    const { place, key } = this.#lock(channel, name);
    await this.#session.ready('lock', 'acquireLock');
    return this.#session.locks.acquire(place, key, wait, signal);
  }

  async releaseLock(channel, name) {
    const { place, key } = this.#lock(channel, name);
    await this.#session.locks.release(place, key);
  }

  async revokeLock(channel, name, owner) {
    await this.#session.ask('lock', 'revokeLock', 'revokeLock', { ...this.#lock(channel, name).place, owner });
  }

  async getLocks(channel) {
    const { about } = this.#about(channel);
    const request = { channelType: about.type, channel: about.name };
    return (await this.#session.ask('lock', 'getLocks', 'getLocks', request)).locks.map(lockOf);
  }

  #about(about) {
    return { session: this.#session, about: target(about) };
  }
}

function asBytes(message) {
  if (message instanceof ArrayBuffer) return new Uint8Array(message);
  if (ArrayBuffer.isView(message)) return new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice();
  throw new RTMError(-11031, 'a message is a text, an ArrayBuffer or a view of one', { operation: 'publish' });
}

/** Calls again when a rate was exceeded, after the time that the server names. */
async function patiently(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.code !== -10021 || !error.retryAfter) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
    }
  }
}

/** Subscribes to a channel of any type, or follows a user. */
export async function subscribe(session, about, wanted) {
  const { subscriptions } = session;
  const isUser = about.type === 0;
  const operation = isUser ? 'followUser' : about.type === 2 ? 'join' : 'subscribe';
  const kind = isUser ? 'subscribeUserMetadata' : 'subscribe';
  const deadline = session.now + session.config.requestTimeout;
  await session.ready('subscribe', operation, deadline);
  const running = subscriptions.get(about.key);
  if (running?.wanted) throw new RTMError(-10017, `'${about.name}' is being subscribed already`, { operation });
  const entry = subscriptions.begin(about, wanted);
  const request = { token: '', publishers: [], ...wanted, features: about.type === 5 ? 0 : wanted.features };
  const channelType = about.type === 1 ? 0 : about.type;
  const body = isUser ? { userId: about.name } : { channel: about.name, channelType, ...request };
  return new Promise((resolve, reject) => {
    let refusal;
    const fail = (error) => {
      subscriptions.abandon(entry);
      reject(refusal && error.code === -11019 ? refusal : error);
    };
    session.send(kind, body, {
      kind: 'subscribe',
      operation,
      deadline,
      resolve: (answer) => {
        const gap = subscriptions.confirm(entry, answer);
        resolve(answer);
        if (gap && !isUser) session.emitGap(entry, gap);
        session.begin(entry, answer);
      },
      reject: fail,
      // The channel's messaging node is being replaced (M-9).
      refused: (error, id) => {
        const { code, retryAfter, limit } = error;
        if ((code !== -11021 && code !== -11007) || !retryAfter || limit || !entry.wanted) return false;
        refusal = error;
        return session.sendAgain(id, kind, body, retryAfter);
      },
      // What the app doesn't know of must not stay.
      timedOut: () => {
        if (!entry.isActive) session.notify(isUser ? 'unsubscribeUserMetadata' : 'unsubscribe', body);
      },
    });
  });
}

/** Ends a subscription; without a connection it is not restored (S-16). */
export async function unsubscribe(session, about) {
  const { subscriptions, link } = session;
  const isUser = about.type === 0;
  const operation = isUser ? 'unfollowUser' : about.type === 2 ? 'leave' : 'unsubscribe';
  if (session.closed) throw session.closed;
  if (link.state === 'idle' || link.state === 'failed') throw new RTMError(-10002, 'there is no login', { operation });
  const entry = subscriptions.get(about.key);
  if (!entry) {
    const code = isUser ? -12015 : about.type === 2 ? -11001 : about.type === 5 ? -11013 : -11002;
    throw new RTMError(code, `'${about.name}' is not subscribed`, { operation });
  }
  const end = () => {
    for (const ended of subscriptions.remove(entry)) session.forget(ended);
  };
  // The answer of a restoration under way finds no entry any more, and ends what the server has.
  if (link.state !== 'connected') return end();
  entry.leaving = true;
  const body = isUser ? { userId: about.name } : { channel: about.name, channelType: about.type === 1 ? 0 : about.type };
  await new Promise((resolve, reject) => {
    const left = () => {
      end();
      resolve();
    };
    session.send(isUser ? 'unsubscribeUserMetadata' : 'unsubscribe', body, {
      kind: 'subscribe',
      operation,
      resolve: left,
      lost: left,
      timedOut: end,
      reject: (error) => {
        if (error.code === -11002 || error.code === -12015 || error.code === -11001 || error.code === -11013) return left();
        entry.leaving = false;
        return reject(error);
      },
    });
  });
}

// The API of agora-rtm 2.x for the web, over RTMClient. docs/web-compatibility.md lists every member and what it does here.

import { translated } from './agora-events.js';
import { channel, RTMBaseError } from './agora-common.js';
import { History, Lock, Presence } from './agora-parts.js';
import { Storage } from './agora-storage.js';
import { RTMStreamChannel } from './agora-streams.js';
import { Encryption } from './encryption.js';
import { RTMError } from './errors.js';
import { RTMClient } from './index.js';
import { Pacing } from './pacing.js';

export { RTMBaseError };

let defaultServers = [];

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

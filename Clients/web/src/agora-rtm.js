// The API of agora-rtm 2.x for the web, over RTMClient. docs/web-compatibility.md lists every member and what it does here.

import { translated } from './agora-events.js';
import { asName, channel, listOf, optionsOf, RTMBaseError, typeOr } from './agora-common.js';
import { Listeners } from './agora-listeners.js';
import { History, Lock, Presence } from './agora-parts.js';
import { Permissions } from './agora-permissions.js';
import { Storage } from './agora-storage.js';
import { RTMStreamChannel, RTMStreamChannelStatusCode } from './agora-streams.js';
import { Encryption } from './encryption.js';
import { RTMError } from './errors.js';
import { RTMClient } from './index.js';
import { Pacing } from './pacing.js';
import { sessionOf } from './session.js';

const modes = new Map([
  ['AES_128_GCM', 'AES-128-GCM'],
  ['AES_256_GCM', 'AES-256-GCM'],
]);
let defaultServers = [];

export class RTM extends Listeners {
  #client;
  #streams = new Map();
  #echo;

  constructor(appId, userId, rtmConfig) {
    super();
    try {
      const config = optionsOf(rtmConfig);
      const { encryptionMode = 'NONE', cipherKey, salt, useStringUserId = true, privateConfig } = config;
      const { heartbeatInterval, presenceTimeout, echo = true } = config;
      this.#echo = !!echo;
      if (!useStringUserId && !(Number.isInteger(+userId) && +userId >= 1 && +userId < 2 ** 32)) {
        throw new RTMError(-10006, 'without string user ids the user id is a number from 1 to 4294967295');
      }
      const mode = modes.get(encryptionMode);
      if (!mode && encryptionMode !== 'NONE') throw new RTMError(-10020, `no encryption mode: ${encryptionMode}`);
      const hosts = listOf(optionsOf(privateConfig).accessPointHosts, 'accessPointHosts');
      this.#client = new RTMClient({
        appId,
        userId: asName(userId, 'user'),
        token: config.token,
        server: config.server ?? (hosts.length > 0 ? hosts.map(address) : defaultServers),
        WebSocket: config.WebSocket,
        heartbeatInterval: heartbeatInterval && heartbeatInterval * 1000,
        ...(presenceTimeout && { presenceTimeout: presenceTimeout * 1000 }),
        encryption: mode && new Encryption([{ secret: cipherKey, salt, mode }]),
      });
    } catch (error) {
      throw new RTMBaseError('constructor', error);
    }
    new Pacing(this.#client);
    sessionOf(this.#client).part(Permissions);
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

  #perform(operation, work, options) {
    return this.presence.perform(operation, work, options);
  }

  login(options) {
    return this.#perform('login', ({ token }) => this.#client.login({ token }), options);
  }

  logout() {
    return this.#perform('logout', () => this.#client.logout());
  }

  renewToken(token, options) {
    const renew = ({ channelName }) =>
      channelName ? this.createStreamChannel(channelName).renewStreamChannelToken(token) : this.#client.renewToken(asName(token, 'token'));
    return this.#perform('renewToken', renew, options);
  }

  subscribe(channelName, options) {
    const subscribe = async ({ withMessage, withPresence, beQuiet, withMetadata, withLock }) => {
      const wanted = { messages: withMessage, presence: withPresence, quiet: beQuiet, metadata: withMetadata, locks: withLock };
      await this.#client.subscribe(asName(channelName, 'channel'), { ...wanted, echo: this.#echo });
      return { channelName };
    };
    return this.#perform('subscribe', subscribe, typeOr(options));
  }

  unsubscribe(channelName) {
    return this.#perform('unsubscribe', async () => {
      await this.#client.unsubscribe(asName(channelName, 'channel'));
      return { channelName };
    });
  }

  publish(channelName, message, options) {
    const publish = async ({ customType = '', channelType = 'MESSAGE', storeInHistory = false }) => {
      if (channelType === 'STREAM') throw new RTMError(-10019, 'messages of a stream channel are published in its topics');
      const to = channel(channelName, channelType);
      const { timestamp } = await this.#client.publish(to, message, { customType, storeInHistory });
      return { timestamp, channelName };
    };
    return this.#perform('publish', publish, typeOr(options));
  }

  /** The same name gives the same object. */
  createStreamChannel(channelName) {
    try {
      const name = asName(channelName, 'channel');
      if (!this.#streams.has(name)) this.#streams.set(name, new RTMStreamChannel(this, this.#client, name));
      return this.#streams.get(name);
    } catch (error) {
      throw new RTMBaseError('createStreamChannel', error);
    }
  }

  /** There is neither a log nor a cloud proxy here. */
  updateConfig(config) {
    return this.#perform('updateConfig', () => ({}), config);
  }
}

/** An access point may be a host, or the whole address of a WebSocket. */
const address = (host) => (/^wss?:/.test(host) ? host : `wss://${host}/rtm`);

/** Where clients connect that name no server themselves. */
export function setServers(servers) {
  defaultServers = [servers].flat();
}

const sameText = (...names) => Object.fromEntries(names.map((name) => [name, name]));
export const constantsType = Object.freeze({
  MessageType: sameText('STRING', 'BINARY'),
  ChannelTypeEnum: { MESSAGE: 1, STREAM: 2, USER: 3 },
  AreaCode: sameText('GLOBAL', 'INDIA', 'JAPAN', 'ASIA', 'EUROPE', 'CHINA', 'NORTH_AMERICA'),
  LegacyAreaCode: sameText('CN', 'NA', 'EU', 'AS', 'JP', 'IN', 'GLOB', 'OC', 'SA', 'AF', 'KR', 'US', 'OVS'),
});

export const VERSION = '2.3.0';
export const BUILD = 'heliograph';

// The vendor's names of the classes, which programs import for their types.
export {
  constantsType as ConstantsType,
  History as RTMHistory,
  Lock as RTMLock,
  Presence as RTMPresence,
  RTM as RTMClient,
  RTMBaseError,
  RTMStreamChannel,
  RTMStreamChannelStatusCode,
  Storage as RTMStorage,
};

/** Nothing is reported to anybody. */
export const processId = '';
// There are no areas and no private parameters here.
export const setArea = () => {};
export const setParameter = () => {};
export const getParameter = () => {};

export default {
  RTM,
  RTMBaseError,
  VERSION,
  BUILD,
  processId,
  constantsType,
  setServers,
  setArea,
  setParameter,
  getParameter,
};

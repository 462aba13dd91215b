// The calls of the app. Each returns one promise, which always ends: with an answer, or with an RTMError.

import { RTMError } from './errors.js';
import { EventStream } from './events.js';
import { target, types } from './names.js';
import { openSession } from './session.js';
import { steadyClock } from './time.js';

export { RTMError };

const defaults = { presenceTimeout: 300_000, requestTimeout: 10_000, reconnectTimeout: Infinity };

export class RTMClient {
  #session;

  constructor({ server = [], appId, userId, environment, WebSocket = globalThis.WebSocket, ...options }) {
    const servers = [server].flat().map(String);
    const check = (isValid, code, what) => {
      if (!isValid) throw new RTMError(code, `no ${what} is given`, { operation: 'init' });
    };
    check(appId, -10003, 'app id');
    check(userId && typeof userId === 'string', -10006, 'user id');
    check(servers.length > 0, -10024, 'server');
    check(WebSocket, -10024, 'WebSocket');
    this.#session = openSession(
      this,
      { ...defaults, ...options, servers, appId, userId },
      {
        now: steadyClock(),
        random: Math.random,
        setTimeout,
        clearTimeout,
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

  renewToken(token) {
    return this.#session.tokens.renew(token);
  }

  networkChanged() {
    this.#session.wake();
  }

  close() {
    this.#session.close();
  }

  // MARK: Events

  events(options) {
    const { outlet, closed } = this.#session;
    const stream = new EventStream(() => stop(), options);
    const stop = outlet.add(stream);
    if (closed) stream.return();
    return stream;
  }

  messages(from, options) {
    const { type, name } = target(from);
    const filter = (event) => event.type === 'message' && event.channelType === types[type] && event.channelName === name;
    return this.events({ ...options, filter });
  }

  listen(listener) {
    return this.#session.outlet.add({ push: listener });
  }

  // MARK: Channels

  async subscribe(channel, options = {}) {
    return this.#session.channels.open(target(channel), options, 'subscribe');
  }

  async unsubscribe(channel) {
    await this.#session.channels.unsubscribe(target(channel), 'unsubscribe', -11002);
  }

  async publish(to, message, options = {}) {
    return this.#session.publisher.publish(target(to), message, options);
  }
}

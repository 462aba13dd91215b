// The calls of the app. Each returns one promise, which always ends: with an answer, or with an RTMError.

import { RTMError } from './errors.js';
import { makeEventStream } from './events.js';
import { target, types } from './names.js';
import { openSession, sessionOf } from './session.js';
import { steadyClock } from './time.js';

export { RTMError };

const defaults = { presenceTimeout: 300_000, requestTimeout: 10_000, reconnectTimeout: Infinity };

export class RTMClient {
  constructor({ server = [], appId, userId, environment, WebSocket = globalThis.WebSocket, ...options }) {
    const servers = [server].flat().map(String);
    const check = (isValid, code, what) => {
      if (!isValid) throw new RTMError(code, `no ${what} is given`, { operation: 'init' });
    };
    check(appId, -10003, 'app id');
    check(userId && typeof userId === 'string', -10006, 'user id');
    check(servers.length > 0, -10024, 'server');
    check(WebSocket, -10024, 'WebSocket');
    openSession(
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
    return sessionOf(this).userId;
  }

  get state() {
    return sessionOf(this).link.state;
  }

  // MARK: Session

  login(options) {
    return sessionOf(this).login(options?.token);
  }

  async logout() {
    sessionOf(this).logout();
  }

  renewToken(token) {
    return sessionOf(this).tokens.renew(token);
  }

  networkChanged() {
    sessionOf(this).wake();
  }

  close() {
    sessionOf(this).close();
  }

  // MARK: Events

  events(options) {
    const { outlet, closed } = sessionOf(this);
    const stream = makeEventStream(() => stop(), options ?? {});
    const stop = outlet.add(stream);
    if (closed) stream.return();
    return stream;
  }

  messages(from, options) {
    const { type, name } = target(from);
    const isShown = ({ type: kind, content = 'message' }) =>
      kind === 'message' || kind === 'gap' || (kind === 'undecryptable' && content === 'message');
    const filter = (event) => isShown(event) && event.channelType === types[type] && event.channelName === name;
    return this.events({ ...options, filter });
  }

  listen(listener) {
    return sessionOf(this).outlet.add({ push: listener });
  }

  // MARK: Channels

  async subscribe(channel, options) {
    return sessionOf(this).channels.open(target(channel), options ?? {}, 'subscribe');
  }

  async unsubscribe(channel) {
    await sessionOf(this).channels.unsubscribe(target(channel), 'unsubscribe', -11002);
  }

  async publish(to, message, options) {
    return sessionOf(this).publisher.publish(target(to), message, options ?? {});
  }
}

// Subscriptions over their connections: asking for them, ending them, taking them up again, and what comes of them.

import { RTMError } from './errors.js';
import { loss } from './losses.js';
import { types } from './names.js';
import { subscribeRequest, Subscriptions } from './subscriptions.js';
import { text } from './wire.js';

const codes = [-11019, -10025];
// Refusals of an unsubscribe that say that there is nothing to end.
const notSubscribed = [-11001, -11002, -11013, -12015];

/** How channels are asked for; the followed users of storage.js have another way. */
export const channelWay = { begin: 'subscribe', end: 'unsubscribe', request: subscribeRequest };

export class Channels {
  subscriptions = new Subscriptions();
  #session;

  constructor(session) {
    this.#session = session;
  }

  // MARK: Calls of the app

  /** The bits of the options that are set. Those of a module can only be asked for where there is one. */
  #features(options, operation) {
    const { features } = this.#session;
    for (const name in options) {
      if (options[name] && !(name in features)) throw new RTMError(-10014, `no module here shows ${name}`, { operation });
    }
    return Object.entries(features).reduce(
      (bits, [name, bit]) => bits | ((options[name] ?? (name === 'messages' || name === 'presence')) && bit),
      0,
    );
  }

  /** Subscribes by the options of an app. */
  async open(about, options, operation, more) {
    const features = this.#features(options, operation);
    const { position, featuresUnavailable } = await this.subscribe(about, { ...more, features }, operation);
    const unavailable = Object.entries(this.#session.features).filter(([, bit]) => featuresUnavailable & bit);
    return { channelName: about.name, position, unavailable: unavailable.map(([name]) => name) };
  }

  async subscribe(about, wanted, operation, way = channelWay) {
    const { subscriptions } = this;
    const { requests } = this.#session;
    const call = { codes, operation };
    await requests.ready(call);
    if (subscriptions.get(about.key)?.wanted) {
      throw new RTMError(-10017, `'${about.name}' is being subscribed already`, { operation });
    }
    const entry = subscriptions.begin(about, wanted, way);
    const body = way.request({ token: '', publishers: [], ...about, ...wanted });
    return new Promise((resolve, reject) => {
      let refusal;
      requests.send(way.begin, body, {
        ...call,
        resolve: (answer) => {
          resolve(answer);
          this.#confirm(entry, answer);
        },
        reject: (error) => {
          subscriptions.abandon(entry);
          reject(refusal && error.code === codes[0] ? refusal : error);
        },
        // The channel's messaging node is being replaced (M-9).
        refused: (error, id) => {
          const { code, retryAfter, limit } = error;
          if ((code !== -11021 && code !== -11007) || !retryAfter || limit || !entry.wanted) return false;
          refusal = error;
          return requests.sendAgain(way.begin, body, id, error);
        },
        // What the app doesn't know of must not stay.
        late: () => {
          if (!entry.isActive) requests.notify(way.end, body);
        },
      });
    });
  }

  /** A subscription is there, for the first time or again. Returns whether there is a gap. */
  #confirm(entry, answer) {
    const gap = this.subscriptions.confirm(entry, answer);
    if (gap && entry.type) this.#emitGap(entry, gap);
    this.#session.tell('onSubscribed', entry, answer);
    return gap;
  }

  /** Ends a subscription; without a connection it is not restored (S-16). `code` is that of one that isn't there. */
  async unsubscribe(about, operation, code) {
    const { link, closed, requests } = this.#session;
    if (closed) throw closed;
    requests.checkLogin(operation);
    const entry = this.subscriptions.get(about.key);
    if (!entry) throw new RTMError(code, `'${about.name}' is not subscribed`, { operation });
    // The answer of a restoration under way finds no entry any more, and ends what the server has.
    if (link.state !== 'connected') return this.remove(entry);
    entry.leaving = true;
    return new Promise((resolve, reject) => {
      const left = () => {
        this.remove(entry);
        resolve();
      };
      requests.send(entry.way.end, entry.way.request(entry), {
        codes,
        operation,
        resolve: left,
        lost: left,
        late: () => this.remove(entry),
        reject: (error) => {
          if (notSubscribed.includes(error.code)) return left();
          entry.leaving = false;
          return reject(error);
        },
      });
    });
  }

  remove(entry) {
    for (const ended of this.subscriptions.remove(entry)) this.#session.tell('onUnsubscribed', ended);
  }

  // MARK: Coming back

  /** Takes up what there was. `offered` has the ids of those that the login asks for. */
  restoreAll(offered) {
    const entries = this.subscriptions.active.filter(({ leaving }) => !leaving);
    for (const entry of entries) this.#restore(entry, offered.get(entry));
  }

  #restore(entry, id) {
    const { requests, restoring, config, now } = this.#session;
    const { way } = entry;
    restoring.left++;
    const request = {
      codes,
      operation: way.begin,
      deadline: now + config.requestTimeout,
      resolve: (answer) => {
        if (this.#has(entry)) {
          if (this.#confirm(entry, answer) && entry.type) restoring.interrupted.push(entry.name);
        } else requests.notify(way.end, way.request(entry));
        this.#session.restored();
      },
      reject: (error) => this.#refused(entry, restoring, error),
      lost() {},
      late: () => this.#session.ended(loss('error', 'the server did not answer while subscriptions were restored')),
    };
    if (id) requests.expect(id, request);
    else requests.send(way.begin, way.request(entry), request);
  }

  #has(entry) {
    return this.subscriptions.get(entry.key) === entry;
  }

  #refused(entry, restoring, error) {
    const session = this.#session;
    const { code, limit, retryAfter, reason } = error;
    const isCurrent = () => session.restoring === restoring;
    // A next connection restores everything itself.
    const again = (pause, restored) =>
      session.requests.later(`restore ${entry.key}`, pause, () => {
        if (isCurrent() && this.#has(entry)) this.#restore(entry);
        if (isCurrent() && restored) session.restored();
      });
    if (!isCurrent()) return undefined;
    if (!this.#has(entry)) return session.restored();
    // Storage can't be had: the link need not wait for it.
    if (code === -12001 || code === -12018 || code === -12019) {
      again(retryAfter ?? 2000, false);
      return session.restored();
    }
    if ((code === -10021 || code === -11020) && retryAfter) return again(retryAfter, true);
    // A bad moment must not cost the subscription: the next connection tries again.
    if (code === -11019 || ((code === -11021 || code === -11007) && !limit && (retryAfter || code === -11021))) {
      return session.ended(loss('error', `a subscription could not be restored yet: ${reason}`));
    }
    this.remove(entry);
    if (entry.type === 1) restoring.unrestored.push(entry.name);
    session.tell('onUnrestored', entry, restoring, error);
    return session.restored();
  }

  // MARK: What the server sends

  publication(publication) {
    if (!this.subscriptions.accepts(publication)) return;
    const { channelType, channel, publisher, offset, timestampMs: timestamp, message } = publication;
    if (!message) {
      const entry = this.subscriptions.get(`${channelType}/${channel}`);
      const kind = Object.keys(publication).pop();
      this.#session.tell(kind, publication[kind], { entry, publisher, offset, timestamp });
      return;
    }
    // An own message can come back after a return. Only the own inbox shows what this user has sent.
    if (channelType !== 3 && publisher === this.#session.userId) return;
    const { type, customType } = message;
    const payload = type === 1 ? text(message.payload) : message.payload.slice();
    const place = { channelType: types[channelType], channelName: channel, topic: '' };
    this.#session.emit({ type: 'message', ...place, payload, publisher, customType, timestamp, offset });
  }

  gap(body) {
    const gap = this.subscriptions.skip(body);
    if (!gap) return;
    if (body.channelType === 3) return this.inboxGap(gap);
    const entry = this.subscriptions.get(`${body.channelType}/${body.channel}`);
    if (entry.type) {
      this.#session.restoring.interrupted.push(entry.name);
      this.#emitGap(entry, gap);
    }
    this.#session.tell('onGap', entry, body.position);
  }

  inboxGap(gap) {
    this.#session.restoring.incomplete = true;
    this.#emitGap({ type: 3, name: this.#session.userId }, gap);
  }

  #emitGap({ type, name }, gap) {
    this.#session.emit({ type: 'gap', channelType: types[type], channelName: name, topic: '', ...gap });
  }
}

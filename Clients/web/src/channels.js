// Subscriptions over their connections: asking for them, ending them, taking them up again, and what comes of them.

import { late, noModule, RTMError } from './errors.js';
import { loss } from './losses.js';
import { types } from './names.js';
import { echo, subscribeRequest } from './subscriptions.js';
import { text } from './wire.js';

const codes = [-11019, -10025];
// Refusals of an unsubscribe that say that there is nothing to end.
const notSubscribed = [-11001, -11002, -11013, -12015];

/** What is asked for unless an option says otherwise. */
const usual = { messages: true, presence: true };

/** How channels are asked for; the followed users of storage.js have another way. */
export const channelWay = { list: 'subscriptions', begin: 'subscribe', end: 'unsubscribe', request: subscribeRequest };

export function makeChannels(session) {
  const { requests, subscriptions, features } = session;
  /** By its key, what the app has left without an answer of the server, where the user may still be in it. */
  const left = new Map();

  /** The bits of the options that are set. Those of a module can only be asked for where there is one. */
  function bitsOf(options, operation) {
    for (const name in options) {
      if (options[name] && !(name in features)) throw noModule(name, operation);
    }
    const isWanted = (name) => options[name] ?? usual[name];
    return Object.keys(features).reduce((bits, name) => bits | (isWanted(name) ? features[name] : 0), 0);
  }

  async function subscribe(about, wanted, operation, way = channelWay) {
    const call = { codes, operation };
    await requests.ready(call);
    const known = subscriptions.get(about.key);
    if (known?.wanted && !known.leaving) {
      throw new RTMError(-10017, `'${about.name}' is being subscribed already`, { operation });
    }
    const entry = subscriptions.begin(about, wanted, way);
    left.delete(about.key);
    const body = way.request({ token: '', publishers: [], ...about, ...wanted });
    return new Promise((resolve, reject) => {
      let refusal;
      requests.send(way.begin, body, {
        ...call,
        resolve: (answer) => {
          resolve(answer);
          confirm(entry, answer);
        },
        reject: (error) => {
          subscriptions.abandon(entry);
          reject(refusal && error.code === codes[0] ? refusal : error);
        },
        // The channel's messaging node is being replaced (M-9).
        refused: (error, id) => {
          const { code, retryAfter, limit } = error;
          if ((code !== -11021 && code !== -11007) || !retryAfter || limit || !entry.wanted || entry.leaving) return false;
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

  /** A subscription is there, for the first time or again. */
  function confirm(entry, answer) {
    emitGap(entry, subscriptions.confirm(entry, answer));
    session.tell('onSubscribed', entry, answer);
  }

  function remove(entry) {
    if (subscriptions.remove(entry)) session.tell('onUnsubscribed', entry);
  }

  /** The next connection takes it up once more and ends it there, so that others see the user leave (M-6). */
  function leave(entry) {
    const { all } = subscriptions;
    remove(entry);
    const until = session.now + session.config.presenceTimeout;
    // The topics of a stream channel go with it.
    for (const one of all) if (!has(one)) left.set(one.key, Object.assign(one, { until }));
  }

  function restore(entry, id) {
    const { restoring } = session;
    const { way } = entry;
    restoring.left++;
    const request = {
      codes,
      operation: way.begin,
      deadline: session.now + session.config.requestTimeout,
      resolve: (answer) => {
        if (has(entry)) confirm(entry, answer);
        else requests.notify(way.end, way.request(entry), () => left.delete(entry.key));
        session.restored();
      },
      reject: (error) => refused(entry, restoring, error),
      lost() {},
      late: () => session.ended(loss('error', late)),
    };
    if (id) requests.expect(id, request);
    else requests.send(way.begin, way.request(entry), request);
  }

  function has(entry) {
    return subscriptions.get(entry.key) === entry;
  }

  function refused(entry, restoring, error) {
    const { code, limit, retryAfter, reason } = error;
    const isCurrent = () => session.restoring === restoring;
    // A next connection restores everything itself.
    const again = (pause, restored) =>
      requests.later(`restore ${entry.key}`, pause, () => {
        if (isCurrent() && (restored || has(entry))) restore(entry);
        if (isCurrent() && restored) session.restored();
      });
    if (!isCurrent()) return undefined;
    // The link need not wait for it.
    if (entry.way.waitsFor?.includes(code)) {
      again(retryAfter ?? 2000, false);
      return session.restored();
    }
    if ((code === -10021 || code === -11020) && retryAfter) return again(retryAfter, true);
    if (!has(entry)) return session.restored();
    // A bad moment must not cost the subscription: the next connection tries again.
    if (code === -11019 || ((code === -11021 || code === -11007) && !limit && (retryAfter || code === -11021))) {
      return session.ended(loss('error', reason));
    }
    remove(entry);
    if (entry.type === 1) restoring.unrestored.push(entry.name);
    session.tell('onUnrestored', entry, restoring, error);
    return session.restored();
  }

  /** Of metadata nothing is missing: the newest set comes. */
  function emitGap({ type, name }, gap) {
    const { restoring } = session;
    if (!gap || !type) return;
    if (type === 3) restoring.incomplete = true;
    else restoring.interrupted.push(name);
    session.emit({ type: 'gap', channelType: types[type], channelName: name, ...gap });
  }

  return {
    subscribe,
    remove,

    /** Subscribes by the options of an app. */
    async open(about, options, operation, more) {
      const wanted = { ...more, features: bitsOf(options, operation) };
      const { position, featuresUnavailable } = await subscribe(about, wanted, operation);
      const unavailable = Object.entries(features).filter(([, bit]) => featuresUnavailable & bit);
      return { channelName: about.name, position, unavailable: unavailable.map(([name]) => name) };
    },

    /** Ends a subscription; without a connection it is not restored (S-16). `code` is that of one that isn't there. */
    async unsubscribe(about, operation, code) {
      requests.checkLogin(operation);
      // A subscribe that was called just before this begins in a moment, and is sent before it.
      await undefined;
      const entry = subscriptions.get(about.key);
      if (!entry) throw new RTMError(code, `'${about.name}' is not subscribed`, { operation });
      // The answer of a restoration under way finds no entry any more, and ends what the server has.
      if (session.link.state !== 'connected') return leave(entry);
      entry.leaving = true;
      return new Promise((resolve, reject) => {
        const gone = () => resolve(remove(entry));
        requests.send(entry.way.end, entry.way.request(entry), {
          codes,
          operation,
          resolve: gone,
          lost: () => resolve(leave(entry)),
          late: () => leave(entry),
          reject: (error) => {
            if (notSubscribed.includes(error.code)) return gone();
            entry.leaving = false;
            return reject(error);
          },
        });
      });
    },

    /** Takes up what there was. `offered` has the ids of those that the login asks for. */
    restoreAll(offered) {
      for (const entry of subscriptions.active) restore(entry, offered.get(entry));
      for (const entry of left.values()) {
        // Who was away for longer has left already, and would be seen to come.
        if (session.now < entry.until) restore(entry);
        else left.delete(entry.key);
      }
    },

    onForget: () => left.clear(),

    publication(publication) {
      if (!subscriptions.accepts(publication)) return;
      const { channelType, channel, publisher, offset, timestampMs: timestamp, order, message, ...events } = publication;
      if (!message) {
        const entry = subscriptions.about(publication);
        for (const kind of Object.keys(events)) session.tell(kind, events[kind], { entry, publisher, offset, timestamp });
        return;
      }
      // An own message can come back after a return. The own inbox shows what this user has sent (M-33), and a channel with echo.
      if (channelType !== 3 && publisher === session.userId && !(subscriptions.about(publication).features & echo)) return;
      const { type, customType } = message;
      const payload = type === 1 ? text(message.payload) : message.payload.slice();
      const place = { channelType: types[channelType], channelName: channel, topic: '' };
      session.emit({ type: 'message', ...place, payload, publisher, customType, timestamp, ...(order && { order }), offset });
    },

    gap(body) {
      const gap = subscriptions.skip(body);
      if (!gap) return;
      const entry = subscriptions.about(body);
      emitGap(entry, gap);
      session.tell('onGap', entry, body.position);
    },

    /** A login is accepted. */
    openInbox(position, hasGap) {
      emitGap(subscriptions.inbox, subscriptions.confirm(subscriptions.inbox, { position, gap: hasGap }));
    },
  };
}

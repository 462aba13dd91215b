// Topics within a session: who publishes what in the stream channels that were joined.

import { fromWire } from './errors.js';
import { schema } from './streams-schema.js';
import { define } from './wire.js';

define(schema);

export class Topics {
  #session;
  /** By stream channel and user id: the topics that others publish, each with its meta. */
  #publishers = new Map();

  constructor(session) {
    this.#session = session;
  }

  /** A stream channel is joined: what its roster shows becomes events of topics. */
  begin(name) {
    this.#publishers.set(name, new Map());
  }

  /** The users who publish a topic. */
  publishers(name, topic) {
    const users = this.#publishers.get(name) ?? [];
    return [...users].filter(([, states]) => topic in states).map(([userId]) => userId);
  }

  /** Who leaves a stream channel leaves its topics. */
  onUnsubscribed({ type, name }) {
    if (type !== 2) return;
    this.#publishers.delete(name);
    const { subscriptions, channels } = this.#session;
    for (const entry of subscriptions.all) {
      if ((entry.type === 4 && entry.name === name) || (entry.type === 5 && entry.name.startsWith(`${name}/`))) {
        channels.remove(entry);
      }
    }
  }

  onUnrestored({ type, name }, restoring, error) {
    if (type === 2) this.#session.emit({ type: 'streamChannelEnded', channelName: name, error });
  }

  tokenWillExpire({ remainingMs, channel }) {
    if (channel) this.#session.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: channel });
  }

  channelEnded({ channel, error }) {
    const { subscriptions, channels } = this.#session;
    const entry = subscriptions.get(`2/${channel}`);
    if (!entry) return;
    channels.remove(entry);
    this.onUnrestored(entry, undefined, fromWire(error, 'join'));
  }

  // MARK: Events

  translate(event) {
    const { channelType, channelName } = event;
    if (channelType === 'topics') return this.#changes(event);
    if (channelType !== 'topic') return undefined;
    // A topic is known by its stream channel.
    const slash = channelName.indexOf('/');
    const place = { channelName: channelName.slice(0, slash), topic: channelName.slice(slash + 1) };
    return { ...event, channelType: 'stream', ...place };
  }

  #changes({ channelName, change, userId, users, states, timestamp }) {
    const publishers = this.#publishers.get(channelName);
    if (!publishers) return [];
    const event = (change, more) => ({ type: 'topic', channelName, change, ...more, timestamp });
    if (change === 'snapshot') {
      this.#publishers.set(channelName, new Map(users.map((user) => [user.userId, user.states])));
      return [event('snapshot', { topics: this.#list(channelName) })];
    }
    const before = publishers.get(userId) ?? {};
    const now = states ?? {};
    if (states) publishers.set(userId, states);
    else if (change === 'left' || change === 'timedOut') publishers.delete(userId);
    else return [];
    const differing = (one, other) => Object.keys(one).filter((topic) => !(topic in other));
    return [
      ...differing(before, now).map((topic) => event('left', { topic, userId, meta: before[topic] })),
      ...differing(now, before).map((topic) => event('joined', { topic, userId, meta: now[topic] })),
    ];
  }

  #list(name) {
    const topics = new Map();
    for (const [userId, states] of this.#publishers.get(name)) {
      for (const [topic, meta] of Object.entries(states)) topics.set(topic, [...(topics.get(topic) ?? []), { userId, meta }]);
    }
    return [...topics].sort().map(([name, publishers]) => ({ name, publishers }));
  }
}

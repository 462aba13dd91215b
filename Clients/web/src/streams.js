// Stream channels: rooms with topics (protocol/streams.md). A module of its own, so that nobody loads it who needs none.
//
// A stream channel, the roster of its topics and each topic are subscriptions as message channels are, and the topics that
// this user publishes are states that it shows in the roster.

import { subscribe, unsubscribe } from './client.js';
import { RTMError } from './errors.js';
import { features } from './names.js';
import { sessionOf } from './session.js';

const publishersMax = 64;
const priorities = { normal: 0, highest: 1, high: 2, low: 3 };

export class StreamChannel {
  #client;
  #session;
  /** By user id: the topics that others publish, each with its meta. */
  #publishers = new Map();
  #priorities = new Map();
  #changes = Promise.resolve();

  constructor(client, name) {
    this.#client = client;
    this.#session = sessionOf(client);
    this.name = name;
  }

  get #about() {
    return { type: 2, name: this.name, key: `2/${this.name}` };
  }

  get #topics() {
    return { type: 4, name: this.name, key: `4/${this.name}` };
  }

  #topic(topic) {
    const name = `${this.name}/${topic}`;
    return { type: 5, name, key: `5/${name}` };
  }

  get #joinedTopics() {
    return this.#session.states.of(this.#topics.key);
  }

  #entry({ key }) {
    return this.#session.subscriptions.get(key);
  }

  #checkJoined(operation) {
    if (this.#entry(this.#about)?.isActive) return;
    throw new RTMError(-11001, `stream channel '${this.name}' is not joined`, { operation });
  }

  // MARK: Joining

  async join({ token = '', presence = true, metadata = false, locks = false, quiet = false } = {}) {
    if (this.#entry(this.#about)?.isActive) {
      throw new RTMError(-10017, `stream channel '${this.name}' is joined already`, { operation: 'join' });
    }
    const wanted =
      (presence ? features.presence : 0) |
      (metadata ? features.metadata : 0) |
      (locks ? features.lock : 0) |
      (quiet ? features.quiet : 0);
    const { position, featuresUnavailable } = await subscribe(this.#session, this.#about, { features: wanted, token });
    this.#publishers.clear();
    this.#session.topics.set(this.name, (event) => this.#changed(event));
    try {
      await subscribe(this.#session, this.#topics, { features: features.presence | features.quiet });
    } catch (error) {
      // Without its topics the channel isn't joined.
      await this.leave().catch(() => {});
      throw error;
    }
    const unavailable = Object.keys(features).filter((name) => featuresUnavailable & features[name]);
    return { channelName: this.name, position, unavailable };
  }

  async leave() {
    await unsubscribe(this.#session, this.#about);
  }

  async renewToken(token) {
    this.#checkJoined('renewToken');
    await this.#session.renewToken(token, this.name);
    const entry = this.#entry(this.#about);
    if (entry) entry.token = token;
  }

  // MARK: Topics of others

  /** Makes topic events of a change of the roster. */
  #changed({ change, userId, users, states, timestamp }) {
    const event = (change, more) => ({ type: 'topic', channelName: this.name, change, ...more, timestamp });
    if (change === 'snapshot') {
      this.#publishers = new Map(users.map((user) => [user.userId, user.states]));
      return [event('snapshot', { topics: this.#list() })];
    }
    const before = this.#publishers.get(userId) ?? {};
    const now = change === 'stateChanged' ? states : {};
    if (change === 'stateChanged') this.#publishers.set(userId, states);
    else if (change === 'left' || change === 'timedOut') this.#publishers.delete(userId);
    else return [];
    const differing = (one, other) => Object.keys(one).filter((topic) => !(topic in other));
    return [
      ...differing(before, now).map((topic) => event('left', { topic, userId, meta: before[topic] })),
      ...differing(now, before).map((topic) => event('joined', { topic, userId, meta: now[topic] })),
    ];
  }

  #list() {
    const topics = new Map();
    for (const [userId, states] of this.#publishers) {
      for (const [topic, meta] of Object.entries(states)) topics.set(topic, [...(topics.get(topic) ?? []), { userId, meta }]);
    }
    return [...topics].sort().map(([name, publishers]) => ({ name, publishers }));
  }

  // MARK: Publishing

  joinTopic(topic, { meta = '', priority = 'normal' } = {}) {
    return this.#serialized(async () => {
      const operation = 'joinTopic';
      this.#checkJoined(operation);
      if (topic in this.#joinedTopics) throw new RTMError(-10017, `topic '${topic}' is joined already`, { operation });
      // The first topic makes the user a member of the roster, which it only followed before.
      if ((this.#entry(this.#topics)?.features ?? features.quiet) & features.quiet) {
        await subscribe(this.#session, this.#topics, { features: features.presence });
      }
      this.#priorities.set(topic, priorities[priority] ?? 0);
      await this.#session.states.set(this.#topics, { [topic]: meta });
    });
  }

  leaveTopic(topic) {
    return this.#serialized(async () => {
      this.#checkPublished(topic, 'leaveTopic');
      await this.#session.states.remove(this.#topics, [topic]);
    });
  }

  #checkPublished(topic, operation) {
    this.#checkJoined(operation);
    if (!(topic in this.#joinedTopics)) throw new RTMError(-11016, `topic '${topic}' is not joined`, { operation });
  }

  async publish(topic, message, { customType = '' } = {}) {
    this.#checkPublished(topic, 'publish');
    const priority = this.#priorities.get(topic) ?? 0;
    return this.#client.publish({ topic: this.#topic(topic).name }, message, { customType, priority });
  }

  // MARK: Subscribing

  /**
   * Adds users of a topic; without users up to 64 of those who publish it. A named user who doesn't publish it yet counts
   * as failed, and is subscribed nevertheless.
   */
  subscribe(topic, { users = [] } = {}) {
    return this.#serialized(async () => {
      const operation = 'subscribeTopic';
      this.#checkJoined(operation);
      const present = await this.#present(topic, users);
      if (present.size === 0 && users.length === 0) throw new RTMError(-11017, `there is no topic '${topic}'`, { operation });
      const known = new Set(this.#entry(this.#topic(topic))?.publishers ?? []);
      const asked = users.length > 0 ? [...new Set(users)] : shuffled([...present]);
      const added = asked.filter((user) => !known.has(user)).sort((one, other) => present.has(other) - present.has(one));
      const taken = added.slice(0, publishersMax - known.size);
      if (added.length > 0 && taken.length === 0) {
        const limit = { name: 'users of a subscribed topic', value: publishersMax };
        throw new RTMError(-11003, `${known.size} users of the topic are subscribed, which is the limit`, { operation, limit });
      }
      const publishers = [...new Set([...known, ...taken])].sort();
      if (taken.length > 0) await subscribe(this.#session, this.#topic(topic), { features: features.message, publishers });
      const succeeded = asked.filter((user) => present.has(user) && publishers.includes(user));
      return { topic, succeeded, failed: users.length > 0 ? asked.filter((user) => !succeeded.includes(user)) : [] };
    });
  }

  /** Who publishes the topic. Who has joined it a moment ago may not be known here yet, so the server is asked. */
  async #present(topic, users) {
    const known = [...this.#publishers].filter(([, states]) => topic in states).map(([userId]) => userId);
    if (known.length > 0 && users.every((user) => known.includes(user))) return new Set(known);
    const present = new Set();
    for await (const { userId, states } of this.#client.onlineUsers({ topics: this.name }, { states: true })) {
      if (topic in states) present.add(userId);
    }
    return present;
  }

  unsubscribe(topic, { users = [] } = {}) {
    return this.#serialized(async () => {
      const about = this.#topic(topic);
      const subscribed = this.#entry(about)?.publishers ?? [];
      const publishers = users.length > 0 ? subscribed.filter((user) => !users.includes(user)) : [];
      if (publishers.length === 0) return unsubscribe(this.#session, about);
      if (publishers.length === subscribed.length) return undefined;
      return void (await subscribe(this.#session, about, { features: features.message, publishers }));
    });
  }

  subscribedUsers(topic) {
    this.#checkJoined('subscribedUsers');
    const entry = this.#entry(this.#topic(topic));
    if (!entry?.isActive) throw new RTMError(-11013, `topic '${topic}' is not subscribed`, { operation: 'subscribedUsers' });
    return [...entry.publishers];
  }

  /** Each change adds to what was there before, and apps don't wait between them. */
  #serialized(change) {
    const result = this.#changes.then(change);
    this.#changes = result.catch(() => {});
    return result;
  }
}

function shuffled(list) {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [list[index], list[other]] = [list[other], list[index]];
  }
  return list;
}

// Stream channels: rooms with topics (protocol/streams.md). A module of its own, so that nobody loads it who needs none.
//
// A stream channel, the roster of its topics and each topic are subscriptions as message channels are, and the topics that
// this user publishes are states that it shows in the roster.

import { RTMError } from './errors.js';
import { place, union } from './names.js';
import { Rosters } from './rosters.js';
import { sessionOf } from './session.js';
import { checkToken, renewCodes } from './tokens.js';
import { Topics } from './topics.js';

// The bits of what a subscriber receives.
const [presence, quiet] = [1, 16];
// Limits: bytes of a message in a topic, and users of a subscribed one.
const payloadMax = 1024;
const publishersMax = 64;
const priorities = { normal: 0, highest: 1, high: 2, low: 3 };

const shuffled = (list) =>
  list
    .map((user) => [Math.random(), user])
    .sort(([one], [other]) => one - other)
    .map(([, user]) => user);

export class StreamChannel {
  #session;
  #rosters;
  #states;
  #topics;
  #about;
  #roster;
  #priorities = new Map();
  #changes = Promise.resolve();
  /** How often it was left. */
  #leaves = 0;

  constructor(client, name) {
    this.#session = sessionOf(client);
    this.#rosters = this.#session.part(Rosters);
    this.#states = this.#rosters.states;
    this.#topics = this.#session.part(Topics);
    this.#about = place(2, name);
    this.#roster = place(4, name);
    this.name = name;
  }

  #topic(topic) {
    return { ...place(5, `${this.name}/${topic}`), payloadMax };
  }

  get #joinedTopics() {
    return this.#states.of(this.#roster.key);
  }

  #entry({ key }) {
    return this.#session.subscriptions.get(key);
  }

  #checkJoined(operation) {
    if (this.#entry(this.#about)?.isActive) return;
    throw new RTMError(-11001, `stream channel '${this.name}' is not joined`, { operation });
  }

  // MARK: Joining

  /** It begins behind what was called before it, and what is called after it need not wait for its end. */
  async join(given) {
    const { joined } = await this.#serialized(async () => ({ joined: this.#join(given) }));
    return joined;
  }

  async #join(given) {
    const operation = 'join';
    const { token = '', ...options } = given ?? {};
    const { channels } = this.#session;
    if (this.#entry(this.#about)?.isActive) {
      throw new RTMError(-10017, `stream channel '${this.name}' is joined already`, { operation });
    }
    const leaves = this.#leaves;
    const wasLeft = () => leaves < this.#leaves;
    const joined = await channels.open(this.#about, { messages: false, ...options }, operation, { token });
    if (wasLeft()) throw new RTMError(-11034, 'the channel was left before its join was done', { operation });
    this.#topics.begin(this.name);
    try {
      await channels.subscribe(this.#roster, { features: presence | quiet }, operation);
    } catch (error) {
      // Without its topics the channel isn't joined. Who has left meanwhile may have joined again.
      if (!wasLeft()) await this.leave().catch(() => {});
      throw error;
    }
    return joined;
  }

  /** Behind the changes of topics that were called before it. */
  leave() {
    return this.#serialized(() => {
      this.#leaves++;
      return this.#session.channels.unsubscribe(this.#about, 'leave', -11001);
    });
  }

  async renewToken(token) {
    const operation = 'renewToken';
    const { requests, tokens, link } = this.#session;
    const replace = () => Object.assign(this.#entry(this.#about) ?? {}, { token });
    this.#checkJoined(operation);
    checkToken(token);
    try {
      await requests.ask(renewCodes, operation, { token, channel: this.name });
      replace();
    } catch (error) {
      if (error.code !== renewCodes[1] || !link.isAway) throw error;
      // The return joins the channel with it.
      replace();
      await tokens.comeBack(link.token);
      this.#checkJoined(operation);
    }
  }

  // MARK: Publishing

  joinTopic(topic, options) {
    const { meta = '', priority = 'normal' } = options ?? {};
    return this.#serialized(async () => {
      const operation = 'joinTopic';
      this.#checkJoined(operation);
      if (topic in this.#joinedTopics) throw new RTMError(-10017, `topic '${topic}' is joined already`, { operation });
      // The first topic makes the user a member of the roster, which it only followed before.
      if ((this.#entry(this.#roster)?.features ?? quiet) & quiet) {
        await this.#session.channels.subscribe(this.#roster, { features: presence }, operation);
      }
      this.#priorities.set(topic, priorities[priority] ?? 0);
      await this.#states.set(this.#roster, { [topic]: meta });
    });
  }

  leaveTopic(topic) {
    return this.#serialized(async () => {
      this.#checkPublished(topic, 'leaveTopic');
      await this.#states.remove(this.#roster, [topic]);
    });
  }

  #checkPublished(topic, operation) {
    this.#checkJoined(operation);
    if (!(topic in this.#joinedTopics)) throw new RTMError(-11016, `topic '${topic}' is not joined`, { operation });
  }

  async publish(topic, message, options) {
    const { customType = '' } = options ?? {};
    this.#checkPublished(topic, 'publish');
    const priority = this.#priorities.get(topic) ?? 0;
    return this.#session.publisher.publish(this.#topic(topic), message, { customType, priority });
  }

  // MARK: Subscribing

  /**
   * Adds users of a topic; without users up to 64 of those who publish it. A named user who doesn't publish it yet counts
   * as failed, and is subscribed nevertheless.
   */
  subscribe(topic, options) {
    const users = options?.users ?? [];
    return this.#serialized(async () => {
      const operation = 'subscribeTopic';
      this.#checkJoined(operation);
      const present = await this.#present(topic, users);
      if (present.size === 0 && users.length === 0) throw new RTMError(-11017, `there is no topic '${topic}'`, { operation });
      const known = new Set(this.#entry(this.#topic(topic))?.publishers);
      const asked = users.length > 0 ? [...new Set(users)] : shuffled([...present]);
      const added = asked.filter((user) => !known.has(user)).sort((one, other) => present.has(other) - present.has(one));
      const taken = added.slice(0, publishersMax - known.size);
      if (added.length > 0 && taken.length === 0) {
        const limit = { name: 'users of a subscribed topic', value: publishersMax };
        throw new RTMError(-11003, `${known.size} users of the topic are subscribed, which is the limit`, { operation, limit });
      }
      const publishers = union([...known], taken);
      if (taken.length > 0) await this.#subscribe(topic, publishers);
      const succeeded = asked.filter((user) => present.has(user) && publishers.includes(user));
      return { topic, succeeded, failed: users.length > 0 ? asked.filter((user) => !succeeded.includes(user)) : [] };
    });
  }

  #subscribe(topic, publishers) {
    return this.#session.channels.subscribe(this.#topic(topic), { publishers }, 'subscribeTopic');
  }

  /** Who publishes the topic. Who has joined it a moment ago may not be known here yet, so the server is asked. */
  async #present(topic, users) {
    const known = this.#topics.publishers(this.name, topic);
    if (known.length > 0 && users.every((user) => known.includes(user))) return new Set(known);
    const present = new Set();
    let list;
    do {
      list = await this.#rosters.list(this.#roster, { states: true, page: list?.nextPage });
      for (const { userId, states } of list.users) if (topic in states) present.add(userId);
    } while (list.nextPage);
    return present;
  }

  unsubscribe(topic, options) {
    const users = options?.users ?? [];
    return this.#serialized(async () => {
      const about = this.#topic(topic);
      const subscribed = this.#entry(about)?.publishers ?? [];
      const publishers = users.length > 0 ? subscribed.filter((user) => !users.includes(user)) : [];
      if (publishers.length === 0) await this.#session.channels.unsubscribe(about, 'unsubscribeTopic', -11013);
      else if (publishers.length < subscribed.length) await this.#subscribe(topic, publishers);
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

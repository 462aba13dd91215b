// The vendor's stream channels, over ours.

import { asName, asText, listOf, Part, RTMBaseError } from './agora-common.js';
import { sessionOf } from './session.js';
import { StreamChannel } from './streams.js';

/** What a subscription of a user in a topic may come to. Here it is that the user doesn't publish the topic yet. */
export const RTMStreamChannelStatusCode = {
  SubscribeTopicErrorCode: {
    NO_ERROR: 0,
    PARTIALLY_SUCCESSFUL: 1,
    ALL_FAILED: 2,
    UNKNOWN_ERROR: 3,
    INVALID_PARAMS: 4,
    REMOTE_USER_IS_NOT_PUBLISHED: 5,
    INVALID_REMOTE_USER: 6,
    TIMEOUT: 7,
    ALREADY_SUBSCRIBED_USER: 20001,
    SUB_USER_EXCEED_LIMITATION: 20003,
    NOT_SUBSCRIBED_USER: 20004,
  },
};

const usersOf = (users) => listOf(users, 'users').map((user) => asName(user, 'user'));

export class RTMStreamChannel extends Part {
  #stream;

  constructor(rtm, client, channelName) {
    super(rtm, client);
    this.channelName = channelName;
    this.#stream = new StreamChannel(client, channelName);
  }

  /** The link of the channel, as the vendor shows it. */
  #show(previousState, currentState, operation, reasonCode, reason = reasonCode) {
    const timestamp = sessionOf(this.client).time;
    this.rtm.emit('linkState', {
      currentState,
      previousState,
      serviceType: 'STREAM',
      operation,
      reasonCode,
      reason,
      affectedChannels: [this.channelName],
      unrestoredChannels: [],
      isResumed: false,
      timestamp,
    });
    const state = { CONNECTING: 'CONNECTING', CONNECTED: 'CONNECTED' }[currentState] ?? 'DISCONNECTED';
    this.rtm.emit('status', { channelName: this.channelName, state, reason: reasonCode, timestamp });
  }

  join(given) {
    const join = async ({ token, withPresence = true, withMetadata = false, withLock = false, beQuiet = false }) => {
      const options = { token, presence: withPresence, metadata: withMetadata, locks: withLock, quiet: beQuiet };
      this.#show('IDLE', 'CONNECTING', 'JOIN', 'JOIN');
      try {
        await this.#stream.join(options);
      } catch (error) {
        this.#show('CONNECTING', 'FAILED', 'SERVER_REJECT', 'JOIN_FAILED', error.reason);
        throw error;
      }
      this.#show('CONNECTING', 'CONNECTED', 'JOIN', 'JOIN_SUCCESS');
      return { channelName: this.channelName };
    };
    return this.perform('join', join, given);
  }

  leave() {
    return this.perform('leave', async () => {
      await this.#stream.leave();
      this.#show('CONNECTED', 'IDLE', 'LEAVE', 'LEAVE');
      return { channelName: this.channelName };
    });
  }

  renewStreamChannelToken(token) {
    return this.perform('renewToken', () => this.#stream.renewToken(asName(token, 'token')));
  }

  #topic(operation, topicName, work, given) {
    const answer = async (options) => {
      const name = asName(topicName, 'topic');
      return { topicName: name, channelName: this.channelName, ...(await work(name, options)) };
    };
    return this.perform(operation, answer, given);
  }

  joinTopic(topicName, given) {
    const join = (topic, { meta, priority = 'NORMAL' }) =>
      this.#stream.joinTopic(topic, { meta: asText(meta, -11018), priority: priority.toLowerCase() });
    return this.#topic('joinTopic', topicName, join, given);
  }

  leaveTopic(topicName) {
    return this.#topic('leaveTopic', topicName, (topic) => this.#stream.leaveTopic(topic));
  }

  publishTopicMessage(topicName, message, given) {
    const publish = async (topic, { customType }) => void (await this.#stream.publish(topic, message, { customType }));
    return this.#topic('publishTopicMessage', topicName, publish, given);
  }

  subscribeTopic(topicName, given) {
    const subscribe = async (topic, { users }) => {
      const { succeeded, failed } = await this.#stream.subscribe(topic, { users: usersOf(users) });
      const reason = 'the user does not publish the topic yet, and is subscribed nevertheless';
      const errorCode = RTMStreamChannelStatusCode.SubscribeTopicErrorCode.REMOTE_USER_IS_NOT_PUBLISHED;
      const failedDetails = failed.map((user) => ({ user, topicName, errorCode, reason }));
      return { succeedUsers: succeeded, failedUsers: failed, failedDetails };
    };
    return this.#topic('subscribeTopic', topicName, subscribe, given);
  }

  unsubscribeTopic(topicName, given) {
    const unsubscribe = (topic, { users }) => this.#stream.unsubscribe(topic, { users: usersOf(users) });
    return this.#topic('unsubscribeTopic', topicName, unsubscribe, given);
  }

  /** Without a promise, as the vendor's; `await` works as well. */
  getSubscribedUserList(topicName) {
    try {
      const subscribed = this.#stream.subscribedUsers(topicName);
      return { timestamp: sessionOf(this.client).time, topicName, subscribed };
    } catch (error) {
      throw new RTMBaseError('getSubscribedUserList', error);
    }
  }
}

// The vendor's stream channels, over ours.

import { Part, RTMBaseError } from './agora-common.js';
import { sessionOf } from './session.js';
import { StreamChannel } from './streams.js';

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

  join({ token = '', withPresence = true, withMetadata = false, withLock = false, beQuiet = false } = {}) {
    return this.perform('join', async () => {
      const options = { token: token ?? '', presence: withPresence, metadata: withMetadata, locks: withLock, quiet: beQuiet };
      this.#show('IDLE', 'CONNECTING', 'JOIN', 'JOIN');
      try {
        await this.#stream.join(options);
      } catch (error) {
        this.#show('CONNECTING', 'FAILED', 'SERVER_REJECT', 'JOIN_FAILED', error.reason);
        throw error;
      }
      this.#show('CONNECTING', 'CONNECTED', 'JOIN', 'JOIN_SUCCESS');
      return { channelName: this.channelName };
    });
  }

  leave() {
    return this.perform('leave', async () => {
      await this.#stream.leave();
      this.#show('CONNECTED', 'IDLE', 'LEAVE', 'LEAVE');
      return { channelName: this.channelName };
    });
  }

  renewStreamChannelToken(token) {
    return this.perform('renewToken', () => this.#stream.renewToken(token));
  }

  #topic(operation, topicName, work) {
    return this.perform(operation, async () => ({ topicName, channelName: this.channelName, ...(await work()) }));
  }

  joinTopic(topicName, { meta = '', priority = 'NORMAL' } = {}) {
    const options = { meta: typeof meta === 'string' ? meta : JSON.stringify(meta), priority: `${priority}`.toLowerCase() };
    return this.#topic('joinTopic', topicName, () => this.#stream.joinTopic(topicName, options));
  }

  leaveTopic(topicName) {
    return this.#topic('leaveTopic', topicName, () => this.#stream.leaveTopic(topicName));
  }

  publishTopicMessage(topicName, message, { customType = '' } = {}) {
    const publish = async () => void (await this.#stream.publish(topicName, message, { customType }));
    return this.#topic('publishTopicMessage', topicName, publish);
  }

  subscribeTopic(topicName, { users = [] } = {}) {
    return this.#topic('subscribeTopic', topicName, async () => {
      const { succeeded, failed } = await this.#stream.subscribe(topicName, { users });
      const reason = 'the user does not publish the topic yet, and is subscribed nevertheless';
      const failedDetails = failed.map((user) => ({ user, topicName, errorCode: 5, reason }));
      return { succeedUsers: succeeded, failedUsers: failed, failedDetails };
    });
  }

  unsubscribeTopic(topicName, { users = [] } = {}) {
    return this.#topic('unsubscribeTopic', topicName, () => this.#stream.unsubscribe(topicName, { users }));
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

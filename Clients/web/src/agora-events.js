// What the vendor's listeners get for the events of the client.

import { counted, lockDetail, storageData, upper } from './agora-common.js';

const userList = (users) => ({ users, userCount: users.length });
const affected = ({ messageChannels = [], streamChannels = [], users = [] }) => ({ messageChannels, streamChannels, users });
const presenceEvents = {
  joined: 'REMOTE_JOIN',
  left: 'REMOTE_LEAVE',
  timedOut: 'REMOTE_TIMEOUT',
  stateChanged: 'REMOTE_STATE_CHANGED',
  outOfService: 'ERROR_OUT_OF_SERVICE',
};
const statusReasons = {
  loginSuccess: 'LOGIN_SUCCESS',
  reconnectSuccess: 'LOGIN_SUCCESS',
  logout: 'LOGOUT',
  sameUidLogin: 'SAME_UID_LOGIN',
  tokenExpired: 'TOKEN_EXPIRED',
  reconnectTimeout: 'LOST',
};

/** The events of the vendor that an event of the client becomes: pairs of name and argument. */
export function translated(event) {
  const { type, timestamp, change, channelName } = event;
  const place = { channelType: event.channelType && upper(event.channelType), channelName };
  if (type === 'message') {
    const { payload, publisher, customType, topic } = event;
    const messageType = typeof payload === 'string' ? 'STRING' : 'BINARY';
    const content = { topicName: topic, messageType, customType, message: payload, publisher };
    return [['message', { ...place, ...content, publishTime: timestamp, timestamp }]];
  }
  if (type === 'presence') {
    const { interval, users, states = {}, userId = '' } = event;
    const eventType = presenceEvents[change] ?? upper(change);
    const shown = { eventType, ...place, publisher: userId, stateChanged: states, interval: null, snapshot: null, timestamp };
    if (users) shown.snapshot = users.map(counted);
    if (interval) {
      shown.interval = {
        join: userList(interval.joined),
        leave: userList(interval.left),
        timeout: userList(interval.timedOut),
        userStateList: interval.states.map(counted),
      };
    }
    // Apps of the vendor look for states in an event of their own.
    const isBoth = change === 'joined' && event.states;
    return [['presence', shown], ...(isBoth ? [['presence', { ...shown, eventType: presenceEvents.stateChanged }]] : [])];
  }
  if (type === 'storage') {
    const { isSnapshot, publisher, metadata } = event;
    const storageType = event.channelType === 'user' ? 'USER' : 'CHANNEL';
    const eventType = isSnapshot ? 'SNAPSHOT' : 'UPDATE';
    return [['storage', { ...place, publisher, storageType, eventType, data: storageData(metadata), timestamp }]];
  }
  if (type === 'lock') {
    const details = event.locks.map(lockDetail);
    const isSnapshot = change === 'snapshot';
    const eventType = upper(change);
    if (isSnapshot) {
      return [['lock', { ...place, eventType, lockName: '', owner: '', ttl: 0, publisher: '', snapshot: details, timestamp }]];
    }
    const { publisher } = event;
    return details.map((detail) => ['lock', { ...place, eventType, ...detail, publisher, snapshot: [], timestamp }]);
  }
  if (type === 'topic') {
    const info = ({ name, publishers }) => ({
      topicName: name,
      publishers: publishers.map(({ userId, meta }) => ({ publisherUserId: userId, publisherMeta: meta })),
      totalPublisher: publishers.length,
    });
    const topics = event.topics ?? [{ name: event.topic, publishers: [{ userId: event.userId, meta: event.meta }] }];
    const eventType = { joined: 'REMOTE_JOIN', left: 'REMOTE_LEAVE' }[change] ?? 'SNAPSHOT';
    const topicInfos = topics.map(info);
    const publisher = event.userId ?? '';
    return [['topic', { eventType, channelName, publisher, topicInfos, totalTopics: topics.length, timestamp }]];
  }
  if (type === 'linkState') {
    const { currentState, previousState, operation, reasonCode, reason, affectedChannels, unrestoredChannels, isResumed } = event;
    const link = {
      currentState: upper(currentState),
      previousState: upper(previousState),
      serviceType: 'MESSAGE',
      operation: upper(operation),
      reasonCode: upper(reasonCode),
      reason,
      affectedChannels,
      unrestoredChannels,
      isResumed,
      timestamp,
    };
    const isReturn = currentState === 'connecting' && operation === 'autoReconnect';
    const isLost = currentState === 'disconnected' || currentState === 'suspended';
    const state = isReturn || isLost ? 'RECONNECTING' : currentState === 'idle' ? 'DISCONNECTED' : upper(currentState);
    const usual = { CONNECTING: 'CONNECTING', FAILED: 'REJECTED_BY_SERVER' }[state] ?? 'INTERRUPTED';
    return [
      ['linkState', link],
      ['status', { state, reason: statusReasons[reasonCode] ?? usual, timestamp }],
    ];
  }
  if (type === 'tokenWillExpire') {
    const resources = affected({ streamChannels: channelName ? [channelName] : [] });
    const reason = `the token expires in ${Math.round(event.remaining / 1000)} seconds`;
    return [
      ['tokenPrivilegeWillExpire', channelName ?? ''],
      ['token', { eventType: 'WILL_EXPIRE', reason, affectedResources: resources, timestamp: event.timestamp ?? Date.now() }],
    ];
  }
  if (type === 'permissionRevoked') {
    const reason = 'the token does not allow these subscriptions';
    return [['token', { eventType: 'READ_PERMISSION_REVOKED', reason, affectedResources: affected(event), timestamp }]];
  }
  if (type === 'streamChannelEnded') {
    const ended = { currentState: 'FAILED', previousState: 'CONNECTED', serviceType: 'STREAM', operation: 'SERVER_REJECT' };
    const reasonCode = event.error.code === -10009 ? 'TOKEN_EXPIRED' : 'JOIN_FAILED';
    const lists = { affectedChannels: [channelName], unrestoredChannels: [], isResumed: false };
    return [['linkState', { ...ended, reasonCode, reason: event.error.reason, ...lists, timestamp: Date.now() }]];
  }
  return [[type, event]];
}

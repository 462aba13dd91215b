// Programs written for agora-rtm 2.x: only the import and the server differ.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import AgoraRTM from '../../Clients/web/src/agora-rtm.js';
import { fresh } from './support/clients.js';
import { startStandalone, WebSocket } from './support/programs.js';

const { RTM } = AgoraRTM;

const server = await startStandalone();
AgoraRTM.setServers(server.url);
after(() => server.kill());

/** A logged in client, and what its listeners got. */
async function user(t, config = {}) {
  const rtm = new RTM('dev', fresh('user'), { WebSocket, ...config });
  const seen = {};
  const waiting = new Set();
  for (const name of [
    'message',
    'presence',
    'storage',
    'lock',
    'topic',
    'linkState',
    'status',
    'tokenPrivilegeWillExpire',
  ]) {
    seen[name] = [];
    rtm.addEventListener(name, (event) => {
      seen[name].push(event);
      for (const check of waiting) check();
    });
  }
  const until = (name, fits) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no ${name} that fits ${fits}: ${JSON.stringify(seen[name])}`)),
        10_000,
      );
      const check = () => {
        const found = seen[name].find(fits);
        if (!found) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  const { timestamp } = await rtm.login();
  assert.ok(timestamp > 1e12);
  t.after(() => rtm.logout().catch(() => {}));
  return Object.assign(rtm, { seen, until });
}

test('the quickstart: subscribe, publish, listen', async (t) => {
  const channelName = fresh('chat');
  const [alice, bob] = [await user(t), await user(t)];
  const brief = ({ currentState, operation, reasonCode }) => [currentState, operation, reasonCode];
  assert.deepEqual(alice.seen.linkState.map(brief), [
    ['CONNECTING', 'LOGIN', 'LOGIN'],
    ['CONNECTED', 'LOGIN', 'LOGIN_SUCCESS'],
  ]);
  assert.deepEqual(alice.seen.status.map(({ state, reason }) => [state, reason]), [
    ['CONNECTING', 'CONNECTING'],
    ['CONNECTED', 'LOGIN_SUCCESS'],
  ]);
  const options = { withMessage: true, withPresence: true, beQuiet: false, withMetadata: false, withLock: false };
  assert.equal((await bob.subscribe(channelName, options)).channelName, channelName);
  const { snapshot } = await bob.until('presence', ({ eventType }) => eventType === 'SNAPSHOT');
  assert.deepEqual(snapshot, [{ userId: bob.userId, states: {}, statesCount: 0 }]);
  const payload = JSON.stringify({ type: 'text', message: 'hi' });
  const { timestamp } = await alice.publish(channelName, payload, { customType: 'json', channelType: 'MESSAGE' });
  const event = await bob.until('message', () => true);
  assert.deepEqual(event, {
    channelType: 'MESSAGE',
    channelName,
    topicName: '',
    messageType: 'STRING',
    customType: 'json',
    message: payload,
    publisher: alice.userId,
    publishTime: timestamp,
    timestamp,
  });
  await alice.publish(bob.userId, new Uint8Array([1, 2]), { channelType: 'USER' });
  const direct = await bob.until('message', ({ channelType }) => channelType === 'USER');
  assert.deepEqual([direct.messageType, [...direct.message]], ['BINARY', [1, 2]]);
  await alice.subscribe(channelName);
  await bob.until('presence', ({ eventType, publisher }) => eventType === 'REMOTE_JOIN' && publisher === alice.userId);
  await alice.presence.setState(channelName, 'MESSAGE', { mood: 'good' });
  const changed = await bob.until('presence', ({ eventType }) => eventType === 'REMOTE_STATE_CHANGED');
  assert.deepEqual(changed.stateChanged, { mood: 'good' });
  const who = await bob.presence.getOnlineUsers(channelName, 'MESSAGE', { includedState: true });
  assert.equal(who.totalOccupancy, 2);
  assert.deepEqual(who.occupants.find(({ userId }) => userId === alice.userId), {
    userId: alice.userId,
    states: { mood: 'good' },
    statesCount: 1,
  });
  assert.equal((await bob.presence.whereNow(alice.userId)).channels[0].channelType, 'MESSAGE');
  assert.deepEqual((await bob.presence.getState(alice.userId, channelName, 'MESSAGE')).states, { mood: 'good' });
  await alice.presence.removeState(channelName, 'MESSAGE');
  await alice.unsubscribe(channelName);
  await bob.until('presence', ({ eventType, publisher }) => eventType === 'REMOTE_LEAVE' && publisher === alice.userId);
  await alice.logout();
  assert.equal(alice.seen.linkState.at(-1).currentState, 'IDLE');
});

test('errors have the vendor’s members', async (t) => {
  const rtm = await user(t);
  const refused = rtm.publish(fresh('nobody'), 'x', { channelType: 'USER' });
  const { error, operation, errorCode, reason } = await refused.catch((status) => status);
  assert.deepEqual([error, operation, errorCode], [true, 'publish', -11033]);
  assert.match(reason, /online/);
  await assert.rejects(rtm.publish('room', 'x', { channelType: 'STREAM' }), { errorCode: -10019 });
  await assert.rejects(rtm.presence.whoNow('room', 'ROOM'), { errorCode: -10019, operation: 'whoNow' });
  assert.throws(() => new RTM('', 'alice', { WebSocket }), { errorCode: -10003 });
  assert.throws(() => new RTM('dev', 'alice', { WebSocket, useStringUserId: false }), { errorCode: -10006 });
  assert.throws(() => new RTM('dev', 'alice', { WebSocket, encryptionMode: 'AES_256_GCM' }), { errorCode: -10020 });
});

test('metadata that is no list of items is refused', async (t) => {
  const alice = await user(t);
  const set = alice.storage.setChannelMetadata('lobby', 'MESSAGE', { title: 'x' });
  await assert.rejects(set, { errorCode: -10014, reason: /list of items/ });
});

test('storage: revisions as the vendor counts them, events with the whole set', async (t) => {
  const channelName = fresh('auction');
  const [alice, bob] = [await user(t), await user(t)];
  await bob.subscribe(channelName, { withMetadata: true });
  await bob.until('storage', ({ eventType }) => eventType === 'SNAPSHOT');
  const written = await alice.storage.setChannelMetadata(
    channelName,
    'MESSAGE',
    [
      { key: 'price', value: '1', revision: 0 },
      { key: 'lot', value: 'a', revision: -1 },
    ],
    { addTimeStamp: true, addUserId: true, majorRevision: -1 },
  );
  assert.deepEqual([written.channelName, written.channelType, written.totalCount], [channelName, 'MESSAGE', 2]);
  const event = await bob.until('storage', ({ eventType }) => eventType === 'UPDATE');
  assert.deepEqual([event.storageType, event.publisher, event.data.totalCount], ['CHANNEL', alice.userId, 2]);
  assert.equal(event.data.metadata.price.authorUid, alice.userId);
  const { metadata, majorRevision } = await bob.storage.getChannelMetadata(channelName, 'MESSAGE');
  const item = { key: 'price', value: '2', revision: metadata.price.revision };
  await bob.storage.updateChannelMetadata(channelName, 'MESSAGE', [item], { majorRevision });
  await assert.rejects(bob.storage.updateChannelMetadata(channelName, 'MESSAGE', [item]), { errorCode: -12014 });
  await bob.storage.removeChannelMetadata(channelName, 'MESSAGE', { data: [{ key: 'lot', value: '' }] });
  await bob.storage.removeChannelMetadata(channelName, 'MESSAGE');
  await bob.storage.subscribeUserMetadata(alice.userId);
  await alice.storage.setUserMetadata([{ key: 'name', value: 'Alice' }]);
  const own = await bob.until(
    'storage',
    ({ storageType, eventType }) => storageType === 'USER' && eventType === 'UPDATE',
  );
  assert.deepEqual([own.channelName, own.data.metadata.name.value], [alice.userId, 'Alice']);
  await alice.storage.updateUserMetadata([{ key: 'name', value: 'A.' }]);
  assert.equal((await bob.storage.getUserMetadata({ userId: alice.userId })).metadata.name.value, 'A.');
  await alice.storage.removeUserMetadata();
  await bob.storage.unsubscribeUserMetadata(alice.userId);
});

test('locks and history', async (t) => {
  const channelName = fresh('locks');
  const [alice, bob] = [await user(t), await user(t)];
  await bob.subscribe(channelName, { withLock: true });
  await alice.lock.setLock(channelName, 'MESSAGE', 'turn', { ttl: 30 });
  await alice.lock.acquireLock(channelName, 'MESSAGE', 'turn');
  const event = await bob.until('lock', ({ eventType }) => eventType === 'ACQUIRED');
  assert.deepEqual([event.lockName, event.owner, event.ttl], ['turn', alice.userId, 30]);
  const { totalLocks, lockDetails } = await bob.lock.getLock(channelName, 'MESSAGE');
  assert.deepEqual([totalLocks, lockDetails], [1, [{ lockName: 'turn', owner: alice.userId, ttl: 30 }]]);
  await assert.rejects(bob.lock.acquireLock(channelName, 'MESSAGE', 'turn', { retry: false }), { errorCode: -14007 });
  const waiting = bob.lock.acquireLock(channelName, 'MESSAGE', 'turn', { retry: true });
  await alice.lock.releaseLock(channelName, 'MESSAGE', 'turn');
  assert.equal((await waiting).lockName, 'turn');
  await alice.lock.revokeLock(channelName, 'MESSAGE', 'turn', bob.userId);
  await alice.lock.removeLock(channelName, 'MESSAGE', 'turn');
  for (const text of ['1', '2', '3']) await alice.publish(channelName, text, { storeInHistory: true });
  const { messageList, count, newStart } = await bob.history.getMessages(channelName, 'MESSAGE', { messageCount: 2 });
  assert.deepEqual([messageList.map(({ message }) => message), count, newStart > 0], [['3', '2'], 2, true]);
});

test('stream channels and topics', async (t) => {
  const name = fresh('stage');
  const [alice, bob] = [await user(t), await user(t)];
  const [stage, seats] = [alice.createStreamChannel(name), bob.createStreamChannel(name)];
  assert.equal(alice.createStreamChannel(name), stage);
  await stage.join({ token: null, withPresence: true });
  await seats.join({ withMetadata: true, withLock: true });
  const link = bob.seen.linkState.filter(({ serviceType }) => serviceType === 'STREAM');
  assert.deepEqual(link.map(({ currentState, reasonCode }) => [currentState, reasonCode]), [
    ['CONNECTING', 'JOIN'],
    ['CONNECTED', 'JOIN_SUCCESS'],
  ]);
  assert.equal((await stage.joinTopic('gesture', { meta: 'm' })).topicName, 'gesture');
  const joined = await bob.until('topic', ({ eventType }) => eventType === 'REMOTE_JOIN');
  assert.deepEqual(joined.topicInfos, [
    { topicName: 'gesture', publishers: [{ publisherUserId: alice.userId, publisherMeta: 'm' }], totalPublisher: 1 },
  ]);
  const { succeedUsers, failedUsers } = await seats.subscribeTopic('gesture', { users: [alice.userId, 'later'] });
  assert.deepEqual([succeedUsers, failedUsers], [[alice.userId], ['later']]);
  await stage.publishTopicMessage('gesture', 'wave', { customType: 'g' });
  const event = await bob.until('message', () => true);
  assert.deepEqual([event.channelType, event.topicName, event.message], ['STREAM', 'gesture', 'wave']);
  assert.deepEqual((await seats.getSubscribedUserList('gesture')).subscribed, [alice.userId, 'later'].sort());
  await seats.unsubscribeTopic('gesture', { users: ['later'] });
  await stage.leaveTopic('gesture');
  await assert.rejects(
    stage.publishTopicMessage('gesture', 'x'),
    { errorCode: -11016, operation: 'publishTopicMessage' },
  );
  await stage.leave();
  await bob.until('topic', ({ eventType }) => eventType === 'REMOTE_LEAVE');
});

test('encryption by the vendor’s configuration, and a second login of the user', async (t) => {
  const channelName = fresh('secret');
  const config = { encryptionMode: 'AES_256_GCM', cipherKey: 'a long random text', salt: new Uint8Array(32) };
  const [alice, bob] = [await user(t, config), await user(t, config)];
  await bob.subscribe(channelName);
  await alice.publish(channelName, 'psst');
  assert.equal((await bob.until('message', () => true)).message, 'psst');
  const other = new RTM('dev', bob.userId, { WebSocket, ...config });
  await other.login({ token: '' });
  t.after(() => other.logout());
  await bob.until(
    'linkState',
    ({ currentState, reasonCode }) => currentState === 'FAILED' && reasonCode === 'SAME_UID_LOGIN',
  );
  await bob.until('status', ({ state, reason }) => state === 'FAILED' && reason === 'SAME_UID_LOGIN');
});

test('a token of the configuration, and none of the server’s', async (t) => {
  const earlier = new RTM('dev', fresh('user'), { WebSocket, token: 'dev' });
  await earlier.login();
  t.after(() => earlier.logout());
  const wrong = new RTM('dev', fresh('user'), { WebSocket, token: 'no token of this app' });
  await assert.rejects(wrong.login(), { errorCode: -10005, operation: 'login' });
  await wrong.login({ token: 'dev' });
  t.after(() => wrong.logout());
});

test('listeners come, go, and don’t disturb one another', async (t) => {
  const rtm = await user(t);
  const got = [];
  const listener = (event) => got.push(event);
  rtm.on('x', listener).once('x', listener);
  rtm.emit('x', 1);
  rtm.off('x', listener);
  assert.equal(rtm.emit('x', 2), false);
  assert.deepEqual(got, [1, 1]);
});

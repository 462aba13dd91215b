// Every method of the vendor's API, and of the client below it, with what apps and their users give: nothing, null, the empty text, and junk.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import AgoraRTM from '../../Clients/web/src/agora-rtm.js';
import { RTMError } from '../../Clients/web/src/errors.js';
import { StreamChannel } from '../../Clients/web/src/streams.js';
import { fresh, loggedIn } from './support/clients.js';
import { startStandalone, WebSocket } from './support/programs.js';

const { RTM, RTMBaseError } = AgoraRTM;
const server = await startStandalone({ 'rates-unlimited': true });
AgoraRTM.setServers(server.url);
after(() => server.kill());

const absent = [undefined, null, '', {}];
const junk = [0, 1, -1, NaN, Infinity, 5n, true, 'x', '\0', [], [null], () => {}, Symbol('s'), new Date(0), Object.create(null)];
const item = [{ key: 'k', value: 'v' }];

// By the part of a client: what each method takes, with valid arguments, and the options that it knows. What a test can't see
// (a login, a logout, what returns no promise) stands in `others`.
const calls = {
  client: {
    renewToken: [['dev'], ['channelName']],
    subscribe: [['room'], ['withMessage', 'withPresence', 'beQuiet', 'withMetadata', 'withLock']],
    unsubscribe: [['room']],
    publish: [['room', 'hello'], ['customType', 'channelType', 'storeInHistory']],
    updateConfig: [[], ['logLevel', 'logUpload', 'cloudProxy']],
  },
  presence: {
    whoNow: [['room', 'MESSAGE'], ['includedUserId', 'includedState', 'page']],
    getOnlineUsers: [['room', 'MESSAGE'], ['includedUserId', 'includedState', 'page']],
    whereNow: [['alice']],
    getUserChannels: [['alice']],
    setState: [['room', 'MESSAGE', { mood: 'good' }]],
    getState: [['alice', 'room', 'MESSAGE']],
    removeState: [['room', 'MESSAGE'], ['states']],
  },
  storage: {
    setChannelMetadata: [['room', 'MESSAGE', item], ['majorRevision', 'lockName', 'addTimeStamp', 'addUserId']],
    updateChannelMetadata: [['room', 'MESSAGE', item], ['majorRevision', 'lockName', 'addTimeStamp', 'addUserId']],
    removeChannelMetadata: [['room', 'MESSAGE'], ['data', 'majorRevision', 'lockName', 'addTimeStamp', 'addUserId']],
    getChannelMetadata: [['room', 'MESSAGE']],
    setUserMetadata: [[item], ['userId', 'majorRevision', 'addTimeStamp', 'addUserId']],
    updateUserMetadata: [[item], ['userId', 'majorRevision', 'addTimeStamp', 'addUserId']],
    removeUserMetadata: [[], ['userId', 'data', 'majorRevision']],
    getUserMetadata: [[], ['userId']],
    subscribeUserMetadata: [['alice']],
    unsubscribeUserMetadata: [['alice']],
  },
  lock: {
    setLock: [['room', 'MESSAGE', 'turn'], ['ttl']],
    removeLock: [['room', 'MESSAGE', 'turn']],
    acquireLock: [['room', 'MESSAGE', 'turn'], []],
    releaseLock: [['room', 'MESSAGE', 'turn']],
    revokeLock: [['room', 'MESSAGE', 'turn', 'alice']],
    getLock: [['room', 'MESSAGE']],
  },
  history: { getMessages: [['room', 'MESSAGE'], ['messageCount', 'start', 'end']] },
  stream: {
    renewStreamChannelToken: [['dev']],
    joinTopic: [['chat'], ['meta', 'priority', 'qos', 'syncWithMedia']],
    publishTopicMessage: [['chat', 'hello'], ['customType']],
    subscribeTopic: [['chat'], ['users']],
    unsubscribeTopic: [['chat'], ['users']],
    leaveTopic: [['chat']],
    leave: [[]],
    join: [[], ['token', 'withPresence', 'withMetadata', 'withLock', 'beQuiet']],
  },
};
const others = ['login', 'logout', 'createStreamChannel', 'getSubscribedUserList', 'perform', 'userOf', 'constructor'];

/** A client's parts by the names of `calls`. */
const partsOf = (rtm) => ({
  client: rtm,
  presence: rtm.presence,
  storage: rtm.storage,
  lock: rtm.lock,
  history: rtm.history,
  stream: rtm.createStreamChannel('stage'),
});

/** The arguments of a method: each place, and each option, with each value. */
function* variants(valid, options) {
  for (const [place] of valid.entries()) {
    for (const value of [...absent, ...junk]) yield valid.map((usual, index) => (index === place ? value : usual));
  }
  if (!options) return;
  for (const value of [...absent, ...junk]) yield [...valid, value];
  for (const option of options) for (const value of [...absent, ...junk]) yield [...valid, { [option]: value }];
}

const shown = (value) =>
  typeof value === 'object' ? JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one)) : String(value);
/** Why an outcome isn't what S-0a promises; nothing if it is. */
async function fault(call) {
  let promise;
  try {
    promise = call();
  } catch (error) {
    return `throws ${error}`;
  }
  if (!(promise instanceof Promise)) return 'returns no promise';
  let timer;
  const patience = new Promise((resolve) => {
    timer = setTimeout(() => resolve('never ends'), 20_000);
  });
  const outcome = promise.then(
    () => undefined,
    (error) => {
      if (!(error instanceof RTMBaseError) || !(error.errorCode < -10000)) return `rejects with ${error}`;
      // What the engine says of its own accord explains nothing to an app.
      return /Cannot |is not a function|not iterable/.test(error.reason) ? `says ${error.reason}` : undefined;
    },
  );
  const result = await Promise.race([outcome, patience]);
  clearTimeout(timer);
  return result;
}

async function faults(parts) {
  const found = [];
  let count = 0;
  for (const [part, methods] of Object.entries(calls)) {
    for (const [method, [valid, options]] of Object.entries(methods)) {
      for (const values of variants(valid, options)) {
        count++;
        const why = await fault(() => parts[part][method](...values));
        if (why) found.push(`${part}.${method}(${values.map(shown).join(', ')}) ${why}`);
      }
    }
  }
  return { found, count };
}

test('the calls below are all that there are', () => {
  const parts = partsOf(new RTM('dev', 'alice', { WebSocket }));
  for (const [part, methods] of Object.entries(calls)) {
    const made = Object.getOwnPropertyNames(Object.getPrototypeOf(parts[part]));
    const known = [...Object.keys(methods), ...others];
    assert.deepEqual(made.filter((name) => typeof parts[part][name] === 'function' && !known.includes(name)), []);
  }
});

test('S-0a: without a login every call with every junk rejects its promise', async (t) => {
  const { found, count } = await faults(partsOf(new RTM('dev', fresh('junk'), { WebSocket })));
  t.diagnostic(`${count} calls`);
  assert.deepEqual(found, []);
});

test('S-0a: with a login every call with every junk ends its promise', async (t) => {
  const rtm = new RTM('dev', fresh('junk'), { WebSocket });
  await rtm.login();
  t.after(() => rtm.logout());
  const { found, count } = await faults(partsOf(rtm));
  t.diagnostic(`${count} calls`);
  assert.deepEqual(found, []);
});

test('options that are empty, null or undefined are not there', async (t) => {
  const [alice, channel] = [new RTM('dev', fresh('user'), { WebSocket }), fresh('room')];
  for (const value of absent) await alice.login(value);
  t.after(() => alice.logout());
  const stage = alice.createStreamChannel(fresh('stage'));
  for (const value of absent) {
    await alice.subscribe(channel, value);
    await alice.publish(channel, 'x', value);
    await alice.publish(channel, 'x', { customType: value === absent[3] ? null : value, channelType: null, storeInHistory: undefined });
    await alice.presence.getOnlineUsers(channel, 'MESSAGE', value);
    await alice.presence.removeState(channel, 'MESSAGE', value);
    await alice.storage.setChannelMetadata(channel, 'MESSAGE', [{ key: 'k', value: 'v', revision: null }], value);
    await alice.storage.removeChannelMetadata(channel, 'MESSAGE', value);
    await alice.storage.setUserMetadata([{ key: 'k', value: 'v' }], value);
    await alice.storage.getUserMetadata(value);
    await alice.storage.removeUserMetadata(value);
    await alice.history.getMessages(channel, 'MESSAGE', value);
    await alice.renewToken('dev', value).catch(({ errorCode }) => assert.equal(errorCode, -10005, 'the app has no tokens'));
    await stage.join(value);
    await stage.joinTopic('chat', value);
    await stage.publishTopicMessage('chat', 'x', value);
    await stage.leave();
  }
});

test('no user id is this user’s own, in every call of presence and storage that takes one', async (t) => {
  const [alice, room] = [new RTM('dev', fresh('user'), { WebSocket }), fresh('room')];
  await alice.login();
  t.after(() => alice.logout());
  await alice.subscribe(room);
  await alice.presence.setState(room, 'MESSAGE', { mood: 'good' });
  for (const nobody of [undefined, null, '']) {
    for (const method of ['whereNow', 'getUserChannels']) {
      assert.deepEqual((await alice.presence[method](nobody)).channels, [{ channelName: room, channelType: 'MESSAGE' }]);
    }
    const { userId, states } = await alice.presence.getState(nobody, room, 'MESSAGE');
    assert.deepEqual([userId, states], [alice.userId, { mood: 'good' }]);
    for (const method of ['subscribeUserMetadata', 'unsubscribeUserMetadata']) {
      assert.equal((await alice.storage[method](nobody)).userId, alice.userId);
    }
    await alice.storage.setUserMetadata(item, { userId: nobody });
    assert.equal((await alice.storage.getUserMetadata({ userId: nobody })).metadata.k.value, 'v');
  }
});

test('what is empty, null or undefined is not there in the configuration either', () => {
  globalThis.WebSocket ??= WebSocket;
  for (const config of absent) assert.equal(new RTM('dev', 'alice', config).userId, 'alice');
  const more = ['encryptionMode', 'cipherKey', 'salt', 'presenceTimeout', 'heartbeatInterval', 'useStringUserId', 'token'];
  for (const name of [...more, 'echo', 'privateConfig', 'server', 'logLevel', 'logUpload', 'cloudProxy']) {
    for (const value of [null, undefined, '']) assert.ok(new RTM('dev', 'alice', { WebSocket, [name]: value }));
  }
  assert.equal(new RTM('dev', 7, { WebSocket, useStringUserId: false }).userId, '7');
  for (const config of junk.filter((value) => typeof value !== 'object')) {
    assert.throws(() => new RTM('dev', 'alice', config), { name: 'RTMBaseError', operation: 'constructor' });
  }
  for (const encryptionMode of [5, 'toString', 'AES']) {
    assert.throws(() => new RTM('dev', 'alice', { WebSocket, encryptionMode }), { errorCode: -10020 });
  }
});

test('S-0a: a login that is given junk is refused', async () => {
  for (const value of junk.filter((value) => typeof value !== 'object' || Array.isArray(value))) {
    const why = await fault(() => new RTM('dev', fresh('junk'), { WebSocket }).login(value));
    assert.equal(why, undefined);
  }
  for (const token of [5, true, {}, [], () => {}, '\0']) {
    await assert.rejects(new RTM('dev', fresh('junk'), { WebSocket }).login({ token }), { operation: 'login' });
  }
});

test('S-0a: listeners that are none are refused at once, as the vendor’s client refuses them', () => {
  const rtm = new RTM('dev', 'alice', { WebSocket });
  for (const method of ['addEventListener', 'on', 'once', 'addListener', 'prependListener', 'prependOnceListener']) {
    for (const value of [undefined, null, 5, {}]) assert.throws(() => rtm[method]('message', value), { errorCode: -10004 });
  }
  for (const value of [...absent, ...junk]) assert.equal(rtm.removeEventListener('message', value), rtm);
});

test('S-0a: the client of its own takes null for options, too, and no call throws', async (t) => {
  const client = await loggedIn(t, server.url);
  const { presence, storage, locks, history } = client;
  const [room, stage] = [fresh('room'), new StreamChannel(client, fresh('stage'))];
  const all = [
    ['login', (value) => client.login(value)],
    ['subscribe', (value) => client.subscribe(room, value)],
    ['publish', (value) => client.publish(room, 'x', value)],
    ['events', async (value) => client.events(value).return()],
    ['messages', async (value) => client.messages(room, value).return()],
    ['whoNow', (value) => presence.whoNow(room, value)],
    ['onlineUsers', (value) => presence.onlineUsers(room, value).next()],
    ['removeState', (value) => presence.removeState(room, value ? [] : value)],
    ['set', (value) => storage.set(room, { a: 'b' }, value)],
    ['update', (value) => storage.update(room, { a: 'b' }, value)],
    ['edit', (value) => storage.edit(room, () => ({ a: 'b' }), value)],
    ['remove', (value) => storage.remove(room, ['a'], value)],
    ['setLock', (value) => locks.set(room, 'turn', value)],
    ['acquire', (value) => locks.acquire(room, 'turn', value)],
    ['page', (value) => history.page(room, value)],
    ['historyMessages', (value) => history.messages(room, value).next()],
    ['join', (value) => stage.join(value)],
    ['joinTopic', (value) => stage.joinTopic('chat', value)],
    ['publishTopic', (value) => stage.publish('chat', 'x', value)],
    ['subscribeTopic', (value) => stage.subscribe('chat', value)],
    ['unsubscribeTopic', (value) => stage.unsubscribe('chat', value)],
    ['leave', () => stage.leave()],
  ];
  for (const value of [null, undefined, {}]) {
    for (const [name, call] of all) {
      if (name === 'setLock') await locks.remove(room, 'turn').catch(() => {});
      try {
        await call(value);
      } catch (error) {
        // Nobody publishes the topic.
        assert.ok(error instanceof RTMError, `${name}(${shown(value)}) ends with ${error}`);
        assert.equal(name, 'unsubscribeTopic', `${name}(${shown(value)}) ends with ${error}`);
      }
    }
  }
});

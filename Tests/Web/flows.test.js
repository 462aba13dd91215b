// Kinds of apps that are written for agora-rtm 2.x, as their authors write them: each with two or three users, and with what is
// sloppy in such apps. Only the import and the server differ.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import AgoraRTM, { RTM } from '../../Clients/web/src/agora-rtm.js';
import { fresh } from './support/clients.js';
import { output, startStandalone, startWire, temporaryFolder, WebSocket } from './support/programs.js';

globalThis.WebSocket ??= WebSocket;
const server = await startStandalone({ 'presence-debounce': '0s' });
AgoraRTM.setServers(server.url);
AgoraRTM.setArea({ areaCodes: [AgoraRTM.constantsType.AreaCode.GLOBAL], excludedArea: null });
AgoraRTM.setParameter('LOG', false);
after(() => server.kill());

/** Waits until a check holds; the reason of the failure says what there was. */
async function eventually(check, what) {
  const end = Date.now() + 10_000;
  while (!check()) {
    if (Date.now() > end) throw new Error(`not so: ${check} ${what ? JSON.stringify(what()) : ''}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Users who are logged in, and log out at the end of the test. */
async function users(t, names, config) {
  const clients = {};
  for (const name of names) {
    const client = (clients[name] = new AgoraRTM.RTM('dev', fresh(name), config));
    await client.login({ token: null });
    t.after(() => client.logout().catch(() => {}));
  }
  return clients;
}

test('chat: JSON and bytes, listeners before the login, a listener that throws, history of the room', async (t) => {
  const room = fresh('chat');
  const { alice, bob } = await users(t, ['alice', 'bob']);
  const shown = [];
  const onMessage = ({ publisher, message, customType, channelType, channelName }) => {
    const text = typeof message === 'string' ? message : new TextDecoder().decode(message);
    shown.push([publisher, channelType, channelName, customType, JSON.parse(text).text]);
  };
  const report = globalThis.reportError;
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  t.after(() => (globalThis.reportError = report));
  bob.addEventListener('message', () => {
    throw new Error('an app’s mistake');
  });
  bob.addEventListener('message', onMessage);
  // What its own user says is shown when it comes back, too, as in a chat that keeps no list of its own.
  const own = [];
  alice.addEventListener('message', ({ publisher, channelType, customType }) => own.push([publisher, channelType, customType]));
  await Promise.all([alice.subscribe(room), bob.subscribe(room, { withMessage: true, withPresence: true, withMetadata: undefined })]);
  await alice.publish(room, JSON.stringify({ text: 'hi' }));
  await alice.publish(room, new TextEncoder().encode(JSON.stringify({ text: 'bytes' })), { customType: 'json', storeInHistory: true });
  await alice.publish(bob.userId, JSON.stringify({ text: 'private' }), { channelType: 'USER' });
  await eventually(() => shown.length === 3, () => shown);
  assert.deepEqual(shown, [
    [alice.userId, 'MESSAGE', room, '', 'hi'],
    [alice.userId, 'MESSAGE', room, 'json', 'bytes'],
    [alice.userId, 'USER', bob.userId, '', 'private'],
  ]);
  assert.deepEqual(own, [[alice.userId, 'MESSAGE', ''], [alice.userId, 'MESSAGE', 'json']]);
  assert.deepEqual(reported, ['an app’s mistake', 'an app’s mistake', 'an app’s mistake']);
  bob.removeEventListener('message', onMessage);
  const { messageList, newStart } = await bob.history.getMessages(room, 'MESSAGE');
  assert.deepEqual([messageList.length, messageList[0].messageType, newStart], [1, 'BINARY', 0]);
  await assert.rejects(alice.publish(room, { text: 'an object' }), { operation: 'publish', errorCode: -11031 });
});

test('what comes too early: calls before the login, a login twice, one after the other and at once', async (t) => {
  const room = fresh('early');
  const alice = new RTM('dev', fresh('alice'));
  for (const call of [
    () => alice.subscribe(room),
    () => alice.publish(room, 'x'),
    () => alice.presence.getOnlineUsers(room, 'MESSAGE'),
    () => alice.storage.getChannelMetadata(room, 'MESSAGE'),
    () => alice.logout(),
    () => alice.createStreamChannel(room).join(),
  ]) {
    await assert.rejects(call(), ({ errorCode, code, reason, operation, error }) => {
      assert.deepEqual([errorCode, code, error], [-10002, -10002, true]);
      return typeof reason === 'string' && typeof operation === 'string';
    });
  }
  await alice.login({ token: '' });
  t.after(() => alice.logout().catch(() => {}));
  await alice.login();
  const [first, second] = await Promise.allSettled([alice.login(), alice.login({ token: undefined })]);
  assert.deepEqual([first.status, second.status], ['fulfilled', 'fulfilled']);
  // A component that is mounted twice.
  const outcomes = await Promise.allSettled([alice.subscribe(room), alice.subscribe(room)]);
  assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
  for (const { reason } of outcomes) assert.ok(!reason || reason.errorCode === -10017);
  await alice.subscribe(room);
  await alice.unsubscribe(room);
  await assert.rejects(alice.unsubscribe(room), { errorCode: -11002 });
  await alice.logout();
  await assert.rejects(alice.logout(), { errorCode: -10002 });
  await alice.login();
});

test('channel types by the numbers of ChannelTypeEnum, which exist at run time, and in the place of options', async (t) => {
  const room = fresh('numbers');
  const { MESSAGE, USER } = AgoraRTM.constantsType.ChannelTypeEnum;
  const { ann, bea } = await users(t, ['ann', 'bea']);
  const got = [];
  bea.addEventListener('message', ({ channelType, message }) => got.push([channelType, message]));
  await bea.subscribe(room, MESSAGE);
  await ann.publish(room, 'to all', MESSAGE);
  await ann.publish(bea.userId, 'to one', { channelType: USER });
  await ann.publish(bea.userId, 'to one again', 'USER');
  await eventually(() => got.length === 3, () => got);
  assert.deepEqual(got, [['MESSAGE', 'to all'], ['USER', 'to one'], ['USER', 'to one again']]);
  assert.equal((await ann.presence.getOnlineUsers(room, MESSAGE)).totalOccupancy, 1);
  await ann.presence.setState(room, MESSAGE, { a: 'b' });
  assert.equal((await ann.storage.setChannelMetadata(room, MESSAGE, [{ key: 'k', value: 'v' }])).channelType, 'MESSAGE');
  await assert.rejects(ann.storage.getChannelMetadata(room, USER), { errorCode: -10019 });
  assert.equal((await ann.lock.setLock(room, MESSAGE, 'turn')).channelType, 'MESSAGE');
  assert.equal((await ann.lock.getLock(room, MESSAGE)).channelType, 'MESSAGE');
  assert.deepEqual((await ann.history.getMessages(room, MESSAGE)).messageList, []);
  for (const wrong of [0, 4, '1', 'message']) await assert.rejects(ann.presence.whoNow(room, wrong), { errorCode: -10019 });
  await assert.rejects(ann.publish(room, 'x', { channelType: 4 }), { operation: 'publish', errorCode: -10019 });
  await assert.rejects(ann.subscribe(room, 4), { operation: 'subscribe', errorCode: -10014 });
});

test('poll: a host asks by a message, votes are counted by messages to the host, the result is metadata', async (t) => {
  const room = fresh('poll');
  const { host, ann, bea } = await users(t, ['host', 'ann', 'bea']);
  const votes = new Map();
  host.addEventListener('message', ({ channelType, publisher, message }) => {
    if (channelType === 'USER') votes.set(publisher, message);
  });
  // The host shows its own question.
  const questions = [];
  await host.subscribe(room);
  host.addEventListener('message', ({ customType, message }) => customType === 'question' && questions.push(message));
  const results = [];
  for (const voter of [ann, bea]) {
    await voter.subscribe(room, { withMetadata: true });
    voter.addEventListener('message', ({ customType }) => {
      if (customType === 'question') voter.publish(host.userId, voter === ann ? 'yes' : 'no', { channelType: 'USER' });
    });
    voter.addEventListener('storage', ({ eventType, data }) => {
      if (eventType === 'UPDATE') results.push(data.metadata.result.value);
    });
  }
  await host.publish(room, 'Shall we?', { customType: 'question' });
  await eventually(() => votes.size === 2, () => [...votes]);
  assert.deepEqual(questions, ['Shall we?']);
  await host.storage.setChannelMetadata(room, 'MESSAGE', [{ key: 'result', value: JSON.stringify([...votes.values()].sort()) }]);
  await eventually(() => results.length === 2);
  assert.deepEqual(results, ['["no","yes"]', '["no","yes"]']);
});

test('live quiz: a lock for who may answer, its end when the owner hangs up, scores by compare-and-set', async (t) => {
  const room = fresh('quiz');
  const { host, ann, bea } = await users(t, ['host', 'ann', 'bea']);
  const locks = [];
  await host.subscribe(room, { withLock: true });
  host.addEventListener('lock', ({ eventType, owner }) => locks.push([eventType, owner]));
  await host.lock.setLock(room, 'MESSAGE', 'buzzer', { ttl: null });
  const [first, second] = await Promise.allSettled(
    [ann, bea].map((player) => player.lock.acquireLock(room, 'MESSAGE', 'buzzer', null)),
  );
  assert.deepEqual([first.status, second.status].sort(), ['fulfilled', 'rejected']);
  const [owner, other] = first.status === 'fulfilled' ? [ann, bea] : [bea, ann];
  await eventually(() => locks.some(([type, who]) => type === 'ACQUIRED' && who === owner.userId), () => locks);
  const waiting = other.lock.acquireLock(room, 'MESSAGE', 'buzzer', { retry: true });
  await owner.lock.releaseLock(room, 'MESSAGE', 'buzzer');
  assert.equal((await waiting).lockName, 'buzzer');
  const key = { key: ann.userId, value: '1', revision: 0 };
  await host.storage.setChannelMetadata(room, 'MESSAGE', [key], { majorRevision: 0 });
  await assert.rejects(host.storage.setChannelMetadata(room, 'MESSAGE', [key]), { errorCode: -12014 });
  const { metadata } = await host.storage.getChannelMetadata(room, 'MESSAGE');
  const next = [{ key: ann.userId, value: '2', revision: metadata[ann.userId].revision }];
  await host.storage.updateChannelMetadata(room, 'MESSAGE', next, {});
  await host.storage.removeChannelMetadata(room, 'MESSAGE', null);
  await host.storage.removeChannelMetadata(room, 'MESSAGE');
  await host.lock.removeLock(room, 'MESSAGE', 'buzzer');
});

test('cursors: many small messages in a topic of a stream channel, and the last one counts', async (t) => {
  const board = fresh('board');
  const { ann, bea } = await users(t, ['ann', 'bea']);
  const cursors = new Map();
  bea.addEventListener('message', ({ channelType, topicName, publisher, message }) => {
    if (channelType === 'STREAM' && topicName === 'cursors') cursors.set(publisher, JSON.parse(message));
  });
  const [mine, theirs] = [ann, bea].map((user) => user.createStreamChannel(board));
  await Promise.all([mine.join({ token: '', withPresence: true }), theirs.join({ token: null })]);
  await Promise.all([mine.joinTopic('cursors', { meta: { color: 'red' } }), theirs.joinTopic('cursors')]);
  await theirs.subscribeTopic('cursors', { users: [ann.userId] });
  await Promise.all(Array.from({ length: 50 }, (_, x) => mine.publishTopicMessage('cursors', JSON.stringify({ x }))));
  await eventually(() => cursors.get(ann.userId)?.x === 49, () => [...cursors]);
  assert.deepEqual(theirs.getSubscribedUserList('cursors').subscribed, [ann.userId]);
  await theirs.unsubscribeTopic('cursors');
  await Promise.all([mine.leaveTopic('cursors'), mine.leave(), theirs.leave()]);
  await mine.join();
  await mine.leave();
});

test('whiteboard: a snapshot for who comes late, shapes as metadata, undo removes one', async (t) => {
  const board = fresh('board');
  const { ann, bea } = await users(t, ['ann', 'bea']);
  await ann.storage.setChannelMetadata(board, 'MESSAGE', [
    { key: 'shape-1', value: JSON.stringify({ kind: 'line' }) },
    { key: 'shape-2', value: JSON.stringify({ kind: 'dot' }) },
  ]);
  const boards = [];
  bea.addEventListener('storage', ({ eventType, storageType, channelName, data }) => {
    if (storageType === 'CHANNEL' && channelName === board) boards.push([eventType, Object.keys(data.metadata).sort()]);
  });
  await bea.subscribe(board, { withMessage: false, withPresence: false, withMetadata: true });
  await eventually(() => boards.length === 1);
  await ann.storage.removeChannelMetadata(board, 'MESSAGE', { data: [{ key: 'shape-2' }] });
  await ann.storage.removeChannelMetadata(board, 'MESSAGE');
  await eventually(() => boards.length === 3, () => boards);
  assert.deepEqual(boards, [
    ['SNAPSHOT', ['shape-1', 'shape-2']],
    ['UPDATE', ['shape-1']],
    ['UPDATE', []],
  ]);
});

test('presence list: who is there with which name, who comes, changes and hangs up, at once', async (t) => {
  const room = fresh('list');
  const { ann, bea, cid } = await users(t, ['ann', 'bea', 'cid']);
  const list = new Map();
  const came = [];
  ann.addEventListener('presence', ({ eventType, publisher, stateChanged, snapshot, interval }) => {
    came.push([eventType, publisher]);
    if (eventType === 'SNAPSHOT') for (const { userId, states } of snapshot) list.set(userId, states);
    if (eventType === 'REMOTE_JOIN') list.set(publisher, {});
    if (eventType === 'REMOTE_STATE_CHANGED') list.set(publisher, { ...list.get(publisher), ...stateChanged });
    if (eventType === 'REMOTE_LEAVE' || eventType === 'REMOTE_TIMEOUT') list.delete(publisher);
    if (eventType === 'INTERVAL') assert.ok(interval.join.users);
  });
  await ann.presence.setState(room, 'MESSAGE', { name: 'Ann' });
  await ann.subscribe(room, { withPresence: true });
  await bea.subscribe(room);
  await bea.presence.setState(room, 'MESSAGE', { name: 'Bea' });
  await cid.subscribe(room, { withPresence: true, beQuiet: true });
  await eventually(() => list.get(bea.userId)?.name === 'Bea', () => came);
  assert.ok(list.has(ann.userId) && !list.has(cid.userId));
  const { totalOccupancy, occupants } = await cid.presence.getOnlineUsers(room, 'MESSAGE', { includedUserId: true, includedState: true });
  const names = occupants.map(({ states }) => states.name).sort();
  assert.deepEqual([totalOccupancy, names], [2, ['Ann', 'Bea']]);
  const { channels, totalChannel } = await cid.presence.getUserChannels(bea.userId);
  assert.deepEqual([channels, totalChannel], [[{ channelName: room, channelType: 'MESSAGE' }], 1]);
  await bea.presence.removeState(room, 'MESSAGE', { states: ['name'] });
  await bea.logout();
  await eventually(() => !list.has(bea.userId), () => came);
  assert.ok(came.some(([type, who]) => type === 'REMOTE_LEAVE' && who === bea.userId));
});

test('seats: states, metadata and metas whose values are numbers, objects, lists or nothing are texts for others', async (t) => {
  const room = fresh('seats');
  const { ann, bea } = await users(t, ['ann', 'bea']);
  const data = { text: 'x', seat: 7, isMuted: false, place: { row: 1, near: ['cid'] }, since: new Date(0), avatar: undefined, team: null };
  const place = '{"row":1,"near":["cid"]}';
  const texts = { text: 'x', seat: '7', isMuted: 'false', place, since: '"1970-01-01T00:00:00.000Z"', avatar: '', team: '' };
  const changes = [];
  bea.addEventListener('presence', ({ eventType, stateChanged }) => eventType === 'REMOTE_STATE_CHANGED' && changes.push(stateChanged));
  await bea.subscribe(room, { withMetadata: true });
  const written = [];
  bea.addEventListener('storage', ({ eventType, data: { metadata } }) => eventType === 'UPDATE' && written.push(metadata));
  // Some before the subscription, and some after it.
  await ann.presence.setState(room, 'MESSAGE', data);
  await ann.subscribe(room);
  await eventually(() => changes.length === 1, () => changes);
  assert.deepEqual(changes[0], texts);
  await ann.presence.setState(room, 'MESSAGE', { seat: 8 });
  assert.deepEqual((await bea.presence.getState(ann.userId, room, 'MESSAGE')).states, { ...texts, seat: '8' });
  await ann.storage.setChannelMetadata(room, 'MESSAGE', Object.entries(data).map(([key, value]) => ({ key, value })));
  await eventually(() => written.length === 1, () => written);
  const values = Object.entries(written[0]).map(([key, { value }]) => [key, value]);
  assert.deepEqual(Object.fromEntries(values), texts);
  const endless = {};
  endless.endless = endless;
  await assert.rejects(ann.presence.setState(room, 'MESSAGE', { endless }), { operation: 'setState', errorCode: -10014 });
  const items = [{ key: 'endless', value: endless }];
  await assert.rejects(ann.storage.setChannelMetadata(room, 'MESSAGE', items), { operation: 'setChannelMetadata', errorCode: -12010 });
  const stage = ann.createStreamChannel(room);
  await stage.join();
  await assert.rejects(stage.joinTopic('chat', { meta: endless }), { operation: 'joinTopic', errorCode: -11018 });
  await stage.joinTopic('chat', { meta: data.place });
});

test('call invitation: by user ids that are numbers, answered, refused, and to somebody who is not there', async (t) => {
  const [caller, callee] = [new RTM('dev', 100_001), new RTM('dev', '100002', { useStringUserId: false })];
  for (const user of [caller, callee]) {
    await user.login(undefined);
    t.after(() => user.logout());
  }
  const rings = [];
  callee.on('message', async ({ publisher, message }) => {
    const { type, id } = JSON.parse(message);
    rings.push(type);
    await callee.publish(publisher, JSON.stringify({ type: id === 1 ? 'accept' : 'refuse', id }), { channelType: 'USER' });
  });
  const answers = [];
  caller.on('message', ({ message, publisher }) => answers.push([publisher, JSON.parse(message).type]));
  for (const id of [1, 2]) await caller.publish(100_002, JSON.stringify({ type: 'call', id }), { channelType: 'USER' });
  await eventually(() => answers.length === 2);
  assert.deepEqual([rings, answers], [['call', 'call'], [['100002', 'accept'], ['100002', 'refuse']]]);
  const missed = caller.publish(fresh('nobody'), 'hello?', { channelType: 'USER' });
  await assert.rejects(missed, (error) => error instanceof AgoraRTM.RTMBaseError && error.errorCode === -11033);
});

test('gifts: a burst of messages in one turn arrives once and in order, above the rate of the server, too', async (t) => {
  const room = fresh('gifts');
  const { ann, bea, cid } = await users(t, ['ann', 'bea', 'cid']);
  const got = { ann: [], bea: [], cid: [] };
  ann.addEventListener('message', ({ message }) => got.ann.push(message));
  bea.addEventListener('message', ({ message }) => got.bea.push(message));
  cid.addEventListener('message', ({ message }) => got.cid.push(message));
  await Promise.all([ann.subscribe(room), bea.subscribe(room), cid.subscribe(room)]);
  const sent = Array.from({ length: 120 }, (_, index) => `gift ${index}`);
  // Nobody awaits them.
  const all = Promise.all(sent.map((gift) => ann.publish(room, gift, { customType: 'gift' })));
  await eventually(() => Object.values(got).every(({ length }) => length === 120));
  assert.deepEqual(got, { ann: sent, bea: sent, cid: sent });
  assert.ok((await all).every(({ channelName, timestamp }) => channelName === room && timestamp > 1e12));
});

test('reconnect: the states that an app shows, messages of the time between, and calls meanwhile', async (t) => {
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const room = fresh('back');
  const { ann } = await users(t, ['ann']);
  const bea = new RTM('dev', fresh('bea'), { privateConfig: { accessPointHosts: [wire.url] }, presenceTimeout: 30 });
  const [states, statuses, got] = [[], [], []];
  bea.addEventListener('linkState', ({ currentState, reasonCode }) => states.push([currentState, reasonCode]));
  bea.addEventListener('status', ({ state }) => statuses.push(state));
  bea.addEventListener('message', ({ message }) => got.push(message));
  await bea.login();
  t.after(() => bea.logout());
  await bea.subscribe(room);
  wire.isDown = true;
  wire.cut();
  await eventually(() => states.at(-1)[0] === 'DISCONNECTED');
  await ann.publish(room, 'while she was away');
  await assert.rejects(bea.publish(room, 'x'), { errorCode: -11027 });
  wire.isDown = false;
  await eventually(() => states.at(-1)[0] === 'CONNECTED' && got.length === 1, () => states);
  assert.deepEqual(states.at(-1), ['CONNECTED', 'RECONNECT_SUCCESS']);
  assert.deepEqual([statuses.includes('RECONNECTING'), statuses.at(-1), got], [true, 'CONNECTED', ['while she was away']]);
});

test('M-43: two users see one order with their own messages, over a cut, and `echo: false` ends that', async (t) => {
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const room = fresh('order');
  const { ann } = await users(t, ['ann'], { server: wire.url });
  const { bea } = await users(t, ['bea']);
  const { cid } = await users(t, ['cid'], { echo: false });
  const everybody = [ann, bea, cid];
  const shown = new Map(everybody.map((user) => [user, []]));
  for (const user of everybody) {
    user.addEventListener('message', ({ message }) => shown.get(user).push(message));
    await user.subscribe(room);
  }
  const links = [];
  ann.addEventListener('linkState', ({ currentState }) => links.push(currentState));
  const calls = [];
  for (let number = 0; number < 30; number++) {
    for (const user of everybody) calls.push(user.publish(room, `${everybody.indexOf(user)} ${number}`).then(() => true, () => false));
    if (number === 15) {
      // These are repeated, and nobody knows which of them were there already.
      wire.cut();
      await eventually(() => links.at(-1) === 'CONNECTED' && links.length > 1, () => links);
    }
  }
  assert.ok((await Promise.all(calls)).filter(Boolean).length > 60);
  await bea.publish(room, 'end');
  await eventually(() => [...shown.values()].every((messages) => messages.at(-1) === 'end'), () => [...shown.values()]);
  const order = shown.get(bea);
  assert.equal(new Set(order).size, order.length);
  assert.ok(order.includes('0 29') && order.includes('1 29') && order.includes('2 29'));
  assert.deepEqual(shown.get(ann), order);
  assert.deepEqual(shown.get(cid), order.filter((message) => !message.startsWith('2 ')));
});

test('listeners as a framework mounts them: added twice, removed, all at once, and again after a logout', async (t) => {
  const room = fresh('mounts');
  const { ann, bea } = await users(t, ['ann', 'bea']);
  let count = 0;
  const listener = () => count++;
  ann.addEventListener('message', listener);
  ann.removeEventListener('message', listener);
  ann.addEventListener('message', listener);
  await ann.subscribe(room);
  await bea.publish(room, '1');
  await eventually(() => count === 1);
  assert.equal(ann.listenerCount('message'), 1);
  ann.removeAllListeners();
  assert.deepEqual(ann.eventNames(), []);
  await ann.unsubscribe(room);
  await ann.logout();
  // The same object logs in again, as after a change of the page.
  ann.on('message', listener);
  await ann.login({ token: null });
  await ann.subscribe(room);
  await bea.publish(room, '2');
  await eventually(() => count === 2);
  assert.equal(typeof AgoraRTM.VERSION + typeof AgoraRTM.BUILD + typeof AgoraRTM.processId, 'stringstringstring');
});

test('listeners by one object, as the earlier documents have them: of all events that it names, and removed by it', async (t) => {
  const room = fresh('object');
  const { ann, bea } = await users(t, ['ann', 'bea']);
  const seen = [];
  const listeners = {
    message: ({ message }) => seen.push(message),
    presence: ({ eventType, snapshot }) => seen.push([eventType, snapshot?.length]),
    status: ({ state }) => seen.push(state),
    storage: undefined,
    lock: null,
  };
  assert.equal(bea.addEventListener(listeners), bea);
  assert.deepEqual(bea.eventNames(), ['message', 'presence', 'status']);
  await bea.subscribe(room);
  await eventually(() => seen.length === 1);
  await ann.publish(room, 'hi');
  await eventually(() => seen.length === 2);
  assert.deepEqual(seen, [['SNAPSHOT', 1], 'hi']);
  assert.equal(bea.removeEventListener(listeners), bea);
  assert.deepEqual(bea.eventNames(), []);
  assert.throws(() => bea.addEventListener({ message: 'no function' }), { operation: 'addEventListener', errorCode: -10004 });
  for (const none of [undefined, null]) assert.throws(() => bea.addEventListener(none), { operation: 'addEventListener', errorCode: -10004 });
});

// What two users call of each kind: what begins it, what ends it, and whether it is so in the end.
const pairs = {
  'a channel': {
    begin: (ann, name) => ann.subscribe(name),
    end: (ann, name) => ann.unsubscribe(name),
    is: async (ann, bea, name) => (await bea.presence.whoNow(name, 'MESSAGE')).totalOccupancy === 1,
  },
  'a followed user': {
    begin: (ann, name) => ann.storage.subscribeUserMetadata(name),
    end: (ann, name) => ann.storage.unsubscribeUserMetadata(name),
    is: (ann, bea, name) => ann.storage.unsubscribeUserMetadata(name).then(() => true, () => false),
  },
  'a stream channel': {
    begin: (ann, name) => ann.createStreamChannel(name).join(),
    end: (ann, name) => ann.createStreamChannel(name).leave(),
    is: async (ann, bea, name) => (await bea.presence.whoNow(name, 'STREAM')).totalOccupancy === 1,
  },
  'a topic': {
    prepare: (ann, bea, name) => ann.createStreamChannel(name).join(),
    begin: (ann, name) => ann.createStreamChannel(name).joinTopic('chat'),
    end: (ann, name) => ann.createStreamChannel(name).leaveTopic('chat'),
    is: (ann, bea, name) => ann.createStreamChannel(name).publishTopicMessage('chat', 'x').then(() => true, () => false),
  },
  'a lock': {
    prepare: (ann, bea, name) => bea.lock.setLock(name, 'MESSAGE', 'turn'),
    begin: (ann, name) => ann.lock.acquireLock(name, 'MESSAGE', 'turn', { retry: true }),
    end: (ann, name) => ann.lock.releaseLock(name, 'MESSAGE', 'turn'),
    is: async (ann, bea, name) => (await bea.lock.getLock(name, 'MESSAGE')).lockDetails[0].owner === ann.userId,
  },
  'a state': {
    prepare: (ann, bea, name) => ann.subscribe(name),
    begin: (ann, name) => ann.presence.setState(name, 'MESSAGE', { mood: 'good' }),
    end: (ann, name) => ann.presence.removeState(name, 'MESSAGE', { states: ['mood'] }),
    is: async (ann, bea, name) => (await bea.presence.getState(ann.userId, name, 'MESSAGE')).states.mood === 'good',
  },
  'a state before its channel': {
    begin: (ann, name) => ann.presence.setState(name, 'MESSAGE', { mood: 'good' }),
    end: (ann, name) => ann.presence.removeState(name, 'MESSAGE'),
    is: async (ann, bea, name) => (await ann.presence.getState(ann.userId, name, 'MESSAGE').catch(() => ({ states: {} }))).states.mood === 'good',
  },
  'an item': {
    begin: (ann, name) => ann.storage.setChannelMetadata(name, 'MESSAGE', [{ key: 'k', value: 'v' }]),
    end: (ann, name) => ann.storage.removeChannelMetadata(name, 'MESSAGE', { data: [{ key: 'k' }] }),
    is: async (ann, bea, name) => 'k' in (await bea.storage.getChannelMetadata(name, 'MESSAGE')).metadata,
  },
};

for (const encrypted of [false, true]) {
  const how = encrypted ? 'encrypted' : 'in the clear';
  test(`M-8: mounted, unmounted and mounted again without a wait, ${how}: the last call counts`, async (t) => {
    const own = await startStandalone({ 'rates-unlimited': true, 'presence-debounce': '0s' });
    t.after(() => own.kill());
    const keys = { encryptionMode: 'AES_256_GCM', cipherKey: 'a long random text', salt: new Uint8Array(32) };
    const { ann, bea } = await users(t, ['ann', 'bea'], { server: own.url, ...(encrypted && keys) });
    for (const [what, { prepare, begin, end, is }] of Object.entries(pairs)) {
      for (const there of [false, true]) {
        for (let length = 1; length < 6; length++) {
          const name = fresh('pair');
          await prepare?.(ann, bea, name);
          if (there) await begin(ann, name);
          const calls = Array.from({ length }, (_, index) => (there !== (index % 2 === 1) ? end : begin)(ann, name));
          const { reason, status } = (await Promise.allSettled(calls)).at(-1);
          const shown = `${what}, ${there ? 'there' : 'not there'} at first, ${length} calls`;
          assert.equal(status, 'fulfilled', `${shown}: ${reason?.message}`);
          assert.equal(await is(ann, bea, name), there !== (length % 2 === 1), shown);
        }
      }
    }
  });
}

test('a second device: the first one is told, and whoever logs in again takes the session back', async (t) => {
  const id = fresh('ann');
  const [phone, tablet] = [new RTM('dev', id), new RTM('dev', id)];
  const ended = [];
  for (const [name, device] of [['phone', phone], ['tablet', tablet]]) {
    device.addEventListener('linkState', ({ currentState, reasonCode }) => currentState === 'FAILED' && ended.push([name, reasonCode]));
    t.after(() => device.logout().catch(() => {}));
  }
  await phone.login();
  await tablet.login();
  await eventually(() => ended.length === 1);
  await assert.rejects(phone.publish('room', 'x'), { errorCode: -10002 });
  await phone.login();
  await eventually(() => ended.length === 2);
  assert.deepEqual(ended, [['phone', 'SAME_UID_LOGIN'], ['tablet', 'SAME_UID_LOGIN']]);
  await phone.publish('room', 'x');
});

/** A system with an app that needs tokens, and what makes them. */
async function startWithTokens(t) {
  const [id, certificate] = ['c0ffee'.padEnd(32, '0'), 'ace'.padEnd(32, '0')];
  const config = join(temporaryFolder(), 'config.yaml');
  writeFileSync(config, `apps: [{id: ${id}, certificate: ${certificate}}]\n`);
  const own = await startStandalone({ config });
  t.after(() => own.kill());
  const token = (user, ...options) =>
    output('rtm', 'token', 'create', '--app-id', id, '--user', user, '--certificate', certificate, ...options).trim();
  return { id, url: own.url, token };
}

test('token renewal: the warning in both of its forms, a renewal, one that is refused, and an end', async (t) => {
  const { id, url, token } = await startWithTokens(t);
  const user = fresh('ann');
  const client = new RTM(id, user, { server: url });
  const [warnings, links] = [[], []];
  client.addEventListener('tokenPrivilegeWillExpire', (channelName) => warnings.push(channelName));
  client.addEventListener('token', ({ eventType, affectedResources, reason, timestamp }) => {
    assert.ok(timestamp > 1e12 && reason.includes('expires'));
    warnings.push([eventType, affectedResources.streamChannels]);
    client.renewToken(token(user, '--expire', '60s')).then(() => warnings.push('renewed'));
  });
  client.addEventListener('linkState', ({ currentState, reasonCode }) => links.push([currentState, reasonCode]));
  await assert.rejects(client.login(null), { operation: 'login', errorCode: -10005 });
  // It has less than the time of a warning to live.
  await client.login({ token: token(user, '--expire', '20s') });
  t.after(() => client.logout().catch(() => {}));
  await eventually(() => warnings.length >= 3, () => warnings);
  assert.deepEqual(warnings.slice(0, 3), ['', ['WILL_EXPIRE', []], 'renewed']);
  await assert.rejects(client.renewToken('no token'), { operation: 'renewToken', errorCode: -10005 });
  await assert.rejects(client.renewToken(''), { operation: 'renewToken' });
  await client.subscribe('room');
  client.removeAllListeners('token');
  await client.logout();
  await client.login({ token: token(user, '--expire', '2s') });
  await eventually(() => links.at(-1)[0] === 'FAILED', () => links);
  assert.equal(links.at(-1)[1], 'TOKEN_EXPIRED');
  // What an app does then.
  await client.login({ token: token(user, '--expire', '1h') });
});

test('A-16: a token that allows less, presented at a return, ends subscriptions and says which', async (t) => {
  const { id, url, token } = await startWithTokens(t);
  const wire = await startWire(url);
  t.after(() => wire.stop());
  const user = fresh('ann');
  const client = new RTM(id, user, { server: wire.url });
  const seen = [];
  client.addEventListener('token', ({ eventType, affectedResources }) => seen.push([eventType, affectedResources.messageChannels]));
  client.addEventListener('linkState', ({ currentState, unrestoredChannels }) => seen.push([currentState, unrestoredChannels]));
  await client.login({ token: token(user) });
  t.after(() => client.logout());
  for (const room of ['open', 'closed']) await client.subscribe(room);
  wire.isDown = true;
  wire.cut();
  await eventually(() => seen.at(-1)[0] === 'DISCONNECTED', () => seen);
  wire.isDown = false;
  await client.login({ token: token(user, '--read-channel', 'open') });
  await eventually(() => seen.at(-1)[0] === 'READ_PERMISSION_REVOKED', () => seen);
  assert.deepEqual(seen.slice(-2), [
    ['CONNECTED', ['closed']],
    ['READ_PERMISSION_REVOKED', ['closed']],
  ]);
});

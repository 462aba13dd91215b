// The client against a real server.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { RTMClient } from '../../Clients/web/src/index.js';
import { Storage } from '../../Clients/web/src/storage.js';
import { fresh, loggedIn, makeClient } from './support/clients.js';
import { startStandalone, WebSocket } from './support/programs.js';

const server = await startStandalone();
after(() => server.kill());

test('a message arrives with all that belongs to it, and not at its sender', async (t) => {
  const channel = fresh('lobby');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  const messages = bob.messages(channel);
  assert.equal((await bob.subscribe(channel)).channelName, channel);
  await alice.subscribe(channel);
  const { offset, timestamp } = await alice.publish(channel, 'häy 🎈', { customType: 'greeting' });
  await alice.publish(channel, Uint8Array.of(0, 255, 7));
  const { value: first } = await messages.next();
  assert.deepEqual(first, {
    type: 'message',
    channelType: 'message',
    channelName: channel,
    topic: '',
    payload: 'häy 🎈',
    publisher: alice.userId,
    customType: 'greeting',
    timestamp,
    offset,
  });
  const { value: second } = await messages.next();
  assert.deepEqual([...second.payload], [0, 255, 7]);
  assert.deepEqual(alice.received(), []);
  bob.close();
  assert.equal((await messages.next()).done, true);
});

test('M-42: a message with an id is published once, by whichever client of the user', async (t) => {
  const channel = fresh('bank');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  const messages = bob.messages(channel);
  await bob.subscribe(channel);
  const first = await alice.publish(channel, '10 to bob', { id: 'payment-17' });
  assert.deepEqual(await alice.publish(channel, '10 to bob', { id: 'payment-17' }), first);
  alice.close();
  const again = await loggedIn(t, server.url, { userId: alice.userId });
  assert.deepEqual(await again.publish(channel, '10 to bob', { id: 'payment-17' }), first);
  await again.publish(channel, '5 to bob', { id: 'payment-18' });
  assert.equal((await messages.next()).value.payload, '10 to bob');
  assert.equal((await messages.next()).value.payload, '5 to bob');
  await assert.rejects(again.publish(channel, 'x', { id: 'two words' }), { code: -10014, outcome: 'notDone' });
});

test('a message to a user reaches the inbox; one to nobody is refused', async (t) => {
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await alice.publish({ user: bob.userId }, 'psst');
  const event = await bob.until(({ type }) => type === 'message');
  assert.deepEqual([event.channelType, event.channelName, event.publisher], ['user', bob.userId, alice.userId]);
  await assert.rejects(alice.publish({ user: fresh('nobody') }, 'x'), { name: 'RTMError', code: -11033 });
});

test('calls without a login, with bad names and with too much are refused with codes', async (t) => {
  const client = makeClient(t, server.url);
  await assert.rejects(client.publish('lobby', 'x'), { code: -10002 });
  await assert.rejects(client.unsubscribe('lobby'), { code: -10002 });
  await client.login();
  await assert.rejects(client.subscribe('_reserved'), { code: -10008 });
  await assert.rejects(client.publish('lobby', 'x'.repeat(32_769)), { code: -11010 });
  await assert.rejects(client.publish('lobby', 7), { code: -11031 });
  await assert.rejects(client.unsubscribe('lobby'), { code: -11002 });
  await assert.rejects(
    client.presence.setState('a\0b', { k: 'v' }).then(() => client.subscribe('a\0b')),
    { code: -10014 },
  );
  await assert.rejects(client.storage.set('lobby', { k: 'x'.repeat(70_000) }), { code: -10014 });
  await client.publish('lobby', 'still there');
});

test('values of another kind are refused with a code and a reason', async (t) => {
  const client = await loggedIn(t, server.url);
  await client.subscribe('lobby');
  for (const call of [
    () => client.publish(undefined, 'x'),
    () => client.subscribe({ channels: 'lobby' }),
    () => client.publish('lobby', 'x', { storeInHistory: 'yes' }),
    () => client.publish('lobby', 'x', { customType: 7 }),
    () => client.presence.setState('lobby', { mood: 7 }),
    () => client.presence.setState('elsewhere', { mood: 7 }),
    () => client.presence.setState('lobby', null),
    () => client.history.page('lobby', { count: 'many' }),
    () => client.renewToken(7),
  ]) {
    await assert.rejects(call(), ({ name, code, reason }) => {
      assert.deepEqual([name, code], ['RTMError', -10014], String(call));
      assert.doesNotMatch(reason, /function|BigInt/);
      return true;
    });
  }
  await client.publish('lobby', 'still there');
});

test('the core alone has messages, passes over what modules show, and refuses what needs one', async (t) => {
  const channel = fresh('core');
  const bob = await loggedIn(t, server.url);
  const client = new RTMClient({ server: server.url, appId: 'dev', userId: fresh('core'), WebSocket });
  t.after(() => client.close());
  const types = new Set();
  client.listen(({ type }) => types.add(type));
  const messages = client.messages(channel);
  await client.login();
  for (const option of ['presence', 'metadata', 'locks']) {
    await assert.rejects(client.subscribe(channel, { [option]: true }), { code: -10014, operation: 'subscribe' });
  }
  await assert.rejects(client.publish(channel, 'x', { id: 'payment-17' }), { code: -10014, operation: 'publish' });
  await client.subscribe(channel);
  await bob.subscribe(channel, { metadata: true, locks: true });
  await bob.until(({ change, users }) => change === 'snapshot' && users?.length === 2);
  await bob.presence.setState(channel, { mood: 'good' });
  await bob.storage.set(channel, { title: 'core' });
  await bob.publish(channel, 'hello');
  assert.equal((await messages.next()).value.payload, 'hello');
  assert.deepEqual([...types].sort(), ['linkState', 'message']);
  // A module may come later.
  const storage = new Storage(client);
  await client.subscribe(channel, { metadata: true });
  assert.equal((await storage.get(channel)).items[0].value, 'core');
  await client.publish(channel, 'still there');
  await bob.until(({ payload }) => payload === 'still there');
  assert.deepEqual([...types].sort(), ['linkState', 'message', 'storage']);
});

test('an unsubscribe behind a subscribe that is under way is sent behind it', async (t) => {
  const channel = fresh('order');
  const [client, other] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  // The server may end the subscribe before it is done.
  const subscribing = client.subscribe(channel).catch(({ code }) => assert.equal(code, -11021));
  await client.unsubscribe(channel);
  await subscribing;
  assert.deepEqual(await client.presence.whereNow(client.userId), []);
  await other.publish(channel, 'hello');
  await other.publish({ user: client.userId }, 'the end');
  await client.until(({ payload }) => payload === 'the end');
  assert.deepEqual(client.received(), ['the end']);
  await assert.rejects(client.unsubscribe(channel), { code: -11002 });
});

test('presence: a snapshot, who comes and goes, and states', async (t) => {
  const channel = fresh('room');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await alice.presence.setState(channel, { mood: 'early' });
  await alice.subscribe(channel);
  const snapshot = await alice.until((event) => event.change === 'snapshot');
  assert.deepEqual(snapshot.users.map(({ userId }) => userId), [alice.userId]);
  await bob.subscribe(channel);
  await alice.until(({ change, userId }) => change === 'joined' && userId === bob.userId);
  await bob.until((event) => event.change === 'snapshot' || event.change === 'stateChanged');
  await bob.presence.setState(channel, { mood: 'good', hat: 'red' });
  await bob.presence.removeState(channel, ['hat']);
  const shown = await alice.until(({ change, states }) => change === 'stateChanged' && states.mood && !states.hat);
  assert.deepEqual(shown.states, { mood: 'good' });
  // What was set before the subscribe is there after it.
  assert.deepEqual(await bob.presence.getState(channel, alice.userId), { mood: 'early' });
  const { users, total } = await alice.presence.whoNow(channel, { states: true });
  assert.equal(total, 2);
  assert.deepEqual(users.find(({ userId }) => userId === bob.userId).states, { mood: 'good' });
  assert.deepEqual(await bob.presence.whereNow(alice.userId), [{ channelType: 'message', channelName: channel }]);
  const listed = [];
  for await (const user of alice.presence.onlineUsers(channel)) listed.push(user.userId);
  assert.deepEqual(listed.sort(), [alice.userId, bob.userId].sort());
  await bob.logout();
  await alice.until(({ change, userId }) => change === 'left' && userId === bob.userId);
  assert.equal(bob.state, 'idle');
});

/** Calls again after the time that the server names, when a rate was exceeded. */
async function patient(call) {
  try {
    return await call();
  } catch (error) {
    if (error.code !== -10021) throw error;
    await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
    return patient(call);
  }
}

test('metadata: written, followed, compared', async (t) => {
  const channel = fresh('auction');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await bob.subscribe(channel, { metadata: true });
  await bob.until(({ type, isSnapshot }) => type === 'storage' && isSnapshot);
  await alice.storage.set(channel, { price: '1' }, { recordAuthor: true, recordTimestamp: true });
  const { metadata, publisher } = await bob.until(({ type, isSnapshot }) => type === 'storage' && !isSnapshot);
  assert.equal(publisher, alice.userId);
  assert.deepEqual(
    [metadata.items[0].key, metadata.items[0].value, metadata.items[0].author],
    ['price', '1', alice.userId],
  );
  assert.ok(metadata.items[0].updatedAt > 1e12);
  const { majorRevision } = await bob.storage.get(channel);
  await assert.rejects(bob.storage.set(channel, { price: '2' }, { majorRevision: majorRevision - 1 }), (error) => {
    assert.equal(error.code, -12014);
    assert.equal(error.conflict.majorRevision, majorRevision);
    return true;
  });
  await assert.rejects(bob.storage.set(channel, [{ key: 'price', value: '2', revision: 0 }]), { code: -12014 });
  // Nothing is lost when many count.
  const count = (values) => ({ count: String(Number(values.get('count') ?? 0) + 1) });
  // More than the rate of one client lets through at once: who waits for the rate must not begin anew.
  const editors = Array.from({ length: 12 }, (_, index) => (index % 2 ? alice : bob));
  await Promise.all(editors.map((client) => client.storage.edit(channel, count)));
  const { items } = await patient(() => bob.storage.get(channel));
  assert.equal(items.find(({ key }) => key === 'count').value, '12');
  await patient(() => bob.storage.remove(channel, ['price']));
  await patient(() => bob.storage.remove(channel));
  assert.deepEqual((await patient(() => bob.storage.get(channel))).items, []);
});

test('the metadata of a user is followed', async (t) => {
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await bob.storage.follow(alice.userId);
  await bob.until(({ type, isSnapshot }) => type === 'storage' && isSnapshot);
  await alice.storage.set({ user: alice.userId }, { name: 'Alice' });
  const event = await bob.until(({ type, isSnapshot }) => type === 'storage' && !isSnapshot);
  assert.deepEqual([event.channelType, event.channelName], ['user', alice.userId]);
  assert.equal(event.metadata.items[0].value, 'Alice');
  await bob.storage.unfollow(alice.userId);
  await assert.rejects(bob.storage.unfollow(alice.userId), { code: -12015 });
});

test('locks: one owner at a time, in line, with tokens that grow', async (t) => {
  const channel = fresh('locks');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await bob.subscribe(channel, { locks: true });
  await bob.until(({ type, change }) => type === 'lock' && change === 'snapshot');
  await alice.locks.set(channel, 'turn', { ttl: 20_000 });
  const { fencingToken: first } = await alice.locks.acquire(channel, 'turn');
  await assert.rejects(bob.locks.acquire(channel, 'turn'), { code: -14007 });
  const waiting = bob.locks.acquire(channel, 'turn', { wait: true });
  await bob.until(({ change, locks }) => change === 'acquired' && locks[0].owner === alice.userId);
  await alice.locks.release(channel, 'turn');
  assert.ok((await waiting).fencingToken > first);
  assert.deepEqual(
    (await alice.locks.list(channel)).map(({ name, owner, ttl }) => [name, owner, ttl]),
    [['turn', bob.userId, 20_000]],
  );
  // Who stops waiting isn't given the lock.
  const abort = new AbortController();
  const aborted = alice.locks.acquire(channel, 'turn', { wait: true, signal: abort.signal });
  setImmediate(() => abort.abort(new Error('enough')));
  await assert.rejects(aborted, /enough/);
  await bob.locks.release(channel, 'turn');
  await bob.locks.acquire(channel, 'turn');
  await alice.locks.revoke(channel, 'turn', bob.userId);
  await alice.locks.remove(channel, 'turn');
  await bob.until(({ change }) => change === 'removed');
});

test('history walks from newer to older', async (t) => {
  const channel = fresh('story');
  const client = await loggedIn(t, server.url);
  for (const text of ['1', '2', '3', '4', '5']) await client.publish(channel, text, { storeInHistory: true });
  await client.publish(channel, 'not stored');
  const page = await client.history.page(channel, { count: 2 });
  assert.deepEqual(page.messages.map(({ payload }) => payload), ['5', '4']);
  assert.equal(page.messages[0].publisher, client.userId);
  const all = [];
  for await (const { payload } of client.history.messages(channel, { count: 2 })) all.push(payload);
  assert.deepEqual(all, ['5', '4', '3', '2', '1']);
});

test('what walks over pages waits when the rate is exceeded, and misses nothing', async (t) => {
  const channel = fresh('story');
  const client = await loggedIn(t, server.url);
  await client.subscribe(channel);
  for (const text of ['1', '2', '3']) await client.publish(channel, text, { storeInHistory: true });
  const all = async (items) => {
    const found = [];
    for await (const { payload, userId } of items) found.push(payload ?? userId);
    return found;
  };
  const walks = (walk) => Promise.all(Array.from({ length: 16 }, () => all(walk())));
  const [stories, lists] = await Promise.all([
    walks(() => client.history.messages(channel, { count: 1 })),
    walks(() => client.presence.onlineUsers(channel)),
  ]);
  for (const texts of stories) assert.deepEqual(texts, ['3', '2', '1']);
  for (const users of lists) assert.deepEqual(users, [client.userId]);
});

test('the newest login of a user wins, and the other does not come back by itself', async (t) => {
  const first = await loggedIn(t, server.url);
  const second = makeClient(t, server.url, { userId: first.userId });
  await second.login();
  const event = await first.until(({ currentState }) => currentState === 'failed');
  assert.deepEqual([event.operation, event.reasonCode], ['serverReject', 'sameUidLogin']);
  assert.equal(second.state, 'connected');
  await assert.rejects(first.publish('lobby', 'x'), { code: -10002 });
  await first.login();
  await second.until(({ currentState }) => currentState === 'failed');
});

test('a wrong app fails the login for good; an address where nothing listens keeps trying', async (t) => {
  const stranger = makeClient(t, server.url, { appId: 'unknown' });
  await assert.rejects(stranger.login(), { code: -10003 });
  assert.equal(stranger.state, 'failed');
  const lost = makeClient(t, 'ws://127.0.0.1:9/rtm');
  const login = lost.login();
  await lost.until(
    ({ currentState, reasonCode }) => currentState === 'disconnected' && reasonCode === 'connectionError',
  );
  lost.close();
  await assert.rejects(login, { code: -10018 });
});

test('a publish above the rate waits for its turn, and keeps its order', async (t) => {
  const channel = fresh('fast');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  await bob.subscribe(channel, { presence: false });
  const texts = Array.from({ length: 150 }, (_, index) => `${index}`);
  await Promise.all(texts.map((text) => alice.publish(channel, text)));
  await bob.until(() => bob.received().length === texts.length);
  assert.deepEqual(bob.received(), texts);
});

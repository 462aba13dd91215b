// Stream channels and their topics.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Encryption } from '../../Clients/web/src/encryption.js';
import { StreamChannel } from '../../Clients/web/src/streams.js';
import { fresh, loggedIn } from './support/clients.js';
import { startStandalone, startWire } from './support/programs.js';

const server = await startStandalone();
after(() => server.kill());

test('topics are joined, shown, subscribed and published in', async (t) => {
  const name = fresh('stage');
  const [alice, bob] = [await loggedIn(t, server.url), await loggedIn(t, server.url)];
  const [stage, seats] = [new StreamChannel(alice, name), new StreamChannel(bob, name)];
  await assert.rejects(stage.publish('chat', 'x'), { code: -11001 });
  await stage.join();
  await assert.rejects(stage.join(), { code: -10017 });
  await seats.join({ metadata: true, locks: true });
  assert.equal((await bob.until(({ type, change }) => type === 'topic' && change === 'snapshot')).topics.length, 0);
  await alice.until(({ change, userId }) => change === 'joined' && userId === bob.userId);
  await assert.rejects(stage.publish('chat', 'x'), { code: -11016 });
  await assert.rejects(seats.subscribe('chat'), { code: -11017 });
  await Promise.all([stage.joinTopic('chat', { meta: 'm', priority: 'high' }), stage.joinTopic('motion')]);
  await assert.rejects(stage.joinTopic('chat'), { code: -10017 });
  const joined = await bob.until(
    ({ type, change, topic }) => type === 'topic' && change === 'joined' && topic === 'chat',
  );
  assert.deepEqual([joined.userId, joined.meta], [alice.userId, 'm']);
  assert.deepEqual(await seats.subscribe('chat'), { topic: 'chat', succeeded: [alice.userId], failed: [] });
  assert.deepEqual(
    await seats.subscribe('chat', { users: ['later'] }),
    { topic: 'chat', succeeded: [], failed: ['later'] },
  );
  assert.deepEqual(seats.subscribedUsers('chat'), ['later', alice.userId].sort());
  await stage.publish('chat', 'hello', { customType: 'c' });
  const message = await bob.until(({ type }) => type === 'message');
  assert.deepEqual(
    [message.channelType, message.channelName, message.topic, message.payload, message.publisher, message.customType],
    ['stream', name, 'chat', 'hello', alice.userId, 'c'],
  );
  await assert.rejects(stage.publish('chat', 'x'.repeat(1025)), { code: -11010 });
  await seats.unsubscribe('chat', { users: ['later'] });
  assert.deepEqual(seats.subscribedUsers('chat'), [alice.userId]);
  await stage.leaveTopic('chat');
  await bob.until(({ type, change, topic }) => type === 'topic' && change === 'left' && topic === 'chat');
  await assert.rejects(stage.leaveTopic('chat'), { code: -11016 });
  await seats.unsubscribe('chat');
  // The channel has its own metadata and locks.
  await alice.storage.set({ stream: name }, { title: 'play' });
  await bob.until(({ type, isSnapshot, channelType }) => type === 'storage' && !isSnapshot && channelType === 'stream');
  await alice.locks.set({ stream: name }, 'turn');
  await bob.until(({ type, change }) => type === 'lock' && change === 'set');
  await stage.leave();
  await bob.until(({ type, change, topic }) => type === 'topic' && change === 'left' && topic === 'motion');
  await bob.until(({ type, change, userId }) => type === 'presence' && change === 'left' && userId === alice.userId);
  await assert.rejects(stage.leave(), { code: -11001 });
  await stage.join();
});

test('a return restores what was joined, published and subscribed', async (t) => {
  const name = fresh('stage');
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const [alice, bob] = [await loggedIn(t, wire.url), await loggedIn(t, server.url)];
  const [stage, seats] = [new StreamChannel(alice, name), new StreamChannel(bob, name)];
  await stage.join();
  await seats.join();
  await Promise.all([stage.joinTopic('chat'), seats.joinTopic('answers')]);
  await stage.subscribe('answers');
  await seats.subscribe('chat');
  alice.seen.length = 0;
  wire.cut();
  await alice.until(({ currentState }) => currentState === 'disconnected');
  await seats.publish('answers', 'meanwhile');
  await alice.until(({ operation, isResumed }) => operation === 'reconnected' && isResumed);
  assert.equal((await alice.until(({ type }) => type === 'message')).payload, 'meanwhile');
  await alice.until(({ type, change, topics }) => type === 'topic' && change === 'snapshot' && topics.length === 2);
  await stage.publish('chat', 'back');
  assert.equal((await bob.until(({ type }) => type === 'message')).payload, 'back');
  assert.deepEqual(stage.subscribedUsers('answers'), [bob.userId]);
});

test('S-16: who leaves without a connection leaves its topics with the next one, too', async (t) => {
  const name = fresh('stage');
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const [alice, bob] = [await loggedIn(t, wire.url), await loggedIn(t, server.url)];
  const [stage, seats] = [new StreamChannel(alice, name), new StreamChannel(bob, name)];
  await seats.join({ presence: true });
  await stage.join();
  await stage.joinTopic('chat');
  await bob.until(({ type, change }) => type === 'topic' && change === 'joined');
  const topicLeft = bob.until(({ type, change }) => type === 'topic' && change === 'left');
  const left = bob.until(({ type, change }) => type === 'presence' && change === 'left');
  wire.cut();
  await alice.until(({ currentState }) => currentState === 'disconnected');
  await stage.leave();
  assert.deepEqual([(await topicLeft).userId, (await left).userId], [alice.userId, alice.userId]);
});

test('messages of topics are encrypted, their metas are not', async (t) => {
  const name = fresh('stage');
  const key = { secret: 'a long random text', salt: new Uint8Array(32).fill(9) };
  const encrypted = () => loggedIn(t, server.url, { encryption: new Encryption([key]) });
  const [alice, bob] = [await encrypted(), await encrypted()];
  const [stage, seats] = [new StreamChannel(alice, name), new StreamChannel(bob, name)];
  await stage.join();
  await stage.joinTopic('chat', { meta: 'clear' });
  await seats.join();
  const { topics } = await bob.until(({ type, change }) => type === 'topic' && change === 'snapshot');
  assert.deepEqual(topics, [{ name: 'chat', publishers: [{ userId: alice.userId, meta: 'clear' }] }]);
  await seats.subscribe('chat');
  await stage.publish('chat', 'psst');
  assert.equal((await bob.until(({ type }) => type === 'message')).payload, 'psst');
});

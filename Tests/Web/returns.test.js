// What happens to connections, and what comes through.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fresh, loggedIn, makeClient } from './support/clients.js';
import { start, startStandalone, startWire, temporaryFolder } from './support/programs.js';

const server = await startStandalone();
after(() => server.kill());

/** Publishes until it is told to stop, and says what became of each message. */
function publisher(client, channel) {
  const outcomes = [];
  let isOver = false;
  const run = (async () => {
    for (let number = 0; !isOver; number++) {
      const text = `${client.userId} ${number}`;
      outcomes.push(
        client.publish(channel, text).then(
          () => ({ text, ok: true }),
          (error) => ({ text, code: error.code }),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await run;
      return Promise.all(outcomes);
    },
  };
}

/** What was published has arrived once and in order; what failed may have arrived, once. */
function judge(outcomes, received) {
  const numbers = received.map((text) => Number(text.split(' ')[1]));
  assert.deepEqual(numbers, [...numbers].sort((one, other) => one - other), 'out of order');
  assert.equal(new Set(received).size, received.length, 'doubled');
  const there = new Set(received);
  const lost = outcomes.filter(({ text, ok }) => ok && !there.has(text));
  assert.deepEqual(lost, [], 'lost');
}

test('lost connections lose, double and reorder nothing, and the session is resumed', async (t) => {
  const channel = fresh('cut');
  const wires = [await startWire(server.url), await startWire(server.url)];
  t.after(() => wires.forEach((wire) => wire.stop()));
  const [alice, bob] = [await loggedIn(t, wires[0].url), await loggedIn(t, wires[1].url)];
  await bob.subscribe(channel, { metadata: true });
  await alice.subscribe(channel, { echo: true });
  const publishing = publisher(alice, channel);
  for (const wire of [wires[0], wires[1], wires[0], wires[1]]) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    wire.cut();
    const client = wire === wires[0] ? alice : bob;
    await client.until(({ currentState }) => currentState === 'disconnected');
    await client.until(({ currentState, operation }) => currentState === 'connected' && operation === 'reconnected');
    const resumed = client.seen.filter(({ operation }) => operation === 'reconnected').at(-1);
    assert.equal(resumed.isResumed, true);
    client.seen.splice(0, client.seen.length, ...client.seen.filter(({ type }) => type !== 'linkState'));
  }
  const outcomes = await publishing.stop();
  await alice.publish(channel, `${alice.userId} 1000000`);
  await bob.until(({ payload }) => payload === `${alice.userId} 1000000`);
  judge(outcomes, bob.received());
  await alice.until(({ payload }) => payload === `${alice.userId} 1000000`);
  assert.deepEqual(alice.received(), bob.received(), 'M-43');
  assert.ok(outcomes.filter(({ ok }) => ok).length > 20);
  assert.ok(!bob.seen.some(({ type }) => type === 'gap'));
});

test('what is held, shown and followed is there again after a return', async (t) => {
  const channel = fresh('held');
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const [alice, bob] = [await loggedIn(t, wire.url), await loggedIn(t, server.url)];
  await alice.subscribe(channel, { metadata: true, locks: true });
  await alice.presence.setState(channel, { mood: 'good' });
  await alice.storage.follow(bob.userId);
  await alice.locks.set(channel, 'turn');
  await alice.locks.acquire(channel, 'turn');
  await bob.locks.set(channel, 'other');
  await bob.locks.acquire(channel, 'other');
  const waiting = alice.locks.acquire(channel, 'other', { wait: true });
  await new Promise((resolve) => setTimeout(resolve, 50));
  alice.seen.length = 0;
  wire.cut();
  await alice.until(({ currentState }) => currentState === 'disconnected');
  await assert.rejects(alice.publish(channel, 'x'), { code: -11027 });
  await assert.rejects(alice.presence.whoNow(channel), { code: -13001 });
  await bob.publish(channel, 'meanwhile');
  await bob.publish({ user: alice.userId }, 'psst').catch(() => {});
  const at = (fits) => alice.seen.findIndex(fits);
  await alice.until(({ operation }) => operation === 'reconnected');
  await alice.until(({ payload }) => payload === 'meanwhile');
  assert.ok(at(({ operation }) => operation === 'reconnected') < at(({ payload }) => payload === 'meanwhile'));
  await alice.until(({ type, change }) => type === 'presence' && change === 'snapshot');
  await alice.until(({ type, channelType }) => type === 'storage' && channelType === 'user');
  assert.deepEqual(await bob.presence.getState(channel, alice.userId), { mood: 'good' });
  assert.ok(!alice.seen.some(({ change }) => change === 'expired'));
  await bob.locks.release(channel, 'other');
  await waiting;
  assert.deepEqual((await bob.locks.list(channel)).map(({ owner }) => owner), [alice.userId, alice.userId]);
});

test('P-46: who subscribes, or was away for too long, is seen with its states, in one event', async (t) => {
  const channel = fresh('seats');
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const alice = await loggedIn(t, server.url);
  const bob = await loggedIn(t, wire.url, { presenceTimeout: 5000 });
  await alice.subscribe(channel);
  const ofBob = () =>
    alice.seen.filter(({ userId }) => userId === bob.userId).map(({ change, states }) => [change, states?.seat]);
  await bob.presence.setState(channel, { seat: '4' });
  await bob.subscribe(channel, { presence: false });
  await alice.until(() => ofBob().length === 1);
  // A return in time is no event.
  wire.cut();
  await bob.until(({ operation }) => operation === 'reconnected');
  await bob.presence.setState(channel, { seat: '5' });
  await alice.until(() => ofBob().length === 2);
  wire.isDown = true;
  wire.cut();
  await alice.until(() => ofBob().length === 3);
  wire.isDown = false;
  await alice.until(() => ofBob().length === 4);
  assert.deepEqual(ofBob(), [['joined', '4'], ['stateChanged', '5'], ['timedOut', undefined], ['joined', '5']]);
});

test('S-16, M-6: whoever unsubscribes without a connection is seen to leave with the next one', async (t) => {
  const [channel, other] = [fresh('left'), fresh('again')];
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const [alice, bob] = [await loggedIn(t, wire.url), await loggedIn(t, server.url)];
  for (const client of [bob, alice]) for (const name of [channel, other]) await client.subscribe(name);
  const left = bob.until(({ change, channelName }) => change === 'left' && channelName === channel);
  wire.cut();
  await alice.until(({ currentState }) => currentState === 'disconnected');
  for (const name of [channel, other]) await alice.unsubscribe(name);
  await alice.until(({ operation }) => operation === 'reconnected');
  await alice.subscribe(other);
  assert.equal((await left).userId, alice.userId);
  // The first time she came before all this.
  const joined = bob.seen.filter(({ change, channelName }) => change === 'joined' && channelName === channel);
  assert.equal(joined.length, 1);
  await bob.publish(channel, 'nobody');
  await bob.publish(other, 'somebody');
  await alice.until(({ payload }) => payload === 'somebody');
  assert.deepEqual(alice.received(), ['somebody']);
  assert.deepEqual(await bob.presence.whereNow(alice.userId), [{ channelType: 'message', channelName: other }]);
  // It is left once.
  await alice.subscribe(channel);
  wire.cut();
  await alice.until(() => alice.seen.filter(({ operation }) => operation === 'reconnected').length === 2);
  await bob.publish(channel, 'she is back');
  await alice.until(({ payload }) => payload === 'she is back');
});

test('a silent network is noticed by the heartbeat, and sooner when the page is shown again', async (t) => {
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  const client = await loggedIn(t, wire.url, { heartbeatInterval: 60_000 });
  wire.isSilent = true;
  const asked = Date.now();
  client.networkChanged();
  await client.until(({ reasonCode }) => reasonCode === 'keepAliveTimeout');
  assert.ok(Date.now() - asked < 4000);
  wire.isSilent = false;
  client.networkChanged();
  await client.until(({ operation }) => operation === 'reconnected');
});

test('a server that accepts and never answers does not end the program, nor does whoever ends a login meanwhile', async (t) => {
  const wire = await startWire(server.url);
  t.after(() => wire.stop());
  wire.isSilent = true;
  const client = makeClient(t, wire.url, { requestTimeout: 200 });
  const logins = [assert.rejects(client.login(), { code: -10018 })];
  await client.until(({ currentState }) => currentState === 'disconnected');
  client.close();
  for (const [how, code] of [['logout', -10023], ['close', -10018]]) {
    const other = makeClient(t, wire.url);
    logins.push(assert.rejects(other.login(), { code }));
    await other[how]();
  }
  await Promise.all(logins);
  // The error comes in a later turn.
  await new Promise(setImmediate);
});

test('killed edges lose nothing of what was acknowledged, and every call ends', async (t) => {
  const secret = { 'link-secret': 'a secret of this test' };
  const admin = { admin: '127.0.0.1:0' };
  const messaging = await start('rtm-messaging', { ...admin, ...secret, listen: '127.0.0.1:0' });
  const address = (program, name) => program.listening[name];
  const others = { messaging: address(messaging, 'messaging') };
  const presence = await start('rtm-presence', { ...admin, ...secret, ...others, listen: '127.0.0.1:0' });
  const storage = await start(
    'rtm-storage',
    { ...admin, ...secret, ...others, listen: '127.0.0.1:0', data: temporaryFolder() },
  );
  const flags = {
    ...admin,
    ...secret,
    ...others,
    presence: address(presence, 'presence'),
    storage: address(storage, 'storage'),
  };
  const startEdge = (listen = '127.0.0.1:0') => start(
    'rtm-edge',
    { ...flags, listen: '127.0.0.1:0', 'web-socket-listen': listen },
  );
  const edges = [await startEdge(), await startEdge()];
  t.after(() => Promise.all([...edges, presence, storage, messaging].map((program) => program.kill())));
  const urls = edges.map(({ listening }) => `ws://${listening.webSocket ?? listening['edge.webSocket']}/rtm`);
  const channel = fresh('edges');
  const alice = await loggedIn(t, urls);
  const bob = await loggedIn(t, [urls[1], urls[0]]);
  await bob.subscribe(channel);
  const publishing = publisher(alice, channel);
  for (const index of [0, 1, 0]) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await edges[index].kill();
    await new Promise((resolve) => setTimeout(resolve, 700));
    edges[index] = await startEdge(new URL(urls[index]).host);
  }
  const outcomes = await publishing.stop();
  for (const client of [alice, bob]) while (client.state !== 'connected') await new Promise(setImmediate);
  await alice.publish(channel, `${alice.userId} 1000000`);
  await bob.until(({ payload }) => payload === `${alice.userId} 1000000`);
  judge(outcomes, bob.received());
  assert.ok(outcomes.filter(({ ok }) => ok).length > 50, 'too few were published to say anything');
  t.diagnostic(`${outcomes.filter(({ ok }) => ok).length} of ${outcomes.length} published`);
});

test('a killed server ends calls, and is found again; a gap is told', async (t) => {
  const data = temporaryFolder();
  let own = await startStandalone({ data });
  const { host } = new URL(own.url);
  t.after(() => own.kill());
  const channel = fresh('killed');
  const client = await loggedIn(t, own.url, { requestTimeout: 5000 });
  const other = await loggedIn(t, own.url);
  await client.subscribe(channel);
  await other.publish(channel, 'before');
  await client.until(({ payload }) => payload === 'before');
  const calls = Array.from({ length: 20 }, (_, index) => client.publish(channel, `${index}`));
  const reads = [client.presence.whoNow(channel), client.storage.get(channel), client.history.page(channel)];
  const outcomes = Promise.allSettled([...calls, ...reads]);
  await own.kill();
  const ended = await outcomes;
  for (const { status, reason } of ended) assert.ok(status === 'fulfilled' || reason.name === 'RTMError');
  own = await startStandalone({ data, 'edge-web-socket-listen': host });
  await client.until(({ operation }) => operation === 'reconnected');
  await client.until(({ type, channelName }) => type === 'gap' && channelName === channel);
  await other.until(({ operation }) => operation === 'reconnected');
  await other.publish(channel, 'after');
  await client.until(({ payload }) => payload === 'after');
});

// Generated histories: whole clients, with a server, a network and a clock that a seed decides. SEEDS=1000 for more,
// SEED=7 for one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamChannel } from '../../Clients/web/src/streams.js';
import { frame } from '../../Clients/web/src/wire.js';
import { World } from './support/world.js';

const seeds = process.env.SEED
  ? [Number(process.env.SEED)]
  : Array.from({ length: Number(process.env.SEEDS ?? 100) }, (_, index) => index + 1);

test(`${seeds.length} histories lose, double and reorder nothing, and every call ends`, async () => {
  let published = 0;
  let lost = 0;
  for (const seed of seeds) {
    const world = new World(seed);
    const [alice, bob] = [world.client('alice', { heartbeatInterval: 5000 }), world.client('bob')];
    const open = new Set();
    const track = (promise) => {
      open.add(promise);
      const end = (outcome) => (open.delete(promise), outcome);
      return promise.then((value) => end({ value }), (error) => end({ error }));
    };
    const outcomes = [];
    track(alice.login());
    track(bob.login());
    await world.pass(100_000, () => alice.state === 'connected' && bob.state === 'connected');
    for (const [client, options] of [[alice, { echo: true }], [bob, {}]]) {
      let isSubscribed = false;
      while (!isSubscribed) {
        track(client.subscribe('lobby', options)).then(({ value }) => (isSubscribed ||= !!value));
        await world.pass(60_000, () => isSubscribed || open.size === 0);
        if (!isSubscribed) await world.pass(1000);
      }
    }
    const accidents = [() => world.cut(), () => [...world.sockets][0]?.lose(), () => alice.networkChanged(), () => {}];
    for (let number = 0; number < 60; number++) {
      const text = `${number}`;
      outcomes.push(track(alice.publish('lobby', text)).then((outcome) => ({ text, ...outcome })));
      if (world.random() < 0.3) await world.pass(world.random() * 200);
      if (world.random() < 0.1) accidents[Math.floor(world.random() * accidents.length)]();
      if (world.random() < 0.02) {
        world.isDown = true;
        await world.pass(world.random() * 8000);
        world.isDown = false;
      }
    }
    world.calm = true;
    await world.pass(200_000, () => open.size === 0 && [alice, bob].every(({ state }) => state === 'connected'));
    assert.equal(open.size, 0, `seed ${seed}: ${open.size} calls have not ended`);
    await world.pass(2000);
    const [own, received] = [alice, bob].map(({ seen }) =>
      seen.filter(({ type }) => type === 'message').map(({ payload }) => Number(payload)),
    );
    const detail = `seed ${seed}: ${received}`;
    assert.deepEqual(own, received, `M-43, ${detail}`);
    assert.deepEqual(received, [...received].sort((one, other) => one - other), `out of order, ${detail}`);
    assert.equal(new Set(received).size, received.length, `doubled, ${detail}`);
    assert.ok(!bob.seen.some(({ type }) => type === 'gap'), `a gap, ${detail}`);
    for (const { text, value, error } of await Promise.all(outcomes)) {
      if (value) assert.ok(received.includes(Number(text)), `lost ${text}, ${detail}`);
      else assert.equal(error.name, 'RTMError', error.stack);
      published += value ? 1 : 0;
    }
    lost += alice.seen.filter(({ currentState }) => currentState === 'disconnected').length;
    alice.close();
    bob.close();
  }
  // The histories say something only if much was published, and much went wrong.
  assert.ok(published > seeds.length * 15 && lost > seeds.length, `${published} published, ${lost} connections lost`);
});

test('a log that begins anew is told as a gap, and what is in it arrives', async () => {
  const world = new World(1, { calm: true });
  const [alice, bob] = [world.client('alice'), world.client('bob')];
  alice.login();
  bob.login();
  await world.pass(100);
  bob.subscribe('lobby');
  await world.pass(100);
  alice.publish('lobby', 'before');
  await world.pass(100);
  world.restart();
  await world.pass(300, () => alice.state === 'connected');
  await world.pass(5000, () => alice.state === 'connected');
  alice.publish('lobby', 'after').catch(() => {});
  await world.pass(10_000);
  const shown = bob.seen.filter(({ type }) => type === 'gap' || type === 'message');
  assert.deepEqual(shown.map(({ type, payload }) => payload ?? type), ['before', 'gap', 'after']);
  assert.equal(shown[1].lastSeen.epoch, 1);
  assert.equal(shown[1].continuesAfter.epoch, 2);
  const { isResumed, unrestoredChannels } = bob.seen.find(({ operation }) => operation === 'reconnected');
  assert.deepEqual([isResumed, unrestoredChannels], [false, ['lobby']]);
});

test('without a server the waits grow, the link is suspended after two minutes, and a login ends then', async () => {
  const world = new World(2, { calm: true });
  const client = world.client('alice', { server: 'ws://world' });
  world.isDown = true;
  let error;
  client.login().catch((refusal) => (error = refusal));
  await world.pass(119_000);
  const attempts = client.seen.filter(({ currentState }) => currentState === 'connecting').map(({ at }) => at);
  assert.ok(attempts.length > 10, `${attempts}`);
  const waits = attempts.slice(1).map((at, index) => at - attempts[index]);
  assert.ok(waits[0] < 400 && Math.max(...waits) <= 6100, `${waits}`);
  assert.equal(error, undefined);
  await world.pass(2000);
  assert.equal(client.state, 'suspended');
  assert.equal(error.code, -10011);
  world.isDown = false;
  await world.pass(40_000, () => client.state === 'connected');
  assert.equal(client.state, 'connected');
});

test('after a loss of more than two minutes the session goes on, and says that it is not resumed', async () => {
  const world = new World(3, { calm: true });
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  client.subscribe('lobby');
  await world.pass(100);
  world.isDown = true;
  world.cut();
  await world.pass(150_000);
  assert.equal(client.state, 'suspended');
  world.isDown = false;
  client.networkChanged();
  await world.pass(1000);
  const back = client.seen.find(({ operation }) => operation === 'reconnected');
  assert.deepEqual([back.isResumed, back.unrestoredChannels, back.affectedChannels], [false, [], ['lobby']]);
});

test('a reconnect timeout ends the link for good', async () => {
  const world = new World(4, { calm: true });
  const client = world.client('alice', { reconnectTimeout: 20_000 });
  client.login();
  await world.pass(100);
  world.isDown = true;
  world.cut();
  await world.pass(21_000);
  assert.deepEqual([client.state, client.seen.at(-1).reasonCode], ['failed', 'reconnectTimeout']);
});

test('a token is asked for again when it has expired, and renewed before it does', async () => {
  const world = new World(5, { calm: true });
  const presented = [];
  const logIn = world.logIn.bind(world);
  world.logIn = (socket, login, answer, refuse) => {
    presented.push(login.token);
    if (login.token !== `token ${world.valid}`) {
      refuse(-10009);
      return socket.push(0, 'disconnect', { code: 3505 });
    }
    return logIn(socket, login, answer, refuse);
  };
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => {
    if (!request.renewToken) return serve(socket, request);
    presented.push(request.renewToken.token);
    return socket.push(request.requestId, 'tokenRenewed', {});
  };
  let made = 0;
  world.valid = 1;
  const client = world.client('alice', { tokenProvider: async () => `token ${++made}` });
  client.login();
  await world.pass(100);
  assert.deepEqual(presented, ['token 1']);
  const [socket] = world.sockets;
  socket.push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  socket.push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  await world.pass(100);
  assert.deepEqual(presented, ['token 1', 'token 2']);
  assert.equal(client.seen.filter(({ type }) => type === 'tokenWillExpire').length, 1);
  // Away for so long that the renewed token is no longer taken.
  world.valid = 3;
  world.cut();
  // One wait, and none after the refusal (S-53).
  await world.pass(2500, () => client.state === 'connected');
  assert.equal(client.state, 'connected');
  assert.deepEqual(presented.slice(2), ['token 2', 'token 3']);
});

/** A provider that answers when the test says so, and a world that notes what is presented. */
function slowProvider(seed) {
  const world = new World(seed, { calm: true });
  const asked = [];
  const presented = [];
  const logIn = world.logIn.bind(world);
  world.logIn = (socket, login, ...rest) => {
    presented.push(login.token);
    return logIn(socket, login, ...rest);
  };
  const tokenProvider = () => new Promise((resolve, reject) => asked.push({ resolve, reject }));
  const ends = [];
  const logInWith = (client, options) => client.login(options).then(() => ends.push('in'), ({ code }) => ends.push(code));
  return { world, asked, presented, ends, logInWith, client: world.client('alice', { tokenProvider }) };
}

for (const [how, code] of [['logout', -10023], ['close', -10018]]) {
  test(`S-53: a ${how} ends a login that waits for the provider, whose late answer is thrown away`, async () => {
    const { world, asked, presented, ends, logInWith, client } = slowProvider(15);
    logInWith(client);
    await world.pass(100);
    assert.equal(client.state, 'connecting');
    await client[how]();
    asked[0].resolve('late');
    await world.pass(1000);
    assert.deepEqual([client.state, ends, presented, world.timers], ['idle', [code], [], 0]);
    if (how === 'close') return;
    // What belongs to the first login isn't taken for the answer to the second one.
    logInWith(client);
    await world.pass(100);
    asked[1].resolve('new');
    await world.pass(100);
    assert.deepEqual([client.state, ends, presented], ['connected', [code, 'in'], ['new']]);
  });
}

test('S-53: of two logins the newer one goes on, and one that is given a token waits for no provider', async () => {
  const { world, asked, presented, ends, logInWith, client } = slowProvider(16);
  logInWith(client);
  logInWith(client);
  await world.pass(100);
  assert.deepEqual([ends, asked.length], [[-10023], 2]);
  logInWith(client, { token: 'given' });
  await world.pass(100);
  for (const { resolve } of asked) resolve('late');
  await world.pass(100);
  assert.deepEqual([client.state, ends, presented], ['connected', [-10023, -10023, 'in'], ['given']]);
});

test('S-53: a provider that fails or hangs at a login is asked again', async () => {
  const { world, asked, presented, ends, logInWith, client } = slowProvider(17);
  logInWith(client);
  await world.pass(100);
  asked[0].reject(new Error('my server is away'));
  await world.pass(100);
  assert.equal(client.state, 'disconnected');
  assert.match(client.seen.at(-1).reason, /my server is away/);
  await world.pass(5000, () => asked.length === 2);
  await world.pass(9900);
  assert.equal(client.state, 'connecting');
  await world.pass(10_000, () => asked.length === 3);
  asked[1].resolve('late');
  await world.pass(100);
  assert.deepEqual(presented, []);
  asked[2].resolve('new');
  await world.pass(100);
  assert.deepEqual([client.state, ends, presented], ['connected', ['in'], ['new']]);
});

test('S-13, S-53: a login without any token ends when the link is suspended, and says why', async () => {
  const world = new World(18, { calm: true });
  let error;
  const client = world.client('alice', { tokenProvider: () => Promise.reject(new Error('not today')) });
  client.login().catch((refusal) => (error = refusal));
  await world.pass(121_000);
  assert.equal(error.code, -10011);
  assert.match(error.message, /not today/);
  await client.logout();
  assert.equal(world.timers, 0);
});

test('S-53: a renewal belongs to its connection, and another connection asks again', async () => {
  const { world, asked, ends, logInWith, client } = slowProvider(19);
  const renewed = [];
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => {
    if (!request.renewToken) return serve(socket, request);
    renewed.push(request.renewToken.token);
    return socket.push(request.requestId, 'tokenRenewed', {});
  };
  logInWith(client);
  await world.pass(100);
  asked[0].resolve('first');
  await world.pass(100);
  const warn = () => [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  warn();
  await world.pass(100);
  assert.equal(asked.length, 2);
  world.cut();
  await world.pass(10_000, () => client.state === 'connected');
  warn();
  await world.pass(100);
  assert.equal(asked.length, 3);
  asked[1].resolve('late');
  asked[2].resolve('second');
  await world.pass(100);
  assert.deepEqual([renewed, ends], [['second'], ['in']]);
  assert.equal(client.seen.filter(({ type }) => type === 'tokenWillExpire').length, 1);
});

/** A session whose first token is about to end. `renewed` are the tokens that it has presented since, each with its time. */
async function warned(seed, answer = (socket, id) => socket.push(id, 'tokenRenewed', {})) {
  const { world, asked, logInWith, client } = slowProvider(seed);
  const renewed = [];
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => {
    if (!request.renewToken) return serve(socket, request);
    renewed.push([request.renewToken.token, world.now]);
    return answer(socket, request.requestId);
  };
  logInWith(client);
  await world.pass(100);
  asked[0].resolve('first');
  await world.pass(100);
  [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  await world.pass(100);
  const warnings = () => client.seen.filter(({ type }) => type === 'tokenWillExpire').map(({ remaining }) => remaining);
  return { world, asked, renewed, client, warnings };
}

test('S-53: a provider that hangs in a renewal is asked again, and its late answers are thrown away', async () => {
  const { world, asked, renewed } = await warned(24);
  assert.equal(asked.length, 2);
  await world.pass(10_800);
  assert.equal(asked.length, 2);
  asked[1].resolve('late');
  await world.pass(400);
  assert.deepEqual([asked.length, renewed], [3, []]);
  await world.pass(11_400);
  assert.equal(asked.length, 3);
  await world.pass(400);
  assert.equal(asked.length, 4);
  asked[3].resolve('second');
  asked[2].resolve('later');
  await world.pass(60_000);
  assert.deepEqual([asked.length, renewed.map(([token]) => token)], [4, ['second']]);
});

/** The answer to a renewal, and behind it in the same message the warning of a server whose new token is about to end, too. */
const endsSoon = (socket, requestId) => {
  const bodies = [{ requestId, tokenRenewed: {} }, { tokenWillExpire: { remainingMs: 20_000 } }];
  const data = bodies.flatMap((body) => [...frame('ServerFrame', body)]);
  socket.onmessage({ data: Uint8Array.from(data).buffer });
};

test('S-50: the warning for a renewed token that is about to end is announced, and the token replaced in time', async () => {
  const { world, asked, renewed, client, warnings } = await warned(25, endsSoon);
  const from = world.now;
  asked[1].resolve('second');
  await world.pass(100);
  assert.deepEqual([warnings(), asked.length], [[30_000, 20_000], 2]);
  await world.pass(20_000, () => asked.length === 3);
  asked[2].resolve('third');
  await world.pass(100);
  assert.deepEqual([warnings(), asked.length], [[30_000, 20_000, 20_000], 3]);
  // Not in a loop, and well before the end.
  const [[, second], [, third]] = renewed;
  assert.ok(second - from < 100 && third - second > 9000 && third - second < 11_000, `${renewed}`);
  // The end of the newest token is known, and after it that isn't presented (S-54).
  world.isDown = true;
  world.cut();
  await world.pass(21_000);
  world.isDown = false;
  client.networkChanged();
  await world.pass(100);
  assert.deepEqual([client.state, asked.length], ['connecting', 4]);
});

test('S-53: a provider that brings the same token again is asked later, and the token is not presented', async () => {
  const { world, asked, renewed, warnings } = await warned(26, endsSoon);
  const times = [world.now];
  for (let count = 2; count < 6; count++) {
    asked.at(-1).resolve('first');
    await world.pass(40_000, () => asked.length > count);
    times.push(world.now);
  }
  const waits = times.slice(1).map((time, index) => Math.round((time - times[index]) / 1000));
  assert.deepEqual([waits, renewed, warnings()], [[1, 2, 4, 8], [], [30_000]]);
});

for (const [answer, what] of [[7, /number/], [{ token: 'x' }, /object/], [undefined, /undefined/], [null, /null/], ['', /''/]]) {
  test(`S-53: a provider that returns ${JSON.stringify(answer)} has failed`, async () => {
    const { world, asked, presented, ends, logInWith, client } = slowProvider(27);
    logInWith(client);
    await world.pass(100);
    asked[0].resolve(answer);
    await world.pass(100);
    assert.deepEqual([client.state, presented], ['disconnected', []]);
    assert.match(client.seen.at(-1).reason, what);
    await world.pass(5000, () => asked.length === 2);
    asked[1].resolve('token');
    await world.pass(100);
    assert.deepEqual([client.state, ends, presented], ['connected', ['in'], ['token']]);
    [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 30_000 });
    await world.pass(100);
    asked[2].resolve(answer);
    await world.pass(1100);
    assert.equal(asked.length, 4);
  });
}

const expired = { code: 3506, reason: 'the token has expired' };

test('S-53: at the end of its token a session asks for another one at once', async () => {
  const { world, asked, presented, logInWith, client } = slowProvider(20);
  logInWith(client);
  await world.pass(100);
  asked[0].resolve('first');
  await world.pass(100);
  [...world.sockets][0].push(0, 'disconnect', expired);
  await world.pass(100);
  assert.deepEqual([client.state, asked.length, presented], ['connecting', 2, ['first']]);
  asked[1].resolve('second');
  await world.pass(100);
  assert.deepEqual([client.state, presented], ['connected', ['first', 'second']]);
  assert.equal(client.seen.at(-1).isResumed, true);
});

test('S-54: a token that ended while the client was away is replaced before anything is presented', async () => {
  const { world, asked, presented, logInWith, client } = slowProvider(21);
  logInWith(client);
  await world.pass(100);
  asked[0].resolve('first');
  await world.pass(100);
  [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  await world.pass(100);
  world.isDown = true;
  world.cut();
  await world.pass(30_000);
  world.isDown = false;
  client.networkChanged();
  await world.pass(100);
  assert.deepEqual([client.state, presented], ['connecting', ['first']]);
  asked.at(-1).resolve('second');
  await world.pass(100);
  assert.deepEqual([client.state, presented], ['connected', ['first', 'second']]);
});

test('S-54: without a provider a token that ended while the client was away fails the link, and nothing is presented', async () => {
  const { world, presented, ends, logInWith } = slowProvider(22);
  const client = world.client('bob');
  logInWith(client, { token: 'only' });
  await world.pass(100);
  [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 1000 });
  await world.pass(100);
  world.cut();
  await world.pass(3000);
  const { currentState, previousState, reasonCode } = client.seen.at(-1);
  assert.deepEqual([currentState, previousState, reasonCode], ['failed', 'connecting', 'tokenExpired']);
  assert.deepEqual(presented, ['only']);
  logInWith(client, { token: 'new' });
  await world.pass(100);
  assert.deepEqual([client.state, ends, presented], ['connected', ['in', 'in'], ['only', 'new']]);
});

/**
 * A session without a provider, which renews its token when it is warned, after this has become of its connection. `presented`
 * are the tokens of its logins.
 */
async function renewing(seed, what, token = 'second') {
  const world = new World(seed, { calm: true });
  const presented = [];
  const logIn = world.logIn.bind(world);
  world.logIn = (socket, login, answer, refuse) => {
    presented.push(login.token);
    if (login.token !== 'refused') return logIn(socket, login, answer, refuse);
    refuse(-10005);
    return socket.push(0, 'disconnect', { code: 3505 });
  };
  const client = world.client('alice');
  client.login({ token: 'first' });
  await world.pass(100);
  [...world.sockets][0].push(0, 'tokenWillExpire', { remainingMs: 30_000 });
  await world.pass(100);
  await what(world, client);
  const ends = [];
  client.renewToken(token).then(() => ends.push('renewed'), (error) => ends.push([error.code, error.operation]));
  return { world, client, presented, ends };
}

const away = async (world) => {
  world.isDown = true;
  world.cut();
  await world.pass(100);
};

test('S-52: a token that is renewed without a connection is that of the return, which ends the call', async () => {
  const { world, client, presented, ends } = await renewing(30, away);
  await world.pass(100);
  assert.deepEqual([client.state, ends], ['disconnected', []]);
  world.isDown = false;
  // The old token has ended meanwhile, or nearly so.
  await world.pass(60_000, () => client.state === 'connected');
  await world.pass(0);
  assert.deepEqual([client.state, ends, presented], ['connected', ['renewed'], ['first', 'second']]);
  assert.equal(client.seen.at(-1).isResumed, true);
});

test('S-52: an attempt that is under way begins again with the renewed token', async () => {
  const connecting = async (world, client) => {
    world.cut();
    await world.pass(10_000, () => client.state === 'connecting');
  };
  const { world, client, presented, ends } = await renewing(31, connecting);
  assert.equal(client.state, 'connecting');
  await world.pass(1000);
  assert.deepEqual([client.state, ends, presented], ['connected', ['renewed'], ['first', 'second']]);
});

test('S-52: a connection that is lost before the answer to a renewal loses no token', async () => {
  const { world, client, presented, ends } = await renewing(32, async () => {});
  world.cut();
  await world.pass(10_000, () => client.state === 'connected');
  await world.pass(0);
  assert.deepEqual([client.state, ends, presented], ['connected', ['renewed'], ['first', 'second']]);
});

test('S-52: what the server says against a token that is renewed without a connection ends the call', async () => {
  const { world, client, ends } = await renewing(33, away, 'refused');
  world.isDown = false;
  await world.pass(10_000);
  assert.deepEqual([client.state, ends], ['failed', [[-10005, 'renewToken']]]);
});

test('S-52: a renewal ends when the link is suspended or logged out, and nothing is sent of what is no token', async () => {
  const { world, client, presented, ends } = await renewing(34, away);
  for (const token of [7, 'a\0b']) await assert.rejects(client.renewToken(token), { code: -10014 });
  await world.pass(120_000);
  assert.deepEqual([client.state, ends], ['suspended', [[-10026, 'renewToken']]]);
  // The client keeps trying with it.
  world.isDown = false;
  await world.pass(60_000, () => client.state === 'connected');
  assert.deepEqual(presented, ['first', 'second']);
  const { world: other, client: leaving, ends: left } = await renewing(35, away);
  await leaving.logout();
  await other.pass(100);
  assert.deepEqual(left, [[-10023, 'renewToken']]);
});

for (const [what, lose] of [['without a connection', away], ['while its connection is lost', async () => {}]]) {
  test(`S-52, C-2: the token of a stream channel that is renewed ${what} is that of the return`, async () => {
    const world = new World(36, { calm: true });
    const presented = [];
    const logIn = world.logIn.bind(world);
    world.logIn = (socket, login, ...rest) => {
      presented.push(login.subscriptions.map(({ token }) => token));
      return logIn(socket, login, ...rest);
    };
    const client = world.client('alice');
    client.login();
    await world.pass(100);
    const stage = new StreamChannel(client, 'stage');
    stage.join({ token: 'first' });
    await world.pass(100);
    await lose(world);
    if (lose === away) await assert.rejects(stage.renewToken(7), { code: -10014 });
    const ends = [];
    stage.renewToken('second').then(() => ends.push('renewed'), ({ code }) => ends.push(code));
    await Promise.resolve();
    world.cut();
    world.isDown = false;
    await world.pass(60_000, () => client.state === 'connected');
    await world.pass(0);
    assert.deepEqual([ends, presented], [['renewed'], [[], ['second', '']]]);
  });
}

for (const [answer, shown] of [['first', ['first']], ['second', ['first', 'second']]]) {
  test(`S-53: a lost session asks twice before a provider whose token has expired (${answer}) ends it`, async () => {
    const { world, asked, presented, logInWith, client } = slowProvider(23);
    logInWith(client);
    await world.pass(100);
    asked[0].resolve('first');
    await world.pass(100);
    world.logIn = (socket, login, answer, refuse) => {
      presented.push(login.token);
      refuse(-10009);
    };
    [...world.sockets][0].push(0, 'disconnect', expired);
    await world.pass(100);
    asked[1].resolve(answer);
    await world.pass(100);
    assert.equal(client.state, 'disconnected');
    await world.pass(5000, () => asked.length === 3);
    asked[2].resolve(answer);
    await world.pass(100);
    assert.deepEqual([client.state, client.seen.at(-1).reasonCode, presented], ['failed', 'tokenExpired', shown]);
  });
}

test('without a provider an expired token ends the session', async () => {
  const world = new World(6, { calm: true });
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  [...world.sockets][0].push(0, 'disconnect', { code: 3506 });
  await world.pass(100);
  assert.deepEqual([client.state, client.seen.at(-1).reasonCode], ['failed', 'tokenExpired']);
});

test('what a server asks for is respected: a drain, and a time to stay away', async () => {
  const world = new World(7, { calm: true });
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  [...world.sockets][0].push(0, 'disconnect', { code: 3000, retryAfterMs: 1500 });
  const from = world.now;
  await world.pass(100);
  assert.equal(client.state, 'connecting');
  await world.pass(10_000, () => client.state === 'connected');
  assert.ok(world.now - from >= 1500 && world.now - from < 1700, `${world.now - from}`);
  [...world.sockets][0].push(0, 'disconnect', { code: 3006, retryAfterMs: 10_000 });
  await world.pass(9900);
  assert.equal(client.state, 'disconnected');
  await world.pass(1000, () => client.state === 'connected');
  assert.equal(client.state, 'connected');
});

test('a call that gets no answer ends in time, and one without a connection waits for the return', async () => {
  const world = new World(8, { calm: true });
  const client = world.client('alice', { heartbeatInterval: 60_000 });
  client.login();
  await world.pass(100);
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => (request.publish || request.whoNow ? undefined : serve(socket, request));
  const codes = [];
  client.publish('lobby', 'x').catch(({ code }) => codes.push(code));
  client.presence.whoNow('lobby').catch(({ code }) => codes.push(code));
  await world.pass(9900);
  assert.deepEqual(codes, []);
  await world.pass(200);
  assert.deepEqual(codes.sort(), [-11026, -13012]);
  world.serve = serve;
  world.cut();
  await world.pass(10_000, () => client.state === 'connecting');
  let receipt;
  client.publish('lobby', 'y').then((value) => (receipt = value));
  await world.pass(1000);
  assert.ok(receipt.offset > 0);
});

test('a publish whose answer was lost is sent again with its number, and the call ends well', async () => {
  const world = new World(9, { calm: true });
  const [alice, bob] = [world.client('alice'), world.client('bob')];
  alice.login();
  bob.login();
  await world.pass(100);
  bob.subscribe('lobby');
  await world.pass(100);
  const arrived = [];
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => {
    if (!request.publish) return serve(socket, request);
    const { sequence, again, epoch, ageMs } = request.publish;
    arrived.push({ sequence, again, epoch, isOld: ageMs > 0 });
    serve(socket, request);
    // The first time the answer doesn't arrive.
    return again ? undefined : socket.lose();
  };
  let receipt;
  alice.publish('lobby', 'once').then((value) => (receipt = value));
  await world.pass(5000);
  assert.ok(receipt.offset > 0);
  assert.deepEqual(arrived, [
    { sequence: 1, again: false, epoch: 0, isOld: false },
    { sequence: 1, again: true, epoch: 1, isOld: true },
  ]);
  assert.deepEqual(bob.seen.filter(({ type }) => type === 'message').map(({ payload }) => payload), ['once']);
});

test('a client that has logged out leaves no timer, which would keep a program of Node alive', async () => {
  const world = new World(14, { calm: true });
  const alice = world.client('alice');
  alice.login();
  await world.pass(1000, () => alice.state === 'connected');
  const published = alice.publish('lobby', 'x');
  await world.pass(100);
  await published;
  alice.close();
  // The server has two seconds to close the connection.
  await world.pass(2100);
  assert.equal(world.timers, 0);
});

test('calls that the server has put off end with the session, too', async () => {
  const world = new World(10, { calm: true });
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  const serve = world.serve.bind(world);
  world.serve = (socket, request) => {
    const refuse = (code) => socket.push(request.requestId, 'error', { code, reason: 'not now', retryAfterMs: 5000 });
    if (request.subscribe) return refuse(-11021);
    if (request.acquireLock) return refuse(-14002);
    if (request.publish) return refuse(-11024);
    return serve(socket, request);
  };
  const codes = [];
  const failed = ({ code }) => codes.push(code);
  client.subscribe('lobby').catch(failed);
  client.locks.acquire('lobby', 'turn', { wait: true }).catch(failed);
  client.publish('lobby', 'x').catch(failed);
  await world.pass(1000);
  assert.deepEqual(codes, []);
  [...world.sockets][0].push(0, 'disconnect', { code: 3508 });
  await world.pass(100);
  assert.equal(client.state, 'failed');
  assert.deepEqual(codes.sort(), [-10025, -10025, -11026]);
});

test('a subscribe and a lock that were put off are asked for again', async () => {
  const world = new World(11, { calm: true });
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  const serve = world.serve.bind(world);
  const asked = { subscribe: 0, acquireLock: 0 };
  world.serve = (socket, request) => {
    const kind = request.subscribe ? 'subscribe' : request.acquireLock ? 'acquireLock' : undefined;
    if (!kind) return serve(socket, request);
    if (asked[kind]++ === 0) {
      const code = request.subscribe ? -11021 : -14002;
      return socket.push(request.requestId, 'error', { code, reason: 'not now', retryAfterMs: 500 });
    }
    if (request.subscribe) return serve(socket, request);
    return socket.push(request.requestId, 'lockAcquired', { fencingToken: 7 });
  };
  const done = [];
  client.subscribe('lobby').then(({ channelName }) => done.push(channelName));
  client.locks.acquire('lobby', 'turn', { wait: true }).then(({ fencingToken }) => done.push(fencingToken));
  await world.pass(400);
  assert.deepEqual(done, []);
  await world.pass(400);
  assert.deepEqual(done, ['lobby', 7]);
});

test('K-12: locks are claimed before the channels, and a lost one is told before what they bring', async () => {
  const world = new World(13, { calm: true });
  const [alice, bob] = [world.client('alice'), world.client('bob')];
  alice.login();
  bob.login();
  await world.pass(100);
  const serve = world.serve.bind(world);
  const claimed = [];
  world.serve = (socket, request) => {
    const { requestId, acquireLock } = request;
    if (!acquireLock) return serve(socket, request);
    claimed.push(acquireLock.heldToken);
    if (acquireLock.heldToken === 0) return socket.push(requestId, 'lockAcquired', { fencingToken: 7 });
    return socket.push(requestId, 'error', { code: -14006, reason: 'somebody else has it' });
  };
  bob.subscribe('lobby');
  bob.locks.acquire('lobby', 'turn');
  await world.pass(100);
  [...world.sockets].find(({ user }) => user === 'bob').lose();
  alice.publish('lobby', 'meanwhile');
  await world.pass(5000, () => bob.state === 'connected');
  await world.pass(100);
  assert.deepEqual(claimed, [0, 7]);
  const back = bob.seen.findIndex(({ operation }) => operation === 'reconnected');
  const shown = bob.seen.slice(back).map(({ type, change, payload }) => payload ?? change ?? type);
  assert.deepEqual(shown, ['linkState', 'expired', 'meanwhile']);
});

test('a login that can’t be sent fails, and so do restorations without an answer', async () => {
  const world = new World(12, { calm: true });
  const big = world.client('alice');
  let error;
  big.login({ token: 'x'.repeat(50_000) }).catch((refusal) => (error = refusal));
  await world.pass(100);
  assert.deepEqual([error?.code, big.state], [-10014, 'failed']);
  const client = world.client('bob');
  client.login();
  await world.pass(100);
  client.subscribe('a');
  client.subscribe('b');
  await world.pass(100);
  const subscribe = world.subscribe.bind(world);
  world.subscribe = () => {};
  world.cut();
  await world.pass(14_000);
  assert.equal(client.state, 'disconnected');
  world.subscribe = subscribe;
  await world.pass(20_000, () => client.state === 'connected');
  assert.equal(client.state, 'connected');
});

/** A session that subscribes 'lobby', whose answer and these frames behind it come in one task: in one message, or in one for each. */
async function answeredTogether(seed, how, behind, isLost = false) {
  const world = new World(seed, { calm: true });
  world.subscribe = (socket, { channel }, requestId) => {
    const subscribed = { position: { epoch: 1, offset: 1 } };
    const all = [{ requestId, subscribed }, ...behind].map((body) => Buffer.from(frame('ServerFrame', body)));
    world.setTimeout(() => {
      for (const bytes of how === 'one message' ? [Buffer.concat(all)] : all) socket.onmessage?.({ data: Uint8Array.from(bytes).buffer });
      if (isLost) socket.lose();
    }, 5);
  };
  const client = world.client('alice');
  client.login();
  await world.pass(100);
  const seen = [];
  // Apps have functions of their own around the call.
  const subscribe = async (layers) => (layers > 0 ? subscribe(layers - 1) : client.subscribe('lobby'));
  const subscribed = subscribe(4).then(() => client.listen((event) => seen.push(event)));
  await world.pass(100);
  await subscribed;
  return { client, seen };
}

const said = (offset, text) => {
  const message = { type: 1, payload: new TextEncoder().encode(text) };
  return { requestId: 0, publication: { channelType: 1, channel: 'lobby', offset, publisher: 'bob', message } };
};

for (const how of ['one message', 'several messages']) {
  test(`who listens as soon as a subscribe is answered gets what stands behind the answer in ${how}`, async () => {
    const { seen } = await answeredTogether(50, how, [said(2, 'one'), said(3, 'two')]);
    assert.deepEqual(seen.map(({ payload }) => payload), ['one', 'two']);
  });

  test(`a connection that ends behind an answer in ${how} ends behind what it has said`, async () => {
    const disconnect = { code: 3507, reason: 'logged in elsewhere' };
    const { client, seen } = await answeredTogether(51, how, [said(2, 'one'), { requestId: 0, disconnect }], true);
    assert.equal(client.state, 'failed');
    assert.deepEqual(seen.map(({ payload, reasonCode }) => payload ?? reasonCode), ['one', 'sameUidLogin']);
  });
}

// The pure parts, each by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translated } from '../../Clients/web/src/agora-events.js';
import { RTMError } from '../../Clients/web/src/errors.js';
import { makeEventStream } from '../../Clients/web/src/events.js';
import { makeLink as makeLinkOf } from '../../Clients/web/src/link.js';
import { loss } from '../../Clients/web/src/losses.js';
import { numberOf } from '../../Clients/web/src/once.js';
import { makePacedPublishes } from '../../Clients/web/src/pacing.js';
import { makePublishes } from '../../Clients/web/src/publishes.js';
import { Roster } from '../../Clients/web/src/roster.js';
import { makeSubscriptions } from '../../Clients/web/src/subscriptions.js';
import { makeHeartbeat, steadyClock } from '../../Clients/web/src/time.js';

const kinds = (actions) => actions.map(([kind]) => kind);
const changes = (actions) =>
  actions
    .filter(([kind]) => kind === 'announce')
    .map(([, { currentState, operation, reasonCode }]) => [currentState, operation, reasonCode]);
const refused = (code, retryAfter) => loss('refused', 'no', { error: { code, retryAfter } });
const usual = { servers: ['ws://one'], reconnectTimeout: Infinity, requestTimeout: 10_000, random: () => 0.5 };
const makeLink = (options) => makeLinkOf({ ...usual, ...options });
const connected = (options) => {
  const link = makeLink(options);
  link.login('a', undefined, 0);
  link.accepted(1, 0);
  link.restored(1, { unrestored: [], interrupted: [] }, 0);
  return link;
};

test('T1, T2, T16: login and logout', () => {
  const link = makeLink();
  assert.deepEqual(changes(link.login('a', 't', 0)), [['connecting', 'login', 'login']]);
  link.accepted(1, 10);
  const actions = link.restored(1, { unrestored: [], interrupted: [] }, 20);
  assert.deepEqual(changes(actions), [['connected', 'login', 'loginSuccess']]);
  assert.deepEqual(actions.at(-1), ['login', 'a', null]);
  assert.deepEqual(kinds(link.logout()), ['sendLogout', 'announce', 'forget']);
  assert.deepEqual(link.logout(), []);
});

test('T3, T14: each refusal and each end has its reason', () => {
  for (const [code, reason] of [
    [-10003, 'loginNotAuthorized'],
    [-10005, 'invalidToken'],
    [-10009, 'tokenExpired'],
    [-10012, 'loginRejected'],
    [-10016, 'inconsistentAppId'],
    [-10022, 'serviceNotSupported'],
  ]) {
    const link = makeLink();
    link.login('a', undefined, 0);
    const actions = link.ended(1, refused(code), 1);
    assert.deepEqual(changes(actions), [['failed', 'serverReject', reason]]);
    assert.equal(actions.find(([kind]) => kind === 'login')[2].code, code);
  }
  for (const [code, reason] of [
    [3506, 'tokenExpired'],
    [3507, 'sameUidLogin'],
    [3508, 'kickedOutByServer'],
    [3999, 'kickedOutByServer'],
  ]) {
    assert.deepEqual(
      changes(connected().ended(1, loss('disconnect', 'x', { code }), 1)),
      [['failed', 'serverReject', reason]],
    );
  }
});

test('T4 to T6, T8, S-14: a loss is followed by attempts that are ever further apart', () => {
  const link = connected();
  assert.deepEqual(
    changes(link.ended(1, loss('heartbeat', 'x'), 0)),
    [['disconnected', 'heartbeatTimeout', 'keepAliveTimeout']],
  );
  const begun = [];
  for (let now = 0; now <= 120_000; now = link.deadline) {
    for (const [kind] of link.tick(now)) if (kind === 'connect') begun.push(now);
    if (link.state === 'connecting') link.ended(link.attempt, loss('error', 'slow'), now);
    if (link.state === 'suspended') break;
  }
  assert.deepEqual(begun, [2000, 6000, 14_000, 30_000, 62_000, 110_000]);
  assert.equal(link.state, 'suspended');
  // An event of an earlier attempt says nothing.
  assert.deepEqual(link.ended(1, loss('error', 'late'), 1), []);
});

test('R-9: a login that came too early fails; a session that comes back waits', () => {
  const link = connected();
  link.ended(1, loss('error', 'x'), 0);
  link.networkChanged(1);
  assert.deepEqual(
    changes(link.ended(2, refused(-10012, 7000), 2)),
    [['disconnected', 'autoReconnect', 'connectionError']],
  );
  assert.ok(link.deadline >= 7002);
});

test('S-6, S-7: a second login replaces the first; while connected it brings a token', () => {
  const link = makeLink();
  link.login('a', undefined, 0);
  const actions = link.login('b', undefined, 1);
  assert.equal(actions[0][2].code, -10023);
  assert.deepEqual(kinds(actions), ['login', 'disconnect', 'connect']);
  assert.deepEqual(connected().login('c', 'new', 0), [['renew', 'c', 'new']]);
  assert.deepEqual(connected().login('c', undefined, 0), [['login', 'c', null]]);
});

test('several servers are tried one after the other at once', () => {
  const link = makeLink({ servers: ['ws://one', 'ws://two', 'ws://three'] });
  link.login('a', undefined, 0);
  assert.deepEqual(link.ended(1, loss('error', 'x'), 1), [['disconnect'], ['connect', 2, 1]]);
  assert.deepEqual(link.ended(2, loss('error', 'x'), 2), [['disconnect'], ['connect', 3, 2]]);
  assert.deepEqual(changes(link.ended(3, loss('error', 'x'), 3)), [['disconnected', 'login', 'connectionError']]);
});

test('S-40: a heartbeat without an answer for ten seconds ends the connection; a sleep is asked about first', () => {
  const beat = makeHeartbeat({ interval: 5000, now: 0 });
  assert.equal(beat.tick(4999), undefined);
  assert.equal(beat.tick(5000), 'send');
  beat.received();
  assert.equal(beat.tick(10_000), 'send');
  assert.equal(beat.tick(15_000), 'send');
  assert.equal(beat.tick(20_000), 'lost');
  const slept = makeHeartbeat({ interval: 5000, now: 0 });
  assert.equal(slept.tick(5000), 'send');
  assert.equal(slept.tick(3_600_000), 'send');
  assert.equal(slept.deadline, 3_602_000);
  assert.equal(slept.tick(3_602_000), 'lost');
  const late = makeHeartbeat({ interval: 5000, now: 0 });
  assert.equal(late.tick(60_000), 'send');
  assert.equal(late.tick(200_000), 'lost');
});

const publish = (text) => ({ payload: new TextEncoder().encode(text) });

test('publishes are numbered, sent again with their number, and new ones wait behind a refused one', () => {
  const queue = makePublishes();
  const first = queue.add(1, '1/a', publish('1'), 7, 0, 1e4);
  const second = queue.add(2, '1/a', publish('2'), 7, 1, 1e4);
  assert.deepEqual([first.sequence, second.sequence], [1, 2]);
  queue.postpone(1, { code: -11024 });
  queue.postpone(2, { code: -11024 });
  assert.equal(queue.add(3, '1/a', publish('3'), 7, 2, 1e4), undefined);
  assert.equal(queue.add(4, '1/b', publish('4'), 7, 2, 1e4).sequence, 4);
  assert.deepEqual(
    queue.takePostponed(100).map(({ publish: { sequence, again } }) => [sequence, again]),
    [[1, true], [2, true]],
  );
  queue.remove(1);
  assert.deepEqual(queue.takeHeld(100), []);
  queue.remove(2);
  assert.deepEqual(
    queue.takeHeld(100).map(({ id, publish: { sequence, again } }) => [id, sequence, again]),
    [[3, 3, undefined]],
  );
  queue.lost();
  const { again, tooOld } = queue.takeLost(150_000, 120_000);
  assert.deepEqual([again.length, tooOld], [0, [3, 4]]);
});

test('after a loss everything unanswered goes again, with its age and the epoch of its time', () => {
  const queue = makePublishes();
  queue.add(1, '1/a', publish('1'), 7, 0, 1e4);
  queue.add(2, '1/a', publish('2'), 8, 10, 1e4);
  queue.lost();
  const { again } = queue.takeLost(1010, 120_000);
  assert.deepEqual(
    again.map(({ publish: { sequence, again, epoch, ageMs } }) => [sequence, again, epoch, ageMs]),
    [[1, true, 7, 1011], [2, true, 8, 1001]],
  );
});

test('M-26: what may have had its effect says so', () => {
  const outcome = (code, more) => new RTMError(code, '', more).outcome;
  assert.equal(outcome(-11026), 'unknown');
  assert.equal(outcome(-11024), 'unknown');
  assert.equal(outcome(-11024, { retryAfter: 100 }), 'notDone');
  assert.equal(outcome(-11025, { operation: 'publish' }), 'notDone');
  assert.equal(outcome(-11037), 'done');
  assert.equal(outcome(-13012, { operation: 'setState' }), 'unknown');
  assert.equal(outcome(-13012, { operation: 'whoNow' }), 'notDone');
  assert.equal(outcome(-10025, { outcome: 'unknown' }), 'unknown');
});

test('M-42: a message with an id has the number that every client makes of it, and is always a repetition', () => {
  assert.equal(numberOf('payment-17'), 6_117_057_995_805_444);
  const queue = makePublishes();
  const named = (sentAt) => ({ ...publish('x'), origin: 5, sequence: 1, first: { sentAt, epoch: 7 } });
  const { again, ageMs, epoch, sequence } = queue.add(1, '1/a', named(0), 8, 100, 1e4);
  assert.deepEqual([again, ageMs, epoch, sequence], [true, 101, 7, 1]);
  assert.equal(queue.add(2, '1/a', publish('y'), 8, 100, 1e4).sequence, 1);
  queue.postpone(2, { code: -11024 });
  assert.equal(queue.add(3, '1/a', named(0), 8, 130_000, 1e4), undefined);
  queue.remove(1);
  queue.remove(2);
  assert.deepEqual(queue.takeHeld(130_000).map(({ id, publish: { ageMs } }) => [id, ageMs]), [[3, 130_001]]);
  // Its age is that of the message, and not how long this call has waited.
  queue.lost();
  assert.deepEqual(queue.takeLost(140_000, 120_000).tooOld, []);
});

test('P-41: the own entry of a snapshot has what the client has set, and an own join takes nothing from it', () => {
  const roster = new Roster('me');
  roster.begin(1);
  const users = [{ userId: 'me', items: [{ key: 'old', value: '1' }] }, { userId: 'ann', items: [] }];
  const [snapshot] = roster.snapshot({ position: { epoch: 1, offset: 5 }, users, more: false }, { seat: '1' });
  const own = { userId: 'me', states: { old: '1', seat: '1' } };
  assert.deepEqual(snapshot.users, [own, { userId: 'ann', states: {} }]);
  assert.deepEqual(roster.event(6, 'me', { type: 3 }), []);
  assert.deepEqual(roster.list()[0], own);
  // A quiet user isn't listed.
  const quiet = { position: { epoch: 1, offset: 8 }, users: [], more: false };
  assert.deepEqual(roster.snapshot(quiet, { seat: '1' })[0].users, []);
});

test('P-46: who comes with states is shown with them, in one event', () => {
  const roster = new Roster('me');
  const states = { items: [{ key: 'seat', value: '1' }], removed: [], whole: true };
  const empty = { items: [], removed: [], whole: false };
  const joined = { change: 'joined', userId: 'ann', states: { seat: '1' } };
  // Nobody is known before a snapshot.
  assert.deepEqual(roster.event(1, 'ann', { type: 3, states: empty }), []);
  assert.deepEqual(roster.event(2, 'ann', { type: 6, states }), [joined]);
  roster.snapshot({ position: { epoch: 1, offset: 2 }, users: [], more: false });
  assert.deepEqual(roster.event(3, 'ann', { type: 3, states: empty }), []);
  assert.deepEqual(roster.list(), []);
  assert.deepEqual(roster.event(4, 'ann', { type: 6, states }), [joined]);
  assert.deepEqual(roster.list(), [{ userId: 'ann', states: { seat: '1' } }]);
  // What is set later is an event of its own, and another event shows a join whose states are missing.
  assert.deepEqual(roster.event(5, 'ann', { type: 6, states })[0].change, 'stateChanged');
  assert.deepEqual(roster.event(6, 'ben', { type: 3, states: empty }), []);
  assert.deepEqual(roster.event(7, 'ann', { type: 4 }), [
    { change: 'joined', userId: 'ben' },
    { change: 'left', userId: 'ann' },
  ]);
  // A snapshot has who comes.
  assert.deepEqual(roster.event(8, 'ann', { type: 3, states: empty }), []);
  roster.snapshot({ position: { epoch: 1, offset: 9 }, users: [{ userId: 'ann', items: states.items }], more: false });
  assert.deepEqual(roster.event(9, 'ann', { type: 6, states }), []);
  assert.deepEqual(roster.event(10, 'ann', { type: 4 }), [{ change: 'left', userId: 'ann' }]);
});

test('P-46: apps of the vendor get the states of who comes with the join, and in an event of their own', () => {
  const about = { type: 'presence', channelType: 'message', channelName: 'room', change: 'joined', userId: 'ann' };
  const shown = (event) => translated(event).map(([, { eventType, publisher, stateChanged }]) => [eventType, publisher, stateChanged]);
  const states = { seat: '1' };
  assert.deepEqual(shown({ ...about, states }), [
    ['REMOTE_JOIN', 'ann', states],
    ['REMOTE_STATE_CHANGED', 'ann', states],
  ]);
  assert.deepEqual(shown(about), [['REMOTE_JOIN', 'ann', {}]]);
});

test('R-2: publishes stay below the rate, in their order, and what would wait too long is refused', () => {
  const queue = makePacedPublishes();
  queue.pace({ targetMessages: 60, sessionMessages: 0, sessionBytes: 0, topicMessages: 0 }, 0);
  const sent = [];
  for (let id = 1; id <= 120; id++) if (queue.add(id, '1/a', publish('x'), 0, 0, 1e6)) sent.push(id);
  assert.ok(sent.length > 30 && sent.length < 60, `${sent.length} at once`);
  let last = 0;
  for (let now = 0; sent.length < 120; now = queue.nextDue) {
    assert.ok(now >= last);
    last = now;
    sent.push(...queue.takeDue(now, 0).map(({ id }) => id));
  }
  assert.deepEqual(sent, Array.from({ length: 120 }, (_, index) => index + 1));
  assert.ok(last > 1200 && last < 1600, `${last} ms for 120`);
  assert.equal(queue.add(200, '1/a', publish('x'), 0, last, last).code, -11025);
});

test('a roster shows each change once, and what a snapshot contains not at all', () => {
  const roster = new Roster('me');
  const user = (userId, states = {}) => ({
    userId,
    items: Object.entries(states).map(([key, value]) => ({ key, value })),
  });
  const position = { epoch: 1, offset: 10 };
  roster.begin(1);
  assert.deepEqual(roster.snapshot({ position, users: [user('a', { k: 'v' })], more: true }), []);
  assert.deepEqual(roster.event(9, 'a', { type: 4 }), []);
  assert.deepEqual(roster.event(12, 'c', { type: 3 }), []);
  const shown = roster.snapshot({ position, users: [user('b')], more: false });
  assert.deepEqual(shown.map(({ change, userId }) => [change, userId]), [['snapshot', undefined], ['joined', 'c']]);
  assert.deepEqual(roster.event(10, 'b', { type: 4 }), []);
  const states = { items: [{ key: 'x', value: '1' }], removed: ['k'], whole: false };
  assert.deepEqual(
    roster.event(13, 'a', { type: 6, states }),
    [{ change: 'stateChanged', userId: 'a', states: { x: '1' } }],
  );
  assert.deepEqual(roster.event(14, 'b', { type: 3 }), []);
  assert.deepEqual(roster.event(15, 'nobody', { type: 5 }), []);
  const interval = {
    joined: ['d'],
    left: ['b'],
    timedOut: ['c'],
    states: [{ userId: 'd', items: [{ key: 'y', value: '2' }], removed: [], whole: true }],
  };
  const [collected] = roster.event(16, '', { type: 2, interval });
  assert.deepEqual([collected.occupancy, collected.interval.states], [2, [{ userId: 'd', states: { y: '2' } }]]);
});

test('a slow reader loses the oldest events, and is told how many', async () => {
  const stream = makeEventStream(() => {}, { capacity: 2 });
  for (const number of [1, 2, 3, 4]) stream.push({ number });
  assert.deepEqual((await stream.next()).value, { type: 'overflow', dropped: 2 });
  assert.equal((await stream.next()).value.number, 3);
  const waiting = [stream.next(), stream.next()];
  stream.push({ number: 5 });
  stream.end();
  assert.deepEqual((await Promise.all(waiting)).map(({ value }) => value?.number), [4, 5]);
  assert.equal((await stream.next()).done, true);
});

test('the clock goes on in a sleep, and never back', () => {
  const wall = { time: 1e12, now: () => wall.time };
  const steady = { time: 0, now: () => steady.time };
  const now = steadyClock(wall, steady);
  steady.time += 100;
  wall.time += 101;
  assert.equal(now(), 100);
  wall.time += 3_600_000;
  assert.equal(now(), 100 + 3_600_001);
  wall.time -= 7_200_000;
  steady.time += 50;
  assert.equal(now(), 150 + 3_600_001);
});

test('an entry of a log is taken once, and only of what is subscribed', () => {
  const subscriptions = makeSubscriptions();
  const entry = subscriptions.begin({ type: 1, name: 'a', key: '1/a' }, { features: 5 });
  const at = (offset, channel = 'a') => subscriptions.accepts({ channelType: 1, channel, offset });
  assert.equal(at(1), false);
  subscriptions.confirm(entry, { position: { epoch: 1, offset: 10 } });
  assert.deepEqual([at(10), at(12), at(12), at(11), at(13), at(14, 'b')], [false, true, false, false, true, false]);
  assert.deepEqual(subscriptions.offer(0)[0].position, { epoch: 1, offset: 13 });
  const gap = subscriptions.skip({ channelType: 1, channel: 'a', position: { epoch: 2, offset: 3 } });
  assert.deepEqual(gap, { lastSeen: { epoch: 1, offset: 13 }, continuesAfter: { epoch: 2, offset: 3 } });
  assert.deepEqual([at(3), at(4)], [false, true]);
});

test('a login takes along what fits, and stream channels before their topics', () => {
  const subscriptions = makeSubscriptions();
  const add = (type, name) => {
    const entry = subscriptions.begin({ type, name, key: `${type}/${name}` }, { features: 1 });
    subscriptions.confirm(entry, { position: { epoch: 1, offset: 1 } });
    return entry;
  };
  const stage = add(2, 'stage');
  add(4, 'stage');
  add(5, 'stage/chat');
  add(2, 'other');
  assert.deepEqual(subscriptions.offer(0).map(({ key }) => key), ['2/stage', '4/stage', '5/stage/chat', '2/other']);
  assert.deepEqual([subscriptions.remove(stage), subscriptions.remove(stage)], [true, false]);
  for (let index = 0; index < 600; index++) add(1, `channel ${index}`);
  assert.equal(subscriptions.offer(0).length, 500);
  assert.ok(subscriptions.offer(30_000).length < 110);
  assert.equal(subscriptions.offer(40_000).length, 0);
});

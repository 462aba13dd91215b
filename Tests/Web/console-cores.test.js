// The console without a browser: its sources, its calls and their commands, and the window of its logs.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as calls from '../../Services/Gateway/Console/calls.js';
import { readiness } from '../../Services/Gateway/Console/nodes.js';
import { endOf } from '../../Services/Gateway/Console/tail.js';
import { RateWindow } from '../../Services/Gateway/Console/window.js';

const folder = new URL('../../Services/Gateway/Console/', import.meta.url);
const source = (name) => readFileSync(new URL(name, folder), 'utf8');
const files = readdirSync(folder);

test('it has no dependency and no build step, and makes no markup out of text', () => {
  for (const name of files.filter((file) => file.endsWith('.js'))) {
    const text = source(name);
    for (const [, from] of text.matchAll(/(?:^import .* from |\bimport\()'(.*?)'/gm)) assert.match(from, /^\.\/(client\/)?[\w-]+\.js$/, name);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage|sessionStorage/, name);
    assert.doesNotMatch(text, /setAttribute\('style'|style:/, name);
  }
  assert.doesNotMatch(source('index.html'), /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/);
});

test('every call is one of the public API', () => {
  const description = readFileSync(new URL('../../docs/http/openapi.yaml', import.meta.url), 'utf8');
  const given = { channel: 'c', user: 'u', name: 'n', to: 'u', key: 'k', value: 'v', revision: 1, owner: 'o', offset: 1 };
  const parameters = { channels: '{channel}', users: '{user}', locks: '{lock}', webhooks: '{webhook}' };
  const missing = [];
  for (const [name, make] of Object.entries(calls)) {
    if (['pathOf', 'shellWord', 'asCurl', 'asRtm'].includes(name)) continue;
    const { method = 'GET', path, isGlobal } = make(given);
    const template = path.map((segment, index) => (index === 1 && !isGlobal ? parameters[path[0]] ?? segment : segment));
    const start = description.indexOf(`\n  /v1/${isGlobal ? '' : '{app}/'}${template.join('/')}:\n`);
    const end = description.indexOf('\n  /', start + 1);
    if (start < 0 || !description.slice(start, end).includes(`\n    ${method.toLowerCase()}:`)) missing.push(name);
  }
  assert.deepEqual(missing, []);
});

test('a command means the same in a shell, whatever a name has in it', () => {
  const nasty = ["$(touch /tmp/no)`id`;'\"| &<>!\\", '-x', "it's", 'a b', '~', '#'];
  for (const name of nasty) {
    const printed = (command) => execFileSync('sh', ['-c', `show() { printf '%s\\n' "$@"; }; show ${command}`], { encoding: 'utf8' });
    const call = calls.publish({ channel: name, message: name });
    const curl = calls.asCurl('http://gateway', 'dev', call).replace('"Authorization: Bearer $RTM_API_KEY"', 'key');
    assert.deepEqual(JSON.parse(printed(curl).trimEnd().split('\n').at(-1)), { channel: name, message: name });
    const rtm = printed(calls.asRtm('http://gateway', 'dev', call)).trimEnd().split('\n');
    assert.deepEqual(rtm.slice(-2), [name, name]);
    assert.equal(rtm.includes('--'), name.startsWith('-'));
    const path = calls.pathOf('dev', calls.user({ user: name }));
    assert.equal(decodeURIComponent(path.split('/').at(-1)), name);
    assert.equal(new URL(path, 'http://gateway').pathname, path);
  }
});

test('a form without its names gives no command', () => {
  for (const make of [calls.asCurl, calls.asRtm]) {
    assert.throws(() => make('http://gateway', 'dev', calls.ban({ seconds: 60 })), /Fill in the form first/);
  }
});

test('what is left empty in a form is left out of the command', () => {
  for (const [name, make] of Object.entries(calls)) {
    if (['pathOf', 'shellWord', 'asCurl', 'asRtm'].includes(name)) continue;
    const call = make({ channel: 'c', user: 'u', name: 'n', message: 'm', key: 'k', value: 'v', revision: 1, owner: 'o', offset: 1 });
    for (const command of [calls.asCurl('http://gateway', 'dev', call), calls.asRtm('http://gateway', 'dev', call)]) {
      assert.doesNotMatch(`${command ?? ''}`, /undefined|null|NaN/, name);
    }
  }
});

test('a user who is called like a folder is refused, not resolved; commands can name that user', () => {
  for (const user of ['.', '..']) {
    const call = calls.kick({ user });
    assert.throws(() => calls.pathOf('dev', call), /browsers resolve it/);
    assert.match(calls.asCurl('http://gateway', 'dev', call), new RegExp(`^curl --path-as-is .*/v1/dev/users/${user}/kick `));
    assert.equal(calls.asRtm('http://gateway', 'dev', call), `rtm user kick --app-id=dev --gateway=http://gateway ${user}`);
  }
});

test('a command of rtm names the gateway, or the edge for what a user does', () => {
  const edge = 'wss://edge/rtm';
  const given = { channel: 'c', user: 'u', name: 'n', to: 'u', key: 'k', value: 'v', revision: 1, owner: 'o', offset: 1, seconds: 1, message: 'm' };
  for (const [name, make] of Object.entries(calls)) {
    if (['pathOf', 'shellWord', 'asCurl', 'asRtm'].includes(name)) continue;
    const command = calls.asRtm('http://gateway', 'dev', make(given), edge);
    // A token is made without a server.
    if (command && name !== 'token') assert.match(command, / --(gateway=http:\/\/gateway|server=wss:\/\/edge\/rtm)( |$)/, name);
  }
  assert.equal(calls.asRtm('http://gateway', 'dev', calls.locks({ channel: 'c' })), 'rtm lock list --app-id=dev c', 'no edge is known');
});

test('no command logs in as a user of the app, whose session would end', () => {
  for (const call of [calls.publish({ channel: 'c', message: 'm', publisher: 'ann' }), calls.history({ user: 'ann' })]) {
    assert.equal(calls.asRtm('http://gateway', 'dev', call), undefined);
  }
});

test('commands carry no key', () => {
  const text = calls.asCurl('http://gateway', 'dev', calls.kick({ user: 'ann', reason: 'spam' }));
  assert.equal(text, `curl -X POST http://gateway/v1/dev/users/ann/kick -H "Authorization: Bearer $RTM_API_KEY" -d '{"reason":"spam"}'`);
  assert.equal(
    calls.asRtm('http://gateway', 'dev', calls.ban({ user: 'ann', seconds: 60, reason: 'a b' })),
    "rtm user ban --for=60s --reason='a b' --app-id=dev --gateway=http://gateway ann",
  );
});

test('how many nodes are well is a sentence, of one and of several', () => {
  const [well, waiting, away] = [{ ready: true }, { ready: false }, { unreachable: 'no answer' }];
  assert.equal(readiness([well]), '1 node. It is ready.');
  assert.equal(readiness([well, well]), '2 nodes. All are ready.');
  assert.equal(readiness([well, waiting]), '2 nodes. 1 is not ready.');
  assert.equal(readiness([away, waiting, waiting]), "3 nodes. 1 can't be asked, 2 are not ready.");
});

test('a tail notices that its channel was not restored, and knows it from a gap', () => {
  const endsAt = endOf('lobby');
  const link = (...unrestoredChannels) => ({ type: 'linkState', unrestoredChannels });
  assert.equal(endsAt(link()), false);
  assert.equal(endsAt({ type: 'gap' }), false);
  assert.equal(endsAt(link('lobby')), false, 'it continues behind the gap');
  assert.equal(endsAt({ type: 'message' }), false);
  assert.equal(endsAt(link('another')), false);
  assert.equal(endsAt(link('lobby')), true);
});

test('a window shows the newest at its rate, and counts all others', () => {
  const window = new RateWindow({ perSecond: 10, now: 0 });
  for (let item = 0; item < 322; item++) window.push(item);
  assert.deepEqual(window.take(0), { left: 312, items: [312, 313, 314, 315, 316, 317, 318, 319, 320, 321] });
  window.push('soon');
  assert.deepEqual(window.take(50), { left: 0, items: [] }, 'the second is not over');
  assert.deepEqual(window.take(100), { left: 0, items: ['soon'] });
  window.pause();
  for (let item = 0; item < 5; item++) window.push(item);
  assert.deepEqual(window.take(2000), { left: 0, items: [] });
  window.resume();
  window.push('again');
  assert.deepEqual(window.take(3000), { left: 5, items: ['again'] });
  assert.deepEqual([window.received, window.shown, window.hidden], [329, 12, 317]);
});

test('whatever comes when, nothing is lost from the counts or from the order', () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let run = 0; run < 200; run++) {
    const window = new RateWindow({ perSecond: 1 + random(50), now: 0 });
    let now = 0;
    let next = 0;
    let accounted = 0;
    for (let step = 0; step < 60; step++) {
      for (let count = random(80); count > 0; count--) window.push(next++);
      if (random(10) === 0) window.pause();
      else window.resume();
      if (random(15) === 0) window.changeRate(1 + random(50));
      now += random(700);
      const { left, items } = window.take(now);
      accounted += left;
      assert.deepEqual(items, items.map((_, index) => accounted + index), 'in their order, behind what was left out');
      accounted += items.length;
    }
    window.resume();
    now += 2_000_000;
    const { left, items } = window.take(now);
    assert.equal(accounted + left + items.length, next, 'each was shown or counted');
    assert.equal(window.shown + window.hidden, window.received);
  }
});

// The console in headless Chromium, in front of a real system: the main path of each page, what it refuses, attackers, and
// people who use a keyboard, a screen reader or a telephone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { check } from './support/accessibility.js';
import { chromium } from './support/browser.js';
import { fresh, loggedIn } from './support/clients.js';
import * as calls from '../../Services/Gateway/Console/calls.js';
import { output, shell } from './support/programs.js';
import { certified, startOperator } from './support/operator.js';

const skip = chromium ? false : 'there is no Chromium: apt-get install chromium';
/** What must never become more than text. */
const markup = '<img src=x onerror="globalThis.broken = true"><script>globalThis.broken = true</script>';
const pages = ['overview', 'inspector', 'tail', 'top', 'explain', 'events', 'webhooks', 'storage', 'keys', 'configuration'];

let operator;
before(async () => {
  if (skip) return;
  // The tail gets 10,000 messages a second, from one key and in one session.
  operator = await startOperator({ 'gateway-rates-key': 0, 'gateway-rates-app': 0 });
});
after(() => operator?.stop());

const publish = (channel, message, more = {}) => operator.backend('POST', '/publish', { channel, message, ...more });

async function opened(t, ...where) {
  const tab = await operator.open(...where);
  t.after(() => tab.close());
  return tab;
}

// MARK: Sessions

test('a key becomes a session, which scripts, addresses and the page know nothing of', { skip }, async (t) => {
  const { site, keys } = operator;
  const tab = await opened(t, '', {}, 'rtmk_wrong');
  await tab.shows('Refused');
  await tab.login(keys.admin.secret);
  await tab.until("document.querySelector('h1').textContent === 'Overview'");
  await tab.settled();
  const everywhere = await tab.evaluate(
    "document.documentElement.outerHTML + location.href + document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + [...document.querySelectorAll('input')].map((one) => one.value)",
  );
  assert.ok(!everywhere.includes('rtmk_4') && !everywhere.includes(keys.admin.secret.slice(-20)));
  // Beside the cookie, which the browser sends by itself.
  const carrying = site.requests.filter(({ path, body, headers: { cookie, ...headers } }) => JSON.stringify({ path, body, headers }).includes(keys.admin.secret));
  assert.deepEqual([...new Set(carrying.map(({ method, path }) => `${method} ${path}`))], ['POST /console/session']);
  await tab.send('Page.reload');
  await tab.until("document.querySelector('h1')?.textContent === 'Overview'");
  await tab.press('Log out');
  await tab.shows('You have logged out');
  assert.equal(await tab.evaluate("fetch('/console/session').then(({ status }) => status)"), 401);
});

test('a session that ended leads to the login, and from there back to the page', { skip }, async (t) => {
  const tab = await opened(t, 'keys');
  await tab.forget();
  await tab.evaluate("location.hash = '#/dev/events'");
  await tab.shows('The session has ended');
  await tab.login(operator.keys.admin.secret);
  await tab.until("document.querySelector('h1').textContent === 'Events'");
});

test('a gateway that is away: a page says so, and a logout that did not reach it does not claim to be one', { skip }, async (t) => {
  const tab = await opened(t, 'keys');
  const offline = (isOffline) =>
    tab.send('Network.emulateNetworkConditions', { offline: isOffline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await offline(true);
  await tab.evaluate("location.hash = '#/dev/storage?channel=c'");
  await tab.shows('No answer: The gateway did not answer.');
  await tab.press('Log out');
  await tab.shows('You may still be logged in');
  await offline(false);
  await tab.send('Page.reload');
  await tab.until("document.querySelector('h1')?.textContent.startsWith('Storage')");
});

test('what takes long is announced as loading', { skip }, async (t) => {
  const tab = await opened(t, 'overview');
  await tab.evaluate('{ const slow = globalThis.fetch; globalThis.fetch = async (...asked) => { await new Promise((resolve) => (globalThis.answer = resolve)); return slow(...asked); } }');
  await tab.evaluate("location.hash = '#/dev/configuration'");
  await tab.shows('Loading …');
  await tab.evaluate('answer()');
  await tab.until("!document.querySelector('main').innerText.includes('Loading')");
});

test('when to come back is said in seconds, whether the gateway or an edge asks for it', { skip }, async (t) => {
  const tab = await opened(t, 'overview');
  const text = (error) => tab.evaluate(`import('/console/view.js').then(({ refusal }) => refusal(${JSON.stringify(error)}).textContent)`);
  assert.match(await text({ status: 429, reason: 'slowly', retryAfter: 2 }), /^Refused: slowly again in 2 s$/);
  assert.match(await text({ name: 'RTMError', reason: 'slowly', retryAfter: 500 }), /again in 0.5 s$/);
});

test('a tab whose session another tab has replaced does nothing under the other key', { skip }, async (t) => {
  const user = fresh('replaced');
  const tab = await opened(t, 'inspector', { user });
  await tab.evaluate(`fetch('/console/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ key: ${JSON.stringify(operator.keys.some.secret)} }) }).then(() => 1)`);
  await tab.unfold('Lift a ban');
  await tab.press('Unban');
  await tab.shows('Another tab has logged in. Nothing was done');
});

// MARK: Pages

// First, because later ones leave events that the receiver has to get before.
test('webhooks: a test, the attempts, a dead letter, and sending again', { skip }, async (t) => {
  const { receiver } = operator;
  const channel = fresh('refused');
  const tab = await opened(t, 'webhooks', { name: 'orders' });
  await tab.shows(receiver.url);
  await tab.press('Send a test event');
  await tab.shows('200 after');
  receiver.refuses = (body) => body.includes(channel);
  receiver.answer = markup;
  await publish(channel, 'not taken');
  for (let end = Date.now() + 10_000; !(await tab.shown()).includes('answered with 400'); await tab.press('Refresh')) {
    assert.ok(Date.now() < end, 'the attempt is not listed');
    await tab.settled();
  }
  // It is given up after 10 seconds. Others are taken meanwhile: if all were refused, that would be an outage.
  let letters = [];
  for (let end = Date.now() + 60_000; letters.length === 0 && Date.now() < end; ) {
    await publish('others', 'taken');
    await new Promise((resolve) => setTimeout(resolve, 500));
    ({ letters } = await operator.backend('GET', '/webhooks/orders/dead-letters'));
  }
  await tab.go('webhooks');
  await tab.go('webhooks', { name: 'orders' });
  await tab.shows('not taken');
  receiver.refuses = () => false;
  await tab.press('Send again from here');
  await tab.press('Send again what follows');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('It continues behind');
  for (let end = Date.now() + 60_000; !receiver.bodies.some((body) => body.includes(channel)); ) {
    assert.ok(Date.now() < end, 'the receiver has not got it');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(await tab.evaluate('globalThis.broken'), undefined);
  await tab.fill('Cursor', 'no cursor');
  await tab.press('Send again what follows');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('Refused');
});

test('the overview counts what the app has, and filters channels on the server', { skip }, async (t) => {
  const [one, two] = [fresh('overview-a'), fresh('overview-b')];
  for (const channel of [one, two]) await publish(channel, 'hi');
  const tab = await opened(t, 'overview');
  await tab.shows('Channels in memory');
  await tab.shows(one);
  await tab.fill('Begins with', two);
  const before = operator.site.requests.length;
  await tab.press('Filter');
  await tab.shows('1 with this prefix');
  assert.ok(!(await tab.shown()).includes(one));
  assert.ok(operator.site.requests.slice(before).some(({ path }) => path.includes(`prefix=${two}`)));
});

test('the overview shows each node, with rates, and what went wrong lately', { skip }, async (t) => {
  await publish(fresh('counted'), 'hi');
  const tab = await opened(t, 'overview');
  await tab.shows('1 node. It is ready.');
  await tab.shows('rtm-standalone');
  await tab.shows('Last incidents');
  // The second answer comes with what happened since the first.
  await tab.until("/\\d+ %/.test(document.querySelector('td[data-title=CPU]').textContent)");
  const reader = await opened(t, 'overview', {}, operator.keys.reader.secret);
  await reader.shows('Channels in memory');
  assert.ok(!(await reader.shown()).includes('Last incidents'));
});

test('the configuration: what was set, all of it by what it begins with, and not for a key of one app', { skip }, async (t) => {
  const tab = await opened(t, 'configuration');
  await tab.shows('gateway.rates.key');
  assert.ok(!(await tab.shown()).includes('edge.connections.max'));
  await tab.fill('Begins with', 'edge.connections');
  await tab.evaluate("document.querySelector('[name=which]').value = 'all'");
  await tab.press('Filter');
  await tab.shows('edge.connections.max');
  assert.ok(!(await tab.shown()).includes('gateway.rates.key'));
  const reader = await opened(t, 'configuration', {}, operator.keys.reader.secret);
  await reader.shows('it needs a key for all of them');
});

test('10,000 channels: a page of them comes at once, the next follows, and so does the one before', { skip }, async (t) => {
  for (let part = 0; part < 10; part++) {
    const messages = Array.from({ length: 1000 }, (_, index) => ({ channel: `many-${String(part * 1000 + index).padStart(5, '0')}`, message: 'x' }));
    assert.equal((await operator.backend('POST', '/batch', { messages })).status, 200);
  }
  const tab = await opened(t, 'inspector', { q: 'many-' });
  await tab.shows('10,000 with this prefix');
  await tab.shows('many-00049');
  await tab.press('Next page');
  await tab.shows('many-00099');
  assert.ok(!(await tab.shown()).includes('many-00049'));
  await tab.press('Previous page');
  await tab.shows('many-00049');
  const times = [];
  for (const page of [...pages, ...pages]) {
    const from = performance.now();
    await tab.go(page, page === 'inspector' ? { q: 'many-' } : {});
    times.push(`${page} ${Math.round(performance.now() - from)}`);
  }
  t.diagnostic(`from the address to the whole page, in ms: ${times.slice(pages.length).join(', ')}`);
});

test('the inspector: from a search to a channel, a message in it, and its publisher', { skip }, async (t) => {
  const channel = fresh('inspected');
  const ann = await loggedIn(t, operator.server.url, { userId: fresh('ann') });
  await ann.subscribe(channel);
  await ann.presence.setState(channel, { mood: 'good' });
  const tab = await opened(t, 'overview');
  await tab.evaluate(`document.querySelector('header [name=q]').value = '${channel}'; document.querySelector('[role=search]').requestSubmit()`);
  await tab.shows('Exactly this');
  await tab.evaluate(`[...document.querySelectorAll('main a')].find((one) => one.textContent === 'channel ${channel}').click()`);
  await tab.shows('mood=good');
  await tab.unfold('Publish a message');
  assert.match(await tab.shown(), /survives a restart/);
  await tab.fill('Message', 'from the console');
  await tab.fill('Custom type', 'note');
  await tab.fill('Keep it in the history', true);
  await tab.press('Publish');
  await tab.shows('Published at offset');
  await ann.until(({ payload }) => payload === 'from the console');
  await tab.until("[...document.querySelectorAll('tbody td')].some((one) => one.textContent === 'from the console')");
  await tab.unfold('Remove stored messages');
  await tab.fill('Older than', '2000-01-01T00:00');
  await tab.press('Remove for good');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('0 messages removed.');
  const { offset } = ann.seen.find(({ type }) => type === 'message');
  await tab.evaluate(`document.querySelector('header [name=q]').value = '${channel}@${offset}'; document.querySelector('[role=search]').requestSubmit()`);
  await tab.evaluate(`[...document.querySelectorAll('main a')].find((one) => one.textContent.startsWith('message ')).click()`);
  await tab.shows('from the console');
  await tab.shows('accepted');
  return undefined;
});

test('the inspector: a session is found by its number', { skip }, async (t) => {
  const user = fresh('session-of');
  await loggedIn(t, operator.server.url, { userId: user });
  const { connections } = await operator.backend('GET', `/users/${user}`);
  const tab = await opened(t, 'inspector', { q: connections[0].session });
  await tab.until("document.querySelector('main .links a[href*=\"session=\"]')");
  await tab.evaluate("document.querySelector('main .links a[href*=\"session=\"]').click()");
  await tab.until(`document.querySelector('h1').textContent === 'Session of ${user}'`);
  await tab.shows(connections[0].session);
  await tab.unfold('Send a message');
  await tab.fill('Message', 'only for you');
  await tab.press('Send');
  await tab.shows('Published at offset');
  await tab.evaluate("document.querySelector('.outcome a').click()");
  await tab.until("document.querySelector('h1').textContent.startsWith('Message ')");
  await tab.shows('accepted');
  await tab.go('inspector', { q: '111111111111111111' });
  await tab.shows('No session that is connected has this number');
});

test('slow and loud: who publishes and who is refused, with a link to each', { skip }, async (t) => {
  const channel = fresh('busy');
  const [ann, ben] = [await loggedIn(t, operator.server.url, { userId: fresh('loud') }), await loggedIn(t, operator.server.url, { userId: fresh('reads') })];
  await ben.subscribe(channel);
  await assert.rejects(ben.publish('not a\u0001name', 'x'));
  let isEnded = false;
  const publishing = (async () => {
    for (; !isEnded; await new Promise((resolve) => setTimeout(resolve, 20))) await ann.publish(channel, markup);
  })();
  const tab = await opened(t, 'top');
  await tab.shows('were watched for');
  isEnded = true;
  await publishing;
  const rows = (caption) => tab.evaluate(`[...document.querySelectorAll('main table')].find((one) => one.caption.textContent === '${caption}').tBodies[0].innerText`);
  assert.match(await rows('Busiest channels'), new RegExp(channel));
  assert.match(await rows('Loudest publishers'), new RegExp(ann.userId));
  assert.match(await rows('Refused most'), new RegExp(ben.userId));
  await tab.shows('Nothing waits for anybody.');
  const before = operator.site.requests.length;
  await tab.fill('Rows', '1');
  await tab.fill('Watch for', '250ms');
  await tab.press('Measure');
  await tab.until("/for 2\\d\\d ms/.test(document.querySelector('main').innerText)");
  assert.ok(operator.site.requests.slice(before).some(({ path }) => path.endsWith('/top?limit=1&for=250ms')));
  await tab.evaluate("document.querySelector('main table a').click()");
  await tab.until("document.querySelector('h1').textContent.startsWith('Session of ') || document.querySelector('h1').textContent.startsWith('User ')");
});

test('keys: the audit trail says who changed what, the newest first', { skip }, async (t) => {
  const user = fresh('audited');
  for (let number = 0; number < 51; number++) await operator.backend('POST', `/users/${user}-${number}/${number < 40 ? 'unban' : 'kick'}`, {});
  // Ten of a kind are kept in a burst, and others are counted.
  const tab = await opened(t, 'keys');
  await tab.shows('Audit trail');
  await tab.shows(`user ${user}-40`);
  const row = await tab.evaluate(`[...document.querySelectorAll('main tr')].find((one) => one.textContent.includes('user ${user}-40')).innerText`);
  assert.match(row, /key \S+/);
  assert.match(row, /from 127\.0\.0\.1/);
  assert.match(row, /POST users kick/);
  assert.match(row, /200/);
  await operator.backend('POST', `/users/${encodeURIComponent(markup)}/kick`, {});
  for (let end = Date.now() + 10_000; !(await tab.shown()).includes(markup.slice(0, 48)); await tab.settled()) {
    // Of a name from outside 64 bytes are kept.
    assert.ok(Date.now() < end, 'the line is not there');
    await tab.press('Refresh');
  }
  assert.equal(await tab.evaluate("document.querySelectorAll('main img, main script').length"), 0);
});

test('connections are filtered by user and ordered by queue on the server', { skip }, async (t) => {
  const user = fresh('alone');
  await loggedIn(t, operator.server.url, { userId: user });
  const tab = await opened(t, 'overview');
  await tab.shows('Connections');
  await tab.fill('User is', user);
  await tab.fill('In front', 'queued');
  await tab.evaluate("document.querySelector('form[aria-label=\"Filter Connections\"]').requestSubmit()");
  await tab.shows('1 of this user');
  assert.ok(operator.site.requests.some(({ path }) => path.includes(`/connections?user=${user}&order=queued`)));
});

test('the inspector: kick, ban and unban say what survives a restart, and ask before', { skip }, async (t) => {
  const userId = fresh('loud');
  const user = await loggedIn(t, operator.server.url, { userId });
  const tab = await opened(t, 'inspector', { user: userId });
  await tab.unfold('Kick');
  await tab.press('Kick');
  await tab.press('Cancel');
  assert.equal(user.state, 'connected');
  await tab.press('Kick');
  await tab.until("document.querySelector('dialog[open]')");
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('1 session ended. It does not survive a restart.');
  await user.until(({ type, currentState }) => type === 'linkState' && currentState !== 'connected');
  await tab.unfold('Ban');
  await tab.fill('Seconds', '600');
  await tab.press('Ban');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('It survives a restart.');
  await tab.shows('until');
  const { bans } = await operator.backend('GET', '/bans');
  assert.ok(bans.some((ban) => ban.user === userId));
  await tab.unfold('Lift a ban');
  await tab.press('Unban');
  await tab.shows('is lifted');
  assert.equal((await operator.backend('GET', `/users/${userId}`)).bannedUntil, undefined);
});

test('a key with fewer scopes sees what it may, and is told what it lacks', { skip }, async (t) => {
  const { keys } = operator;
  const channel = fresh('some');
  await publish(channel, 'stored', { store: true });
  const tab = await opened(t, 'inspector', { channel }, keys.reader.secret);
  await tab.shows('stored');
  await tab.unfold('Publish a message');
  await tab.shows('Needs the scope publish, which this key does not have.');
  await tab.fill('Message', 'no');
  await tab.press('Publish');
  await tab.until("document.querySelector('.outcome .refusal')");
  assert.match(await tab.evaluate("document.querySelector('.outcome .refusal').textContent"), /Refused: /);
  await tab.go('inspector', { user: 'ann' });
  await tab.shows('Refused');
  await tab.go('webhooks');
  await tab.shows('Refused');
  await tab.go('tail', { channel });
  await tab.shows('Refused');
  const some = await opened(t, 'inspector', { channel: 'other' }, keys.some.secret);
  await some.shows('Refused');
});

test('the tail shows what is published, and stays still while nobody looks', { skip }, async (t) => {
  const channel = fresh('tail');
  const tab = await opened(t, 'tail', { channel });
  await tab.shows('quietly.');
  await publish(channel, 'first', { customType: 'greeting', publisher: 'ann' });
  await tab.shows('first');
  assert.match(await tab.shown(), /greeting/);
  assert.deepEqual((await operator.backend('GET', `/presence?channel=${channel}`)).users, []);
  const hide = (isHidden) =>
    tab.evaluate(`Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`);
  await hide(true);
  for (let index = 0; index < 3; index++) await publish(channel, `unseen ${index}`);
  await tab.until("document.querySelector('.counts').textContent.includes('4 received')");
  assert.ok(!(await tab.shown()).includes('unseen'));
  await hide(false);
  await tab.shows('3 not shown');
  await publish(channel, 'seen again');
  await tab.shows('seen again');
  await tab.press('Pause');
  await publish(channel, 'paused');
  await tab.until("document.querySelector('.counts').textContent.includes('6 received')");
  assert.ok(!(await tab.shown()).includes('6 shown'));
  await tab.press('Stop');
  await tab.shows('Stopped.');
  await tab.fill('Comings and goings, too', true);
  await tab.press('Start');
  await tab.shows('quietly.');
  const user = await loggedIn(t, operator.server.url, { userId: fresh('comer') });
  await user.subscribe(channel);
  await tab.shows(`${user.userId} joined.`);
  await tab.fill('Name', '_not allowed');
  await tab.press('Start');
  await tab.shows('Refused');
});

test('an app with a certificate: the tail and the page of keys make tokens', { skip }, async (t) => {
  const { id, certificate } = certified;
  const channel = fresh('certified');
  const tab = await opened(t, 'overview');
  await tab.evaluate(`{ const apps = document.querySelector('header select'); apps.value = '${id}'; apps.dispatchEvent(new Event('change')) }`);
  await tab.until(`location.hash.startsWith('#/${id}/')`);
  await tab.evaluate(`location.hash = '#/${id}/tail?channel=${channel}'`);
  await tab.shows('quietly.');
  const ann = { appId: id, userId: 'ann' };
  const makeToken = (user) => output('rtm', 'token', 'create', '--app-id', id, '--user', user, '--certificate', certificate).trim();
  const client = await loggedIn(t, operator.server.url, { ...ann, token: makeToken('ann') });
  await client.publish(channel, 'with a token');
  await tab.shows('with a token');
  await tab.evaluate(`location.hash = '#/${id}/keys'`);
  await tab.unfold('Make a token');
  await tab.evaluate("document.querySelector('details[open] [name=user]').value = 'ben'");
  await tab.press('Make a token');
  await tab.shows('valid for 3,600 seconds');
  const token = await tab.evaluate("document.querySelector('.outcome code').textContent");
  await loggedIn(t, operator.server.url, { ...ann, userId: 'ben', token });
  await tab.evaluate(`location.hash = '#/${id}/events'`);
  await tab.shows('Refused');
});

test('the tail takes 10,000 messages a second, and accounts for each', { skip }, async (t) => {
  const channel = fresh('fast');
  const tab = await opened(t, 'tail', { channel });
  await tab.shows('quietly.');
  const heap = async () => {
    await tab.send('HeapProfiler.collectGarbage');
    return (await tab.send('Runtime.getHeapUsage')).usedSize / 2 ** 20;
  };
  const heapBefore = await heap();
  const count = 50_000;
  const from = performance.now();
  for (let part = 0; part < count / 1000; part += 10) {
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const messages = Array.from({ length: 1000 }, (_, number) => ({ channel, message: `${(part + index) * 1000 + number}` }));
        assert.equal((await operator.backend('POST', '/batch', { messages })).status, 200);
      }),
    );
  }
  const published = performance.now() - from;
  // What the edge could not keep for a slow page is a gap, which the page shows; here there must be none.
  await tab.until(`document.querySelector('.counts').textContent.startsWith('${count.toLocaleString('en')} received')`, 60);
  const took = performance.now() - from;
  await tab.until("!document.querySelector('.counts').textContent.includes('paused')");
  const counts = await tab.evaluate("document.querySelector('.counts').textContent");
  const read = (word) => Number((new RegExp(`([\\d,]+) ${word}`).exec(counts)?.[1] ?? '0').replaceAll(',', ''));
  const leftOut = await tab.evaluate("[...document.querySelectorAll('.left-out')].map((one) => Number(one.textContent.replace(/\\D/g, '')))");
  t.diagnostic(`${Math.round((count / published) * 1000)} a second were published, ${Math.round((count / took) * 1000)} a second received; ${counts}`);
  const growth = (await heap()) - heapBefore;
  t.diagnostic(`the page's memory grew by ${growth.toFixed(1)} MiB`);
  assert.ok(growth < 10, `${growth} MiB`);
  assert.equal(await tab.evaluate("document.querySelectorAll('.note.bad').length"), 0, 'no gap');
  assert.equal(read('shown') + read('not shown'), count);
  assert.equal(leftOut.reduce((sum, one) => sum + one, 0), read('not shown'), 'each that was left out is told in its place');
});

test('what the page itself can take: 10,000 messages a second for five seconds, with the page answering', { skip }, async (t) => {
  const tab = await opened(t, 'tail');
  const measure = async () => {
    const { LogView } = await import('/console/log.js');
    const { element } = await import('/console/dom.js');
    const context = { signal: new AbortController().signal };
    const log = new LogView(context, { label: 'x', perSecond: 200, row: (item) => element('div', { class: 'entry' }, `${item}`) });
    document.querySelector('main').append(log.place);
    let longest = 0;
    const begin = performance.now();
    let last = begin;
    let pushed = 0;
    while (pushed < 50_000) {
      const due = Math.min(50_000, (performance.now() - begin) * 10);
      while (pushed < due) log.push(pushed++);
      await new Promise((resolve) => setTimeout(resolve, 5));
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    const seconds = (last - begin) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return { seconds, pushed, longest, rows: log.rows.childElementCount, ...log.numbers };
  };
  const { seconds, pushed, longest, rows, received, shown, hidden } = await tab.evaluate(`(${measure})()`);
  t.diagnostic(`${Math.round(pushed / seconds)} a second; the longest pause of the page was ${Math.round(longest)} ms`);
  assert.equal(received, pushed);
  assert.equal(shown + hidden, pushed);
  assert.ok(rows <= 1000 && shown <= 200 * 8);
});

test('the tail of a user shows the events of that user alone', { skip }, async (t) => {
  const [ann, ben] = [fresh('ann'), fresh('ben')];
  const tab = await opened(t, 'tail', { user: ann });
  await tab.shows('Following.');
  await loggedIn(t, operator.server.url, { userId: ben });
  await publish(fresh('room'), 'by ann', { publisher: ann });
  await loggedIn(t, operator.server.url, { userId: ann });
  await tab.shows('by ann');
  await tab.shows('session.login');
  assert.ok(!(await tab.shown()).includes(ben));
});

test('explain: a message that arrived, a user who is away, and a dry run that publishes nothing', { skip }, async (t) => {
  const [channel, userId] = [fresh('why'), fresh('eve')];
  const eve = await loggedIn(t, operator.server.url, { userId });
  await eve.subscribe(channel);
  await publish(channel, 'did it?');
  const { offset } = await eve.until(({ type }) => type === 'message');
  const tab = await opened(t, 'explain', { channel, offset, user: userId });
  await tab.shows('Delivered');
  assert.ok((await tab.evaluate("document.querySelectorAll('.tree li').length")) >= 3);
  await tab.go('explain', { channel, user: 'nobody' });
  await tab.press('Try it without publishing');
  await tab.shows('Would not be delivered');
  assert.equal((await operator.backend('GET', `/channels/${channel}`)).offset, offset);
  return undefined;
});

test('events: those that are kept, those of a type, and those that come', { skip }, async (t) => {
  const channel = fresh('happening');
  await publish(channel, 'long ago');
  const tab = await opened(t, 'events', { channels: channel });
  await tab.shows('long ago');
  await publish(channel, 'just now');
  await tab.shows('just now');
  // What waits for the next event asks once, and not again and again.
  const { next } = await operator.backend('GET', '/events?after=latest');
  await tab.go('overview');
  await tab.go('events');
  await tab.fill('Channels begin with', fresh('never'));
  await tab.fill('Begin with', 'cursor');
  await tab.fill('Cursor', next);
  const before = operator.site.requests.length;
  await tab.press('Follow');
  await tab.shows('Following.');
  await publish(channel, 'of another channel');
  const asked = operator.site.requests.slice(before).filter(({ path }) => path.includes(`after=${next}`));
  assert.ok(asked.length >= 1 && asked.length <= 3, `${asked.length} requests`);
  await tab.fill('Cursor', '');
  await tab.press('Follow');
  await tab.shows('Fill in the cursor first.');
  await tab.fill('Begin with', 'oldest');
  await tab.fill('Channels begin with', channel);
  await tab.fill('Types', 'session.login');
  await tab.press('Follow');
  await tab.shows('Following.');
  assert.ok(!(await tab.shown()).includes('long ago'));
  await tab.fill('Types', 'NOT A TYPE');
  await tab.press('Follow');
  await tab.shows('Refused');
});

test('storage: items are written by compare-and-set, and who loses sees both values', { skip }, async (t) => {
  const channel = fresh('stored');
  const tab = await opened(t, 'storage', { channel });
  await tab.shows('There is no metadata.');
  await tab.unfold('Add an item');
  await tab.fill('Key', 'topic');
  await tab.fill('Value', 'Swift');
  await tab.press('Add');
  await tab.shows('Added; the set has the revision 1 now.');
  await tab.press('Edit topic');
  await operator.backend('PATCH', `/metadata?channel=${channel}`, { items: [{ key: 'topic', value: 'theirs' }] });
  await tab.fill('Value of topic', 'mine');
  await tab.press('Write');
  await tab.shows('storageOutdatedRevision');
  await tab.shows('Yours, not written');
  await tab.shows('There now, revision 2');
  assert.deepEqual(await tab.evaluate("[...document.querySelectorAll('.editor pre')].map((one) => one.textContent)"), ['mine', 'theirs']);
  await tab.press('Write mine over it');
  await tab.until("[...document.querySelectorAll('td')].some((one) => one.textContent === 'mine')");
  assert.equal((await operator.backend('GET', `/metadata?channel=${channel}`)).items[0].value, 'mine');
  await tab.press('Remove topic');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('There is no metadata.');
});

test('storage: locks are created, revoked from their owner, and removed', { skip }, async (t) => {
  const channel = fresh('locks');
  const owner = await loggedIn(t, operator.server.url, { userId: fresh('owner') });
  await owner.subscribe(channel, { locks: true });
  const tab = await opened(t, 'storage', { channel });
  await tab.unfold('Create a lock');
  await tab.evaluate("document.querySelector('details[open] [name=name]').value = 'leader'");
  await tab.press('Create');
  await tab.shows('Created.');
  const { fencingToken } = await owner.locks.acquire(channel, 'leader');
  await tab.go('storage');
  await tab.go('storage', { channel });
  await tab.shows(owner.userId);
  assert.equal(await tab.evaluate("document.querySelector('td[data-title=\"Fencing token\"]').textContent"), `${fencingToken}`);
  await tab.press('Revoke leader');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await owner.until(({ type, change }) => type === 'lock' && change === 'released');
  await tab.shows('free');
  await tab.press('Remove leader');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('There is no lock.');
  await tab.unfold('Create a lock');
  await tab.evaluate("document.querySelector('details[open] [name=name]').value = 'leader'");
  await tab.press('Create');
  await tab.shows('Created.');
  await tab.press('Create');
  await tab.shows('Refused');
});

test('keys and tokens: what this key may do, a token, a ban and its list', { skip }, async (t) => {
  const user = fresh('guest');
  const tab = await opened(t, 'keys');
  await tab.shows('admin');
  await tab.shows('some-');
  await tab.unfold('Make a token');
  await tab.evaluate(`document.querySelector('details[open] [name=user]').value = '${user}'`);
  await tab.press('Make a token');
  await tab.shows('The app has no certificate');
  await tab.unfold('Ban');
  await tab.evaluate(`document.querySelector('details[open] [name=user]').value = '${user}'`);
  await tab.press('Ban');
  await tab.evaluate("document.querySelector('dialog .primary').click()");
  await tab.shows('Banned until');
  await tab.until(`[...document.querySelectorAll('td')].some((one) => one.textContent === '${user}')`);
});

test('the server shows no route to the console that the public API lacks', { skip }, async () => {
  const description = readFileSync(new URL('../../docs/http/openapi.yaml', import.meta.url), 'utf8');
  const paths = [...description.matchAll(/^ {2}(\/v1\/\S+):$/gm)].map(([, path]) => path);
  const patterns = paths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  const asked = new Set(operator.site.requests.map(({ path }) => path.split('?')[0]));
  assert.ok(asked.size > 20);
  for (const path of asked) {
    const isOwn = path === '/console/session' || /^\/console\/(client\/)?[\w-]*(\.\w+)?$/.test(path);
    assert.ok(isOwn || patterns.some((pattern) => pattern.test(path)), path);
  }
});

// MARK: Attackers

test('names and contents with markup are shown as they are, on every page', { skip }, async (t) => {
  // Names may have no quotation marks and no slash.
  const name = `<img src=x onerror=broken=1>${fresh('')}`.slice(0, 64);
  const userId = `<svg onload=broken=1>${fresh('')}`.slice(0, 64);
  const user = await loggedIn(t, operator.server.url, { userId });
  await user.subscribe(name);
  await user.presence.setState(name, { mood: markup });
  await user.publish(name, markup, { customType: '<b onclick=broken=1>x</b>', storeInHistory: true });
  await user.storage.set(name, { '<i>key</i>': `${markup}\u202egnp.exe` }, { recordAuthor: true });
  await user.locks.set(name, markup.slice(0, 60));
  await user.locks.acquire(name, markup.slice(0, 60));
  await operator.backend('POST', `/users/${encodeURIComponent(`<u>${userId}`)}/ban`, { seconds: 60, reason: markup });
  const tab = await opened(t, 'overview');
  const where = [
    ['overview'], ['inspector', { q: markup }], ['inspector', { q: '<' }], ['inspector', { channel: name }], ['inspector', { user: userId }],
    ['inspector', { channel: name, offset: 2 }], ['events'], ['webhooks', { name: 'orders' }], ['webhooks', { name: markup }],
    ['storage', { channel: name }], ['storage', { user: userId }], ['explain', { channel: name, user: userId, offset: 2 }], ['top'], ['keys'], ['tail', { user: userId }],
    ['tail', { channel: name }],
  ];
  for (const [page, parameters] of where) {
    await tab.go(page, parameters);
    if (page === 'storage' && parameters.channel) {
      await tab.shows('<i>key</i>');
      assert.match(await tab.shown(), /\\u\{202e\}gnp\.exe/, 'what turns the direction is shown as what it is');
    }
    if (page === 'inspector' && parameters.channel && !parameters.offset) await tab.shows('onerror="globalThis.broken');
    const made = await tab.evaluate("document.querySelectorAll('main img, main svg, main script, main i, main b, main u, [onerror], [onload], [onclick]').length");
    assert.equal(made, 0, page);
  }
  await tab.shows('quietly.');
  await user.publish(name, `tail ${markup}`, { customType: '<b>x</b>' });
  await tab.shows('tail <img');
  assert.equal(await tab.evaluate("document.querySelectorAll('main img, main b').length"), 0);
  assert.equal(await tab.evaluate('globalThis.broken'), undefined);
  assert.deepEqual(tab.complaints().filter((text) => /Content Security Policy|exception/i.test(text)), []);
});

test('an error in an address is no error of the page, and nothing in it runs', { skip }, async (t) => {
  const tab = await opened(t, 'overview');
  for (const hash of ['#/dev/nothing', '#/%/inspector?q=%', '#javascript:broken=1', '#/dev/__proto__', '#/dev/constructor', '#/nobody/keys', '#/dev/inspector?offset=x&channel=a', '#/dev/inspector?user=..']) {
    await tab.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await tab.until("document.querySelector('h1')");
    await tab.settled();
  }
  await tab.shows("can't stand in an address");
  await tab.evaluate("location.hash = '#/nobody/keys'");
  await tab.shows('This key is not for the app nobody, so the page shows the app');
  await tab.evaluate("location.hash = '#/dev/inspector?offset=3'");
  await tab.shows('Users online');
  await tab.evaluate(`location.hash = '#/dev/inspector?user=${'u'.repeat(20_000)}'`);
  await tab.shows('Refused');
  assert.equal(await tab.evaluate('globalThis.broken'), undefined);
});

test('a request of another site, which has no token, does nothing', { skip }, async (t) => {
  const user = fresh('victim');
  const tab = await opened(t, 'overview');
  const statusOf = (headers) =>
    tab.evaluate(`fetch('/v1/dev/users/${user}/ban', { method: 'POST', body: '{"seconds":60}', headers: ${JSON.stringify(headers)} }).then(({ status }) => status)`);
  assert.equal(await statusOf({}), 403);
  assert.equal(await statusOf({ 'rtm-csrf': 'wrong' }), 403);
  assert.ok(!(await operator.backend('GET', '/bans')).bans.some((ban) => ban.user === user));
  // The page's own writes have it, and reads don't need it.
  const csrf = await tab.evaluate("fetch('/console/session').then((answer) => answer.json()).then(({ csrf }) => csrf)");
  assert.equal(await statusOf({ 'rtm-csrf': csrf }), 200);
  const [reads, writes] = [[], []];
  for (const { method, path, headers } of operator.site.requests) if (path.startsWith('/v1/')) (method === 'GET' ? reads : writes).push(headers['rtm-csrf']);
  assert.ok(reads.length > 0 && reads.every((token) => token === undefined));
  assert.ok(writes.length > 0);
});

test('a key in an address is refused, and wiped from it', { skip }, async (t) => {
  const { site, keys } = operator;
  assert.equal((await fetch(`${site.url}/console/?key=${keys.admin.secret}`)).status, 400);
  const tab = await opened(t, '', {}, null);
  await tab.evaluate(`location.hash = '#/dev/inspector?q=${keys.admin.secret}'`);
  await tab.shows('There was an API key where everybody can read it');
  assert.equal(await tab.evaluate('location.hash'), '');
  await tab.evaluate("document.querySelector('main a').click()");
  await tab.until("document.querySelector('[name=key]')");
  await tab.login(keys.admin.secret);
  const before = site.requests.length;
  await tab.evaluate(`document.querySelector('header [name=q]').value = '${keys.admin.secret}'; document.querySelector('[role=search]').requestSubmit()`);
  await tab.shows('There was an API key where everybody can read it');
  assert.ok(!site.requests.slice(before).some(({ path }) => path.includes('rtmk_')));
});

test('the console is in no frame, and its policy lets no script in', { skip }, async (t) => {
  const { site, browser } = operator;
  const host = createServer((request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<iframe src="${site.url}/console/"></iframe>`));
  await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
  t.after(() => host.close());
  const frame = await browser.open(`http://127.0.0.1:${host.address().port}/`);
  t.after(() => frame.close());
  await frame.until("document.readyState === 'complete'");
  assert.ok(frame.complaints().some((text) => text.includes('frame-ancestors')), frame.complaints().join());
  const tab = await opened(t, 'overview');
  await tab.evaluate("document.body.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.broken = true' }))");
  assert.equal(await tab.evaluate('globalThis.broken'), undefined);
  const { headers } = await fetch(`${site.url}/console/`);
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) assert.ok(headers.get('content-security-policy').includes(part));
});

// MARK: People

test('commands can be copied, and have no key in them', { skip }, async (t) => {
  const tab = await opened(t, 'inspector', { user: 'ann b' });
  await tab.unfold('Kick');
  await tab.fill('Reason', "it's spam");
  const copied = async (name) => {
    await tab.evaluate(`document.querySelector('details[open] [aria-label="Copy as ${name}"]').click()`);
    await tab.until("/^Copied/.test(document.querySelector('#announcements').textContent) || document.querySelector('dialog textarea')");
    const text = await tab.evaluate("document.querySelector('dialog textarea')?.value ?? document.querySelector('#announcements').textContent.replace('Copied: ', '')");
    await tab.evaluate("document.querySelector('dialog .primary')?.click(); document.querySelector('#announcements').textContent = ''");
    return text;
  };
  const { url } = operator.site;
  assert.equal(await copied('curl'), `curl -X POST ${url}/v1/dev/users/ann%20b/kick -H "Authorization: Bearer $RTM_API_KEY" -d '{"reason":"it'\\''s spam"}'`);
  assert.equal(await copied('rtm'), `rtm user kick --reason='it'\\''s spam' --app-id=dev --gateway=${url} 'ann b'`);
});

test('rtm understands each command that can be copied, and curl does what it says', { skip }, (t) => {
  const { server, keys } = operator;
  const given = { channel: '-c', user: '-u', name: 'orders', message: 'm', to: 'u', as: 'v', key: 'k', value: 'v', revision: 1, owner: 'o', offset: 1, epoch: 1, prefix: 'p', types: 'gap', seconds: 60, reason: "it's", ttl: 10, after: '1-1', customType: 't', store: true };
  const env = { RTM_API_KEY: keys.admin.secret, milliseconds: 4000 };
  const { user, channel, ...others } = given;
  const seen = new Set();
  for (const [name, make] of Object.entries(calls)) {
    if (['pathOf', 'shellWord', 'asCurl', 'asRtm'].includes(name)) continue;
    for (const about of [{ channel }, { user }, { channel, type: 'stream' }]) {
      const call = make({ ...others, ...about });
      if (!call.rtm || [...call.path, ...call.rtm.names].includes(undefined)) continue;
      const command = calls.asRtm(`http://${server.listening.gateway}`, 'dev', call, server.url);
      if (seen.has(command)) continue;
      seen.add(command);
      const { status, stderr } = shell(command, env);
      // 64: the command line itself is wrong.
      assert.ok(status !== 64 && status !== 127, `${command}: ${stderr}`);
    }
  }
  t.diagnostic(`${seen.size} commands`);
  const curl = calls.asCurl(`http://${server.listening.gateway}`, 'dev', calls.kick({ user: 'o x', reason: "it's" }));
  assert.equal(JSON.parse(shell(`${curl} -s`, env).stdout).isDurable, false);
  const dots = calls.asCurl(`http://${server.listening.gateway}`, 'dev', calls.user({ user: '..' }));
  assert.equal(JSON.parse(shell(`${dots} -s`, env).stdout).user, '..');
});

for (const scheme of ['light', 'dark']) {
  test(`every page has names, roles, an order and enough contrast (${scheme})`, { skip }, async (t) => {
    const channel = fresh('seen');
    const user = await loggedIn(t, operator.server.url, { userId: fresh('reader') });
    await user.subscribe(channel);
    await user.locks.set(channel, 'leader');
    await user.storage.set(channel, { topic: 'x' });
    await publish(channel, 'hello', { store: true });
    const tab = await opened(t, 'overview');
    await tab.emulate({ scheme });
    const where = [...pages.map((page) => [page]), ['inspector', { q: channel }], ['inspector', { channel }], ['inspector', { user: user.userId }], ['storage', { channel }], ['webhooks', { name: 'orders' }], ['tail', { channel }], ['inspector', { channel: 'stage', type: 'stream' }], ['storage', { channel: 'stage', type: 'stream' }]];
    for (const [page, parameters] of where) {
      await tab.go(page, parameters);
      await tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
      assert.deepEqual(await tab.evaluate(`(${check})()`), [], `${page} ${JSON.stringify(parameters)}`);
      assert.equal(await tab.evaluate("document.activeElement.tagName"), 'H1', 'the focus is on what is new');
    }
    await tab.press('Log out');
    await tab.shows('You have logged out');
    assert.deepEqual(await tab.evaluate(`(${check})()`), [], 'the login');
  });
}

test('everything can be reached by the keyboard, in the order of the page', { skip }, async (t) => {
  const tab = await opened(t, 'inspector', { user: fresh('keys') });
  const press = async (key, code, text) => {
    for (const type of ['keyDown', 'keyUp']) await tab.send('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: code, text: type === 'keyDown' ? text : undefined });
  };
  await tab.evaluate("document.activeElement.blur(); document.querySelectorAll('details').forEach((one) => (one.open = true))");
  const expected = await tab.evaluate("[...document.querySelectorAll('a[href], button:not(:disabled), input, select, textarea, summary')].filter((one) => one.checkVisibility()).length");
  const order = [];
  for (let presses = 0; presses < 200 && new Set(order).size < expected; presses++) {
    await press('Tab', 9);
    // Behind the last one is the browser's own part.
    if (await tab.evaluate('document.activeElement === document.body')) continue;
    const [index, outline, name] = await tab.evaluate("[[...document.querySelectorAll('*')].indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle, document.activeElement.outerHTML.slice(0, 200)]");
    assert.notEqual(outline, 'none', `the focus is seen on ${name}`);
    // A field for a time has a stop for each of its parts.
    if (order.at(-1) !== index) order.push(index);
  }
  const first = order.indexOf(Math.min(...order));
  const turned = [...order.slice(first), ...order.slice(0, first)];
  assert.equal(turned.length, expected);
  assert.deepEqual(turned, [...turned].sort((one, other) => one - other));
  await tab.evaluate('document.activeElement.blur()');
  await press('/', 191, '/');
  assert.equal(await tab.evaluate('document.activeElement.name'), 'q');
});

test('at 360 px no page scrolls sideways, with long names neither', { skip }, async (t) => {
  const channel = `wide-${'w'.repeat(50)}`;
  const userId = `wide-${'u'.repeat(50)}`;
  const user = await loggedIn(t, operator.server.url, { userId });
  await user.subscribe(channel);
  await user.publish(channel, 'm'.repeat(3000), { customType: 'c'.repeat(32), storeInHistory: true });
  await user.storage.set(channel, { ['k'.repeat(32)]: 'v'.repeat(2000) });
  await user.locks.set(channel, 'l'.repeat(32));
  const tab = await opened(t, 'overview');
  const where = [...pages.map((page) => [page]), ['inspector', { q: channel }], ['inspector', { channel }], ['inspector', { user: userId }], ['storage', { channel }], ['webhooks', { name: 'orders' }], ['tail', { channel }], ['explain', { channel, user: userId }]];
  for (const width of [360, 800, 1400]) {
    await tab.emulate({ width });
    for (const [page, parameters] of where) {
      await tab.go(page, parameters);
      await tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
      const wide = await tab.evaluate('document.documentElement.scrollWidth');
      assert.ok(wide <= width, `${page} ${JSON.stringify(parameters)} is ${wide} px wide at ${width}`);
    }
  }
});

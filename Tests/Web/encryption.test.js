// The encryption: the same bytes as the known answers, and what a client with keys shows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Encryption } from '../../Clients/web/src/encryption.js';
import { fresh, loggedIn } from './support/clients.js';
import { startStandalone } from './support/programs.js';

const bytes = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const { cases } = JSON.parse(readFileSync(new URL('../../protocol/encryption/known-answers.json', import.meta.url)));
const types = { none: 0, message: 1, stream: 2, user: 3, topic: 5 };
const modes = { 1: 'AES-128-GCM', 2: 'AES-256-GCM' };

for (const [index, known] of cases.entries()) {
  test(`known answer ${index + 1}: ${known.kind} in ${known.channel}`, async () => {
    const key = { secret: known.secret, salt: bytes(known.salt), mode: modes[known.mode] };
    const sealer = new Encryption([key]);
    sealer.begin({ appId: known.appID, userId: known.publisher });
    const content = known.data === undefined ? known.text : bytes(known.data);
    const place = { kind: known.kind, type: types[known.channelType], name: known.channel, item: known.item };
    const at = { sender: bytes(known.sender), counter: known.counter };
    assert.equal(hex(await sealer.sealAt(content, place, at)), known.sealed);
    const opener = new Encryption([key]);
    opener.begin({ appId: known.appID, userId: 'reader' });
    if (known.kind === 'message') {
      const event = {
        type: 'message',
        channelType: known.channelType,
        channelName: known.channel,
        publisher: known.publisher,
      };
      const arriving = { ...event, customType: known.item, payload: bytes(known.sealed) };
      const [opened] = await opener.openEvent(arriving);
      assert.deepEqual(opened.payload, content);
      // The second time it is a replay; in another channel, or changed, it isn't authentic.
      assert.equal((await opener.openEvent(arriving))[0].reason, 'replayed');
      assert.equal((await opener.openEvent({ ...arriving, channelName: 'elsewhere' }))[0].reason, 'notAuthentic');
      assert.equal((await opener.openEvent({ ...arriving, customType: 'other' }))[0].reason, 'notAuthentic');
      assert.equal((await opener.openEvent({ ...arriving, payload: 'in the clear' }))[0].reason, 'notEncrypted');
    } else if (known.kind === 'state') {
      const users = [{ userId: known.publisher, states: { [known.item]: known.value } }];
      assert.deepEqual(await opener.openUsers({ type: 1, name: known.channel }, users), []);
      assert.equal(users[0].states[known.item], known.text);
    } else {
      const metadata = { items: [{ key: known.item, value: known.value }] };
      assert.deepEqual(await opener.openItems(place.type, known.channel, metadata), []);
      assert.equal(metadata.items[0].value, known.text);
      const forged = { items: [{ key: known.item, value: known.value, author: 'mallory' }] };
      assert.equal((await opener.openItems(place.type, known.channel, forged))[0].reason, 'notAuthentic');
    }
  });
}

test('bad keys are refused', () => {
  for (const keys of [[], [{ secret: 'x', salt: new Uint8Array(31) }], [{ secret: '', salt: new Uint8Array(32) }]]) {
    assert.throws(() => new Encryption(keys), { code: -10020 });
  }
});

const server = await startStandalone();
after(() => server.kill());

test('clients with keys talk, and those without see bytes', async (t) => {
  const channel = fresh('secret');
  const key = { secret: 'a long random text', salt: new Uint8Array(32).fill(7) };
  const encrypted = () => loggedIn(t, server.url, { encryption: new Encryption([key]) });
  const [alice, bob, eve] = [await encrypted(), await encrypted(), await loggedIn(t, server.url)];
  for (const client of [bob, eve]) await client.subscribe(channel, { metadata: true });
  await alice.subscribe(channel, { echo: true });
  const texts = Array.from({ length: 30 }, (_, index) => `${index}`);
  await Promise.all(texts.map((text) => alice.publish(channel, text, { storeInHistory: true })));
  await bob.until(() => bob.received().length === texts.length);
  assert.deepEqual(bob.received(), texts);
  await alice.until(() => alice.received().length === texts.length);
  assert.deepEqual(alice.received(), texts);
  await eve.until(() => eve.received().length === texts.length);
  assert.ok(eve.received().every((payload) => payload instanceof Uint8Array && payload[0] === 0xf9));
  const { messages } = await bob.history.page(channel, { count: 2 });
  assert.deepEqual(messages.map(({ payload }) => payload), ['29', '28']);
  await alice.presence.setState(channel, { mood: 'good' });
  const shown = await bob.until(({ change }) => change === 'stateChanged');
  assert.deepEqual(shown.states, { mood: 'good' });
  assert.deepEqual(await alice.presence.getState(channel), { mood: 'good' });
  assert.notEqual((await eve.presence.getState(channel, alice.userId)).mood, 'good');
  await alice.storage.set(channel, { price: '299' });
  const written = await bob.until(({ type, isSnapshot }) => type === 'storage' && !isSnapshot);
  assert.equal(written.metadata.items[0].value, '299');
  assert.equal((await bob.storage.get(channel)).items[0].value, '299');
  await eve.publish(channel, 'in the clear');
  const refused = await bob.until(({ type }) => type === 'undecryptable');
  assert.deepEqual([refused.reason, refused.publisher], ['notEncrypted', eve.userId]);
  await assert.rejects(alice.publish(channel, 'x'.repeat(32_723)), { code: -11010 });
});

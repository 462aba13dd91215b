// The codec against every vector of protocol/conformance, and against bytes that are none.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
// Each module brings its messages.
import '../../Clients/web/src/agora-rtm.js';
import { decode, encode, frame, frames, WireError } from '../../Clients/web/src/wire.js';

const protocol = new URL('../../protocol/', import.meta.url);
// Those between the services are not this client's.
const vectors = JSON.parse(readFileSync(new URL('conformance/vectors.json', protocol))).vectors.filter((vector) =>
  vector.message.startsWith('rtm.client.'),
);

const schema = readdirSync(new URL('schema/client', protocol))
  .map((name) => readFileSync(new URL(`schema/client/${name}`, protocol), 'utf8'))
  .join('\n');
const enumValues = Object.fromEntries(
  [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]+) = (-?\d+);/gm)].map(([, name, value]) => [name, +value]),
);
const bytesFields = new Set([...schema.matchAll(/bytes (\w+) = /g)].map(([, name]) => name));
const textFields = new Set([...schema.matchAll(/string (\w+) = /g)].map(([, name]) => name));
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** The fields of a vector, which are in protobuf's JSON, as this client has them. */
function fields(value, name, parent) {
  if (Array.isArray(value)) return value.map((item) => fields(item, name, parent));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), fields(item, key, name)]));
  if (bytesFields.has(name)) return new Uint8Array(Buffer.from(value, 'base64'));
  // The `value` of a Limit is a number, that of an item a text.
  if (textFields.has(name) && !(name === 'value' && parent === 'limit')) return value;
  if (typeof value === 'string') return enumValues[value] ?? Number(value);
  return value;
}

/** Without what has its default. */
function plain(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(
    ([, item]) => item !== undefined && item !== 0 && item !== '' && item !== false && item?.length !== 0,
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, plain(item)]));
}

for (const [index, vector] of vectors.entries()) {
  test(`vector ${index + 1}: ${vector.section}, ${vector.message}`, () => {
    const name = vector.message.replace('rtm.client.', '');
    const bytes = new Uint8Array(Buffer.from(vector.bytes, 'hex'));
    const body = vector.length_prefix ? bytes.subarray(4) : bytes;
    const expected = fields(vector.fields);
    assert.deepEqual(plain(decode(name, body)), plain(expected));
    const made = vector.length_prefix ? frame(name, expected) : encode(name, expected);
    assert.equal(Buffer.from(made).toString('hex'), vector.bytes);
  });
}

test('numbers up to 2^53 - 1 and negative ones come back', () => {
  for (const revision of [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 35, 2 ** 53 - 1, -1, -2, -10005, -(2 ** 52)]) {
    const bytes = encode('MetadataItem', { key: 'k', revision });
    assert.equal(decode('MetadataItem', bytes).revision, revision);
  }
});

test('an unknown field of any type is skipped, and a later version’s frame has a kind or none', () => {
  const unknown = [0xf8, 0x3f, 1, 0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x3f, 2, 9, 9, 0xfd, 0x3f, 1, 2, 3, 4];
  const known = encode('Published', { offset: 7 });
  assert.equal(decode('Published', Uint8Array.from([...unknown, ...known])).offset, 7);
  const data = Uint8Array.from([0, 0, 0, 3, 0xfa, 0x3f, 0]);
  assert.deepEqual([...frames(data.buffer)], [{ requestId: 0, kind: undefined, body: undefined }]);
});

test('bytes that are no message are refused, and never loop', () => {
  for (const bytes of [[0x08], [0x08, 0x80], [0x12, 5, 1], [0x0b], [0x0a, 0], Array(12).fill(0xff)]) {
    assert.throws(() => decode('Publication', Uint8Array.from(bytes)), WireError, `${bytes}`);
  }
  assert.throws(() => [...frames(Uint8Array.from([0, 0, 0, 9, 1]).buffer)], WireError);
  assert.throws(() => [...frames(Uint8Array.from([0, 0]).buffer)], WireError);
  // Any bytes at all: an answer or a WireError.
  let seed = 1;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: round % 60 }, () => (seed = (seed * 48271) % 2147483647) & 255);
    try {
      decode('ServerFrame', bytes);
    } catch (error) {
      assert.ok(error instanceof WireError, error.stack);
    }
  }
});

test('a text with a NUL byte is not sent, because it would end the connection', () => {
  assert.throws(() => encode('Subscribe', { channel: 'a\0b' }), WireError);
});

test('a text that begins with U+FEFF keeps it', () => {
  for (const channel of ['\ufeff', '\ufeffa', '\ufeff\ufeff', 'a\ufeff']) {
    assert.equal(decode('Subscribe', encode('Subscribe', { channel })).channel, channel);
  }
});

test('several frames of one message come one by one', () => {
  const one = encode('ServerFrame', { requestId: 3, published: { offset: 5, timestampMs: 9 } });
  const data = new Uint8Array(2 * (one.length + 4));
  for (const at of [0, one.length + 4]) {
    data[at + 3] = one.length;
    data.set(one, at + 4);
  }
  const found = [...frames(data.buffer)];
  assert.equal(found.length, 2);
  assert.equal(found[1].kind, 'published');
  assert.equal(found[1].body.offset, 5);
});

test('the tables are those of the schema', () => {
  execFileSync(new URL('generate_web.py', protocol).pathname, ['--check']);
  assert.ok(vectors.length > 50);
});

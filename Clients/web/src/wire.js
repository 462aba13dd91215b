// Bytes of the protocol: protobuf messages behind four bytes of length (protocol/core.md, Frames).

import { schema } from './schema.js';

const messages = {};
for (const line of schema.split('\n')) {
  const [name, ...specs] = line.split(' ');
  const fields = specs.map((spec) => {
    const [, number, key, type, repeated] = /^(\d+)(\w+):?(\w*)(\*?)/.exec(spec);
    return { number: +number, key, type: type || key[0].toUpperCase() + key.slice(1), repeated: repeated !== '' };
  });
  messages[name] = { fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
}

const defaults = { u: 0, i: 0, b: false, s: '', y: new Uint8Array(0) };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const utf8 = (text) => encoder.encode(text);
export const text = (bytes) => decoder.decode(bytes);

/** A frame that isn't one, or a value that can't be sent. */
export class WireError extends Error {}

// MARK: Writing

class Writer {
  bytes = new Uint8Array(256);
  at = 0;

  reserve(count) {
    if (this.at + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.at + count));
    grown.set(this.bytes);
    this.bytes = grown;
  }

  /** A number of up to 64 bits; a negative one takes ten bytes. */
  varint(value) {
    this.reserve(10);
    let high = Math.floor(value / 2 ** 28);
    let low = value - high * 2 ** 28;
    if (high < 0) high += 2 ** 36;
    while (high > 0 || low > 127) {
      this.bytes[this.at++] = (low & 127) | 128;
      low = Math.floor(low / 128) + (high % 128) * 2 ** 21;
      high = Math.floor(high / 128);
    }
    this.bytes[this.at++] = low;
  }

  data(bytes) {
    this.varint(bytes.length);
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  field({ number, type }, value) {
    const isNumber = type === 'u' || type === 'i' || type === 'b';
    this.varint(number * 8 + (isNumber ? 0 : 2));
    if (isNumber) return this.varint(Number(value));
    if (type === 'y') return this.data(value);
    if (type !== 's') return this.nested(type, value);
    if (value.includes('\0')) throw new WireError('a text with a NUL byte');
    this.data(utf8(value));
  }

  nested(name, value) {
    const inner = new Writer();
    inner.message(name, value);
    this.data(inner.bytes.subarray(0, inner.at));
  }

  message(name, value) {
    for (const field of messages[name].fields) {
      const found = value[field.key];
      if (field.repeated) for (const item of found ?? []) this.field(field, item);
      // A message that is there is written even if it is empty; everything else unless it is the default.
      else if (field.type.length > 1 ? found : found?.length !== 0 && found) this.field(field, found);
    }
  }
}

export function encode(name, value) {
  const writer = new Writer();
  writer.message(name, value);
  return writer.bytes.subarray(0, writer.at);
}

/** A frame with its length in front. */
export function frame(name, value) {
  const writer = new Writer();
  writer.at = 4;
  writer.message(name, value);
  new DataView(writer.bytes.buffer).setUint32(0, writer.at - 4);
  return writer.bytes.subarray(0, writer.at);
}

// MARK: Reading

class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    Object.assign(this, { bytes, at, end });
  }

  varint(isSigned) {
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.at >= this.end || shift > 63) throw new WireError('a number that does not end');
      const byte = this.bytes[this.at++];
      if (shift < 28) low += (byte & 127) * 2 ** shift;
      else high += (byte & 127) * 2 ** (shift - 28);
      if (byte < 128) break;
    }
    high %= 2 ** 36;
    if (isSigned && high >= 2 ** 35) high -= 2 ** 36;
    return high * 2 ** 28 + low;
  }

  skip(count) {
    const start = this.at;
    this.at += count;
    if (this.at > this.end) throw new WireError('a field that does not end');
    return start;
  }

  value({ type }, wire) {
    const isNumber = type === 'u' || type === 'i' || type === 'b';
    if (wire !== (isNumber ? 0 : 2)) throw new WireError('a field of another type');
    if (type === 'b') return this.varint() !== 0;
    if (isNumber) return this.varint(type === 'i');
    const start = this.skip(this.varint());
    if (type.length > 1) return new Reader(this.bytes, start, this.at).message(type);
    const bytes = this.bytes.subarray(start, this.at);
    return type === 's' ? text(bytes) : bytes;
  }

  message(name) {
    const { fields, byNumber } = messages[name];
    const found = {};
    for (const { key, type, repeated } of fields) {
      if (repeated) found[key] = [];
      else if (type in defaults) found[key] = defaults[type];
    }
    while (this.at < this.end) {
      const key = this.varint();
      const field = byNumber.get(Math.floor(key / 8));
      const wire = key % 8;
      if (field) {
        const value = this.value(field, wire);
        if (field.repeated) found[field.key].push(value);
        else found[field.key] = value;
      } else if (wire === 0) this.varint();
      else if (wire === 2) this.skip(this.varint());
      else if (wire === 1 || wire === 5) this.skip(wire === 1 ? 8 : 4);
      else throw new WireError('an unknown wire type');
    }
    return found;
  }
}

/** The fields of a message; one that isn't there has its default, and a message within it is undefined. */
export const decode = (name, bytes) => new Reader(bytes).message(name);

/** The frames of one message of a WebSocket, each with the name of its body as `kind`; unknown kinds have none. */
export function* frames(data) {
  const bytes = new Uint8Array(data);
  const view = new DataView(data);
  for (let at = 0; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? view.getUint32(at) : Infinity;
    if (at + 4 + length > bytes.length) throw new WireError('a message that ends within a frame');
    const { requestId, ...bodies } = new Reader(bytes, at + 4, at + 4 + length).message('ServerFrame');
    const kind = Object.keys(bodies).pop();
    yield { requestId, kind, body: bodies[kind] };
    at += 4 + length;
  }
}

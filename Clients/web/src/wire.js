// Bytes of the protocol: protobuf messages behind four bytes of length (protocol/core.md, Frames).

import { schema } from './schema.js';

const messages = {};
const encoder = new TextEncoder();
// A text may begin with U+FEFF, which is otherwise taken for a mark of its encoding and left out.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const utf8 = (text) => encoder.encode(text);
export const text = (bytes) => decoder.decode(bytes);

/** A frame that isn't one, or a value that can't be sent. */
export class WireError extends Error {}

function check(isRight, problem = 'the server sent no frame') {
  if (!isRight) throw new WireError(problem);
}

/** Adds the messages of a table, and fields to those that are there: each module brings what it speaks of. */
export function define(table) {
  for (const line of table.split('\n')) {
    const [message, ...specs] = line.split(' ');
    const fields = (messages[message] ??= new Map());
    let last = 0;
    for (const spec of specs) {
      const [, number, name, type, repeated] = /^(\d*)(\w+):?(\w*)(\*?)/.exec(spec);
      const content = type || name[0].toUpperCase() + name.slice(1);
      last = +number || last + 1;
      fields.set(last, [name, content, repeated]);
      // A message without a field has no line of its own.
      messages[content] ??= new Map();
    }
  }
}
define(schema);

// The bytes of what is skipped, by its wire type.
const lengths = { 1: 8, 5: 4 };
// Of the 64 bits of a number this is that of the sign. Engines of before 2020 have no integers of so many bits.
const sign = 2 ** 63;
// What a number stands for, and what a field has that isn't there.
const numbers = { u: 0, i: 0, b: false };
const defaults = { ...numbers, s: '', y: new Uint8Array(0) };

function write(message, value) {
  const bytes = [];
  const number = (value) => {
    // A negative number takes ten bytes, of which the last one has the sign.
    for (let count = 0; value > 127 || (value < 0 && count < 9); count++) {
      bytes.push((value & 127) | 128);
      value = Math.floor(value / 128);
    }
    bytes.push(value < 0 ? 1 : value);
  };
  const one = (field, type, item, name) => {
    // A NUL byte would end the connection.
    const isText = typeof item === 'string' && !item.includes('\0');
    check(type === 's' ? isText : !(type in numbers) || item < Infinity, `${name} has a value that can't be sent`);
    number(field * 8 + (type in numbers ? 0 : 2));
    if (type in numbers) return number(item);
    if (type === 's') {
      item = utf8(item);
    } else if (type !== 'y') item = write(type, item);
    number(item.length);
    for (const byte of item) bytes.push(byte);
  };
  for (const [field, [name, type, repeated]] of messages[message]) {
    const found = value[name];
    if (repeated) for (const item of found ?? []) one(field, type, item, name);
    // A message that is there is written even if it is empty; everything else unless it is the default.
    else if (type in defaults ? found && found.length !== 0 : found) one(field, type, found, name);
  }
  return bytes;
}

export const encode = (message, value) => Uint8Array.from(write(message, value));

/** A frame with its length in front. */
export function frame(message, value) {
  const bytes = write(message, value);
  const framed = new Uint8Array(bytes.length + 4);
  new DataView(framed.buffer).setUint32(0, bytes.length);
  framed.set(bytes, 4);
  return framed;
}

function read(message, bytes, at, end) {
  const number = (type) => {
    let value = 0;
    // What a negative number is with all of its bits turned over.
    let opposite = 0;
    for (let scale = 1; ; scale *= 128) {
      check(at < end && scale <= sign);
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (scale === sign && type === 'i') return -1 - opposite;
      opposite += (~byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const skip = (count) => {
    at += count;
    check(at <= end);
    return at - count;
  };
  const content = (type) => {
    const start = skip(number());
    if (!(type in defaults)) return read(type, bytes, start, at);
    const part = bytes.subarray(start, at);
    return type === 's' ? text(part) : part;
  };
  const found = {};
  for (const [name, type, repeated] of messages[message].values()) {
    if (repeated) found[name] = [];
    else if (type in defaults) found[name] = defaults[type];
  }
  while (at < end) {
    const key = number();
    const wire = key % 8;
    const [name, type, repeated] = messages[message].get(Math.floor(key / 8)) ?? [];
    if (name) {
      check(wire === (type in numbers ? 0 : 2));
      const value = type === 'b' ? number() !== 0 : wire ? content(type) : number(type);
      if (repeated) found[name].push(value);
      else found[name] = value;
    } else if (wire === 0) number();
    else skip(wire === 2 ? number() : lengths[wire]);
  }
  return found;
}

/** The fields of a message; one that isn't there has its default, and a message within it is undefined. */
export const decode = (message, bytes) => read(message, bytes, 0, bytes.length);

/** The frames of one message of a WebSocket, each with the name of its body as `kind`; unknown kinds have none. */
export function* frames(data) {
  const bytes = new Uint8Array(data);
  const view = new DataView(data);
  for (let at = 0; at < bytes.length; ) {
    const start = at + 4;
    at = start <= bytes.length ? start + view.getUint32(at) : Infinity;
    check(at <= bytes.length);
    const { requestId, ...bodies } = read('ServerFrame', bytes, start, at);
    const kind = Object.keys(bodies).pop();
    yield { requestId, kind, body: bodies[kind] };
  }
}

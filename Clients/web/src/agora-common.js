// What the parts of the vendor's API share: names, errors, and the shape of answers.

import { RTMError } from './errors.js';
import { sessionOf } from './session.js';

const kinds = new Map([
  ['MESSAGE', 'channel'],
  ['STREAM', 'stream'],
  ['USER', 'user'],
]);
const types = [...kinds.keys()];
/** A channel type by its name, or by the number that it has in ChannelTypeEnum. */
export const asType = (type) => (Number.isInteger(type) && types[type - 1]) || type;
export const upper = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** A call failed: what the vendor's calls reject with. */
export class RTMBaseError extends Error {
  constructor(operation, { code = -10014, reason, message, ...error }) {
    super(`${operation} failed: ${reason ?? message} (${code})`);
    this.name = 'RTMBaseError';
    Object.assign(this, { error: true, operation, reason: reason ?? message, errorCode: code, code, originalError: error });
  }
}

const nameErrors = { channel: -10008, user: -10006, lock: -14005, topic: -11008, token: -10005, option: -10014 };

/** A name, a user id or a token. Where an app has a number, the text of it. */
export function asName(name, kind) {
  if (typeof name === 'string') return name;
  if (Number.isFinite(name)) return `${name}`;
  throw new RTMError(nameErrors[kind], `the ${kind} is not a text`);
}

export function channel(name, type) {
  const kind = kinds.get(asType(type));
  if (!kind) throw new RTMError(-10019, 'the channel type is MESSAGE, STREAM or USER');
  return { [kind]: asName(name, kind === 'user' ? kind : 'channel') };
}

/** A value of an app's data as a text: an object or a list as JSON, and nothing as an empty one. */
export function asText(value, code) {
  if (typeof value !== 'object' || !value) return String(value ?? '');
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    throw new RTMError(code, 'a value is neither a text nor JSON');
  }
}

function asNumber(value) {
  if (typeof value === 'number' || typeof value === 'string') {
    const number = Number(value);
    if (Number.isFinite(number)) return number;
  }
  throw new RTMError(-10014, 'an option that counts is not a number');
}

const numbers = ['messageCount', 'start', 'end', 'ttl', 'majorRevision', 'revision', 'heartbeatInterval', 'presenceTimeout'];
const texts = ['token', 'customType', 'page', 'lockName', 'userId', 'channelName', 'priority', 'encryptionMode'];
// What is there or not needs no kind: whatever isn't false is true.
const flags = ['storeInHistory', 'includedUserId', 'includedState', 'addTimeStamp', 'addUserId', 'retry'];
const asKind = new Map([
  ...numbers.map((name) => [name, asNumber]),
  ...texts.map((name) => [name, (value) => asName(value, 'option')]),
  ...flags.map((name) => [name, Boolean]),
  ['channelType', asType],
]);

const isThere = (value) => value !== undefined && value !== null && value !== '';

/** What an app gives as options: what is empty, null or undefined isn't there (docs/web-compatibility.md, Calls). */
export function optionsOf(given) {
  if (!isThere(given)) return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw new RTMError(-10014, 'the options are not an object');
  const there = Object.entries(given).filter(([, value]) => isThere(value));
  return Object.fromEntries(there.map(([name, value]) => [name, asKind.has(name) ? asKind.get(name)(value) : value]));
}

/** In the place of the options of subscribe and publish a channel type is that option. */
export const typeOr = (options) => (kinds.has(asType(options)) ? { channelType: options } : options);

/** A list that an app gives; nothing stands for none. */
export function listOf(given, what) {
  if (!isThere(given)) return [];
  if (!Array.isArray(given)) throw new RTMError(-10014, `the ${what} are a list`);
  return given;
}

export const counted = ({ userId, states }) => ({ userId, states, statesCount: Object.keys(states).length });
export const lockDetail = ({ name, owner, ttl }) => ({ lockName: name, owner, ttl: ttl / 1000 });
export const storageData = ({ majorRevision, items }) => ({
  majorRevision,
  totalCount: items.length,
  metadata: Object.fromEntries(
    items.map(({ key, value, revision, updatedAt = 0, author = '' }) => [
      key,
      { value, revision, updated: updatedAt, authorUid: author },
    ]),
  ),
});

/** What the parts of a client share. */
export class Part {
  constructor(rtm, client) {
    Object.defineProperties(this, { rtm: { value: rtm }, client: { value: client } });
  }

  /** Nothing in the place of a user is this one. */
  userOf(userId) {
    return asName(isThere(userId) ? userId : this.client.userId, 'user');
  }

  /** What is wrong with a call rejects its promise, as whatever fails later does (S-0a). */
  async perform(operation, work, given) {
    try {
      const answer = await work(optionsOf(given));
      return { timestamp: sessionOf(this.client).time, ...answer };
    } catch (error) {
      throw new RTMBaseError(operation, error);
    }
  }
}

// What the parts of the vendor's API share: names, errors, and the shape of answers.

import { RTMError } from './errors.js';
import { sessionOf } from './session.js';

const kinds = { MESSAGE: 'channel', STREAM: 'stream', USER: 'user' };
export const upper = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** A call failed: what the vendor's calls reject with. */
export class RTMBaseError extends Error {
  constructor(operation, { code = -10014, reason, message, ...error }) {
    super(`${operation} failed: ${reason ?? message} (${code})`);
    this.name = 'RTMBaseError';
    Object.assign(this, { error: true, operation, reason: reason ?? message, errorCode: code, code, originalError: error });
  }
}

export function channel(name, type) {
  if (!(type in kinds)) throw new RTMError(-10019, `no channel type: ${type}`);
  return { [kinds[type]]: name };
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

  async perform(operation, work) {
    try {
      const answer = await work();
      return { timestamp: sessionOf(this.client).time, ...answer };
    } catch (error) {
      throw new RTMBaseError(operation, error);
    }
  }
}

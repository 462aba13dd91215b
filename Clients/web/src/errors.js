// What a call ends with when it doesn't succeed.

/** A call failed. `code` is a number of the public API; protocol/errors.md lists them. */
export class RTMError extends Error {
  constructor(code, reason, more) {
    super(`${reason} (${code})`);
    Object.assign(this, { name: 'RTMError', code, reason, operation: '', retryAfter: undefined }, more);
  }
}

export const fromWire = ({ code, reason, retryAfterMs, limit, conflict }, operation) =>
  new RTMError(code, reason, { operation, retryAfter: retryAfterMs || undefined, limit, conflict });

export const late = 'the server did not answer in time';

// A request has two codes: one for no answer in time, and one for no connection.
export const noAnswer = ({ codes, operation }, reason = late) => new RTMError(codes[0], reason, { operation });
export const noConnection = ({ codes, operation }) => new RTMError(codes[1], 'there is no connection', { operation });
export const noLogin = (operation) => new RTMError(-10002, 'there is no login', { operation });

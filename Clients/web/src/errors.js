// What a call ends with when it doesn't succeed.

/** A call failed. `code` is a number of the public API; protocol/errors.md lists them. */
export class RTMError extends Error {
  constructor(code, reason, more = {}) {
    super(`${reason} (${code})`);
    this.name = 'RTMError';
    Object.assign(this, { code, reason, operation: '', retryAfter: undefined }, more);
  }
}

export const fromWire = (error, operation) =>
  new RTMError(error.code, error.reason, {
    operation,
    retryAfter: error.retryAfterMs || undefined,
    limit: error.limit,
    conflict: error.conflict,
  });

// Of each kind of call: the codes for no answer in time, and for no connection.
const codes = {
  publish: [-11026, -11027],
  subscribe: [-11019, -10025],
  presence: [-13012, -13001],
  storage: [-12018, -10025],
  lock: [-14002, -10025],
  history: [-15003, -10025],
  renewToken: [-10026, -10025],
};

export const timedOut = (kind, operation, reason = 'the server did not answer in time') =>
  new RTMError((codes[kind] ?? [-10011])[0], reason, { operation });
export const notConnected = (kind, operation, reason = 'there is no connection') =>
  new RTMError((codes[kind] ?? [0, -10025])[1], reason, { operation });

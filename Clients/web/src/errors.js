// What a call ends with when it doesn't succeed.

const done = [-11035, -11037];
// No answer in time, or none that says whether a message was published. With a time to come back nothing was.
const unsure = [-11024, -11026, -12018, -13012, -14002];

function outcomeOf(code, { operation, retryAfter, outcome }) {
  if (/^(get|who|where)/.test(operation)) return 'notDone';
  if (done.includes(code)) return 'done';
  return outcome ?? (unsure.includes(code) && !retryAfter ? 'unknown' : 'notDone');
}

/** A call failed. `code` is a number of the public API; protocol/errors.md lists them. */
export class RTMError extends Error {
  constructor(code, reason, more = {}) {
    super(`${reason} (${code})`);
    const outcome = outcomeOf(code, more);
    Object.assign(this, { name: 'RTMError', code, reason, operation: '', retryAfter: undefined }, more, { outcome });
  }
}

export const fromWire = ({ code, reason, retryAfterMs, limit, conflict }, operation) =>
  new RTMError(code, reason, { operation, retryAfter: retryAfterMs || undefined, limit, conflict });

export const late = 'the server did not answer in time';

// A request has two codes: one for no answer in time, and one for no connection.
export const noAnswer = ({ codes, operation }, reason = late) => new RTMError(codes[0], reason, { operation });
export const noConnection = ({ codes, operation }, outcome) =>
  new RTMError(codes[1], 'there is no connection', { operation, outcome });
export const noLogin = (operation) => new RTMError(-10002, 'there is no login', { operation });
/** An option is given that a module has which the app doesn't use. */
export const noModule = (option, operation) => new RTMError(-10014, `no module here has '${option}'`, { operation });

// Why an attempt failed or a connection ended, and which of these end the session for good (docs/behaviour.md, appendix B).

import { RTMError } from './errors.js';

// The reasons for which a refused login isn't tried again, by the code of the refusal; and those of a connection's end.
const refusals = {
  10001: 'loginRejected',
  10003: 'loginNotAuthorized',
  10005: 'invalidToken',
  10006: 'invalidUserId',
  10009: 'tokenExpired',
  10012: 'loginRejected',
  10013: 'sameUidLogin',
  10014: 'loginRejected',
  10015: 'loginNotAuthorized',
  10016: 'inconsistentAppId',
  10021: 'operationRateExceedLimitation',
  10022: 'serviceNotSupported',
};
const disconnects = { 3504: 10022, 3505: 10012, 3506: 10009, 3507: 10013 };

export const loginError = (code, reason) => new RTMError(code, reason, { operation: 'login' });

/** An attempt whose token is known to have ended, so that no server has to refuse it. */
export const expired = (advice) => {
  const reason = `the token has expired; ${advice}`;
  return loss('refused', reason, { error: loginError(-10009, reason) });
};

/**
 * `cause` is 'error', 'heartbeat', 'refused' (by an RTMError) or 'disconnect' (with a code). `quick` says that the address
 * refused at once.
 */
export function loss(cause, reason, { code, error, retryAfter, quick } = {}) {
  let fatal;
  if (cause === 'refused') {
    ({ retryAfter } = error);
    fatal = error.code === -10012 && retryAfter ? 'loginTooFrequent' : refusals[-error.code];
  } else if (code >= 3500 && code < 4000) fatal = refusals[disconnects[code]] ?? 'kickedOutByServer';
  return {
    cause,
    reason,
    quick,
    retryAfter,
    fatal,
    reasonCode: fatal ?? (cause === 'heartbeat' ? 'keepAliveTimeout' : 'connectionError'),
    drain: code === 3000,
    // A login that came too early may pass later.
    later: cause === 'refused' && retryAfter > 0,
    error: error ?? loginError(-(disconnects[code] ?? 10012), reason),
  };
}

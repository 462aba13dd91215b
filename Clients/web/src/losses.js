// Why an attempt failed or a connection ended, and which of these end the session for good (docs/behaviour.md, appendix B).

import { RTMError } from './errors.js';

// The reasons for which a refused login isn't tried again, by the code of the refusal.
const fatalRefusals = {
  [-10001]: 'loginRejected',
  [-10003]: 'loginNotAuthorized',
  [-10005]: 'invalidToken',
  [-10006]: 'invalidUserId',
  [-10009]: 'tokenExpired',
  [-10013]: 'sameUidLogin',
  [-10014]: 'loginRejected',
  [-10015]: 'loginNotAuthorized',
  [-10016]: 'inconsistentAppId',
  [-10021]: 'operationRateExceedLimitation',
  [-10022]: 'serviceNotSupported',
};
const disconnects = { 3504: 'serviceNotSupported', 3505: 'loginRejected', 3506: 'tokenExpired', 3507: 'sameUidLogin' };
const loginErrors = { tokenExpired: -10009, sameUidLogin: -10013, serviceNotSupported: -10022 };

/**
 * Why an attempt failed or a connection ended. `cause` is 'error', 'heartbeat', 'refused' (by an RTMError) or
 * 'disconnect' (with a code). `quick` says that the address refused at once.
 */
export function loss(cause, reason, { code, error, retryAfter, quick = false } = {}) {
  let fatal;
  if (cause === 'refused') {
    fatal = fatalRefusals[error.code];
    if (error.code === -10012) fatal = error.retryAfter ? 'loginTooFrequent' : 'loginRejected';
    retryAfter = error.retryAfter;
  } else if (code >= 3500 && code < 4000) fatal = disconnects[code] ?? 'kickedOutByServer';
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
    error: error ?? new RTMError(loginErrors[fatal] ?? -10012, reason, { operation: 'login' }),
  };
}

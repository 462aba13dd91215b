// Decides what the link does and when (docs/behaviour.md 2.3, T1 to T17, S-6, S-13 to S-18). Pure: every call gets the time, the
// random numbers are given, and what is to be done comes back as a list of actions, which the session performs in order:
//
//   ['announce', change]  ['askForToken', attempt]  ['connect', attempt, server]  ['disconnect']  ['sendLogout']
//   ['renew', login, token]  ['login', login, error or null]  ['forget']

import { expired, loginError, loss } from './losses.js';
import { union } from './names.js';

// The first wait, which doubles each time; that after a server which refused at once; and that of a suspended link.
const usualWait = 2000;
const refusedWait = 250;
const refusedWaitMax = 5000;
const suspendedWait = 30_000;
/** Each wait is up to so much shorter or longer. */
const jitter = 0.2;
/** How long a lost session is resumed, and how long before its end the last attempt begins. */
const resumeWindow = 120_000;
const margin = 10_000;

/** It gets what the client was made with, and random numbers. */
export function makeLink({ token: configured, tokenProvider, servers, reconnectTimeout, requestTimeout, random }) {
  /** What an attempt logs in with; without it, the app id. */
  let token;
  /** From this time on the server doesn't take the token, as far as that is known (S-54). */
  let expiresAt = Infinity;
  /** The time without a connection, from its beginning to the next session. */
  let outage = null;
  let endsAt = Infinity;
  let beginsAt = Infinity;
  let isRestoring = false;
  /** The next connection has to wait for a token of the provider, and this round has got its token from there (S-53). */
  let needsToken = false;
  let isFresh = false;
  let tried = 0;
  let server = 0;

  let state = 'idle';
  /** Counts the attempts; reports about an earlier one are ignored. */
  let attempt = 0;
  /** The login that waits for its end, and the renewals of a token that wait for the return. */
  let pending = null;
  let renewals = [];

  const link = {
    get state() {
      return state;
    },
    get attempt() {
      return attempt;
    },
    get pending() {
      return pending;
    },
    get token() {
      return token;
    },
    set token(newer) {
      if (newer !== token) expiresAt = Infinity;
      token = newer;
    },
    /** The server has said how long the token lives. */
    expires(remaining, now) {
      expiresAt = now + remaining;
    },

    /** A session was lost. */
    get isAway() {
      return !!outage?.was;
    },

    /** When `tick` has something to do. */
    get deadline() {
      if (!outage) return Infinity;
      const giveUp = outage.since + reconnectTimeout;
      if (state === 'connecting') return Math.min(beginsAt, endsAt, giveUp);
      return Math.min(outage.retryAt, outage.suspended ? Infinity : outage.since + resumeWindow, giveUp);
    },

    // MARK: Calls of the app

    login(login, given, now) {
      if (state === 'connected') return given && given !== token ? [['renew', login, given]] : [['login', login, null]];
      const actions = pending ? [['login', pending, loginError(-10023, 'a newer login replaced this one')]] : [];
      pending = login;
      needsToken = !given && tokenProvider;
      if (outage?.was) link.token = given ?? token;
      else {
        link.token = given ?? configured;
        // A new session knows nothing of its token.
        expiresAt = Infinity;
        begins(now, false);
      }
      if (state === 'connecting') return [...actions, ['disconnect'], ...begin(now)];
      return [...actions, ...connect(now, 'login', state === 'idle' ? 'login' : 'relogin', 'login')];
    },

    /** A lost session comes back with this token, and the renewal ends when it does (S-52). */
    renew(renewal, newer, now) {
      renewals.push(renewal);
      needsToken = false;
      link.token = newer;
      // An attempt that waits for its time will take it.
      return state === 'connecting' && beginsAt === Infinity ? [['disconnect'], ...begin(now)] : [];
    },

    logout(error = loginError(-10023, 'a logout replaced this login')) {
      if (state === 'idle') return [];
      const isOpen = state === 'connected' || isRestoring;
      outage = null;
      return [
        [isOpen ? 'sendLogout' : 'disconnect'],
        move('idle', 'logout', 'logout', 'logout'),
        ['forget'],
        ...finish(error),
      ];
    },

    /** Nothing is known against a new connection, so the next attempt begins at once. */
    networkChanged(now) {
      if (state === 'idle' || state === 'failed') return [];
      if (state === 'connecting') return [['disconnect'], ...begin(now)];
      const actions = [];
      if (state === 'connected') {
        begins(now, true);
        actions.push(['disconnect'], move('disconnected', 'networkChange', 'networkChange', 'the network changed'));
      }
      outage.failures = Math.min(outage.failures, 1);
      outage.slow = Math.min(outage.slow, 1);
      outage.refusals = 0;
      return [...actions, ...again(now)];
    },

    // MARK: What the connection reports

    /** The provider has answered the attempt that waits for it. Connecting and logging in may take as long again. */
    provided(of, newer, now) {
      if (state !== 'connecting' || of !== attempt || !needsToken) return [];
      needsToken = false;
      isFresh = true;
      link.token = newer;
      endsAt = now + requestTimeout;
      return now < expiresAt ? firstStep(now) : attemptEnded(expired('the token provider brought it again'), now);
    },

    /** The login is accepted. Restoring may take as long again. */
    accepted(of, now) {
      if (state !== 'connecting' || of !== attempt) return;
      isRestoring = true;
      endsAt = now + requestTimeout;
    },

    /**
     * Everything is answered for. `unrestored` are the channels that were refused, `interrupted` those that continue behind a gap, and
     * `incomplete` says that messages to the user were lost, or that a user isn't followed any more.
     */
    restored(of, { unrestored, interrupted, incomplete }, now) {
      if (state !== 'connecting' || of !== attempt) return [];
      const { was, suspended, since } = outage;
      outage = null;
      if (!was && pending !== null) {
        return [move('connected', 'login', 'loginSuccess', 'logged in'), ...finish(null)];
      }
      const inTime = was && !suspended && now <= since + resumeWindow;
      const unrestoredChannels = union(unrestored, inTime ? interrupted : []);
      const isResumed = inTime && unrestoredChannels.length === 0 && !incomplete;
      const lists = { unrestoredChannels, isResumed };
      return [move('connected', 'reconnected', 'reconnectSuccess', 'connected again', lists), ...finish(null)];
    },

    ended(of, loss, now) {
      if (of !== attempt) return [];
      if (state === 'connected') return connectionEnded(loss, now);
      return state === 'connecting' ? attemptEnded(loss, now) : [];
    },

    // MARK: Time

    tick(now) {
      if (now < link.deadline) return [];
      if (now >= outage.since + reconnectTimeout) {
        const reason = `no connection within the reconnect timeout${outage.last}`;
        const reasonCode = pending === null ? 'reconnectTimeout' : 'loginTimeout';
        return fail({ reason, reasonCode, error: loginError(-10011, reason) }, 'autoReconnect');
      }
      if (state === 'connecting') {
        if (now >= beginsAt) {
          beginsAt = Infinity;
          return firstStep(now);
        }
        const what = needsToken ? 'token of the provider' : isRestoring ? 'restoration' : 'login';
        return attemptEnded(loss('error', `no ${what} within ${requestTimeout / 1000} seconds`), now);
      }
      return state === 'disconnected' && now >= outage.since + resumeWindow ? suspend() : again(now);
    },
  };
  return link;

  // MARK: Ends

  /** With a provider an expired token is no reason to give up. */
  function replacesToken({ fatal }, now) {
    if (fatal !== 'tokenExpired') return false;
    expiresAt = now;
    return (needsToken = !!tokenProvider);
  }

  function connectionEnded(loss, now) {
    const isReplaced = replacesToken(loss, now);
    if (loss.fatal && !isReplaced) return fail(loss);
    begins(now, true);
    schedule(loss, now);
    const operation = loss.cause === 'heartbeat' ? 'heartbeatTimeout' : 'serverTimeout';
    const actions = [['disconnect'], move('disconnected', operation, loss.reasonCode, loss.reason)];
    if (isReplaced) return [...actions, ...again(now)];
    if (!loss.drain) return actions;
    // Another server needs no time to get ready. The same one says when its successor may be asked.
    const pause = servers.length === 1 ? loss.retryAfter : 0;
    server = (server + 1) % servers.length;
    return [...actions, ...again(now, pause)];
  }

  function attemptEnded(loss, now) {
    const returns = outage.was || pending === null;
    // Without a token no server has been tried.
    const hasOther = tried < servers.length && !needsToken;
    const wasFresh = isFresh;
    const isReplaced = replacesToken(loss, now);
    // The clock of whoever makes the tokens may be behind, so a lost session asks once more.
    const isLastToken = wasFresh && (!outage.was || outage.refusedToken);
    if (loss.fatal && !(returns && loss.later) && (!isReplaced || isLastToken)) return fail(loss);
    const actions = [['disconnect']];
    if (isReplaced && !wasFresh) return [...actions, ...begin(now)];
    outage.refusedToken ||= isReplaced;
    if (hasOther && !isReplaced) {
      server = (server + 1) % servers.length;
      return [...actions, ...begin(now, tried + 1, 0, wasFresh)];
    }
    server = 0;
    const operation = outage.failures === 0 && !outage.was ? 'login' : 'autoReconnect';
    outage.failures++;
    outage.last = `; the latest attempt failed: ${loss.reason}`;
    outage.refusals = loss.quick ? outage.refusals + 1 : 0;
    if (!loss.quick) outage.slow++;
    if (outage.suspended) {
      outage.retryAt = now + Math.max(jittered(suspendedWait), loss.retryAfter ?? 0);
      const change = move('suspended', 'autoReconnect', 'connectionError', loss.reason);
      return [...actions, change, ...loginTimedOut()];
    }
    schedule(loss, now);
    actions.push(move('disconnected', operation, 'connectionError', loss.reason));
    return now < outage.since + resumeWindow ? actions : [...actions, ...suspend()];
  }

  // MARK: Waits

  /** An outage begins. `was` says that there was a session. */
  function begins(since, was) {
    outage = { since, was, failures: 0, refusals: 0, slow: 0, notBefore: 0, retryAt: Infinity, last: '' };
  }

  function jittered(wait) {
    return wait * (1 + jitter * (2 * random() - 1));
  }

  /** When the next attempt begins. The last one begins early enough to end before the link is suspended. */
  function schedule({ cause, drain, retryAfter = 0 }, now) {
    const doubled = (wait, times) => wait * 2 ** Math.max(0, times);
    const first = outage.was ? 0 : 1;
    let wait = doubled(usualWait, outage.slow - first);
    // A server that is started again refuses until it is there, and a refusal costs nobody anything.
    if (outage.refusals > 0) {
      const refused = Math.min(doubled(refusedWait, outage.refusals - 1), refusedWaitMax);
      wait = Math.min(refused, doubled(usualWait, outage.failures - first));
    }
    wait = jittered(wait);
    if (outage.failures === 0 && cause === 'disconnect') wait = retryAfter || (drain ? 0 : wait);
    outage.notBefore = now + retryAfter;
    const last = outage.since + resumeWindow - margin;
    const retryAt = Math.max(Math.min(now + wait, last), outage.notBefore);
    outage.retryAt = retryAt <= last && retryAt >= now + Math.min(wait, usualWait) ? retryAt : Infinity;
  }

  function suspend() {
    outage.suspended = true;
    outage.retryAt = Math.max(outage.since + resumeWindow + jittered(suspendedWait), outage.notBefore);
    const reason = `no connection for ${resumeWindow / 1000} seconds`;
    return [move('suspended', 'autoReconnect', 'reconnectTimeout', reason), ...loginTimedOut()];
  }

  /** Without a `reconnectTimeout` a first login ends with the first window, while the client keeps trying (S-13). */
  function loginTimedOut() {
    if (reconnectTimeout < Infinity) return [];
    return finish(loginError(-10011, `no login so far, the client keeps trying${outage.last}`));
  }

  // MARK: Transitions

  function again(now, pause) {
    return connect(now, 'autoReconnect', 'autoReconnect', 'connecting again', pause);
  }

  function connect(now, operation, reasonCode, reason, pause) {
    return [move('connecting', operation, reasonCode, reason), ...begin(now, 1, pause)];
  }

  /** An attempt, at once or after a pause. `number` counts the servers. */
  function begin(now, number = 1, pause = 0, hasFreshToken = false) {
    outage.retryAt = Infinity;
    outage.notBefore = 0;
    isRestoring = false;
    isFresh = hasFreshToken;
    tried = number;
    beginsAt = pause > 0 ? now + pause : Infinity;
    endsAt = now + pause + requestTimeout;
    attempt++;
    return pause > 0 ? [] : firstStep(now);
  }

  /** A token that is known to have expired isn't presented: a provider has to replace it, and without one the link fails (S-54). */
  function firstStep(now) {
    if (now >= expiresAt) {
      if (!tokenProvider) return fail(expired('log in with a new one'));
      needsToken = true;
    }
    return [needsToken ? ['askForToken', attempt] : ['connect', attempt, server]];
  }

  function fail({ reason, reasonCode, error }, operation = 'serverReject') {
    outage = null;
    return [['disconnect'], move('failed', operation, reasonCode, reason), ...finish(error), ['forget']];
  }

  function finish(error) {
    const ended = pending ? [...renewals, pending] : renewals;
    pending = null;
    renewals = [];
    return ended.map((call) => ['login', call, error]);
  }

  function move(currentState, operation, reasonCode, reason, more) {
    const previousState = state;
    state = currentState;
    isRestoring = false;
    return ['announce', { currentState, previousState, operation, reasonCode, reason, ...more }];
  }
}

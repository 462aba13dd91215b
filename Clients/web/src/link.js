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

export class Link {
  state = 'idle';
  /** Counts the attempts; reports about an earlier one are ignored. */
  attempt = 0;
  #token;
  /** From this time on the server doesn't take the token, as far as that is known (S-54). */
  #expiresAt = Infinity;
  /** The login that waits for its end. */
  pending = null;
  /** The time without a connection, from its beginning to the next session. */
  #outage = null;
  #deadline = Infinity;
  #beginsAt = Infinity;
  #isRestoring = false;
  /** The next connection has to wait for a token of the provider, and this round has got its token from there (S-53). */
  #needsToken = false;
  #isTokenFresh = false;
  #tried = 0;
  #server = 0;
  #options;

  constructor(options) {
    this.#options = { servers: 1, reconnectTimeout: Infinity, attemptTimeout: 10_000, random: Math.random, ...options };
  }

  /** What an attempt logs in with; without it, the app id. */
  get token() {
    return this.#token;
  }

  set token(token) {
    if (token !== this.#token) this.#expiresAt = Infinity;
    this.#token = token;
  }

  /** The server has said how long the token lives. */
  expires(remaining, now) {
    this.#expiresAt = now + remaining;
  }

  /** A session was lost, and is being taken up again. */
  get isComingBack() {
    return this.state === 'connecting' && this.#outage.was;
  }

  /** When `tick` has something to do. */
  get deadline() {
    const outage = this.#outage;
    if (!outage) return Infinity;
    const giveUp = outage.since + this.#options.reconnectTimeout;
    if (this.state === 'connecting') return Math.min(this.#beginsAt, this.#deadline, giveUp);
    return Math.min(outage.retryAt, outage.suspended ? Infinity : outage.since + resumeWindow, giveUp);
  }

  // MARK: Calls of the app

  login(login, token, now) {
    const { state } = this;
    if (state === 'connected') return token && token !== this.token ? [['renew', login, token]] : [['login', login, null]];
    const actions = this.#finish(loginError(-10023, 'a newer login replaced this one'));
    this.pending = login;
    this.#needsToken = !token && this.#options.hasProvider;
    if (this.#outage?.was) this.token = token ?? this.token;
    else {
      this.token = token ?? this.#options.token;
      // A new session knows nothing of its token.
      this.#expiresAt = Infinity;
      this.#begins(now, false);
    }
    if (state === 'connecting') return [...actions, ['disconnect'], ...this.#begin(now)];
    return [...actions, ...this.#connect(now, 'login', state === 'idle' ? 'login' : 'relogin', 'login')];
  }

  logout(error = loginError(-10023, 'a logout replaced this login')) {
    if (this.state === 'idle') return [];
    const isOpen = this.state === 'connected' || this.#isRestoring;
    this.#outage = null;
    return [
      [isOpen ? 'sendLogout' : 'disconnect'],
      this.#move('idle', 'logout', 'logout', 'logout'),
      ['forget'],
      ...this.#finish(error),
    ];
  }

  /** Nothing is known against a new connection, so the next attempt begins at once. */
  networkChanged(now) {
    const { state } = this;
    if (state === 'idle' || state === 'failed') return [];
    if (state === 'connecting') return [['disconnect'], ...this.#begin(now)];
    const actions = [];
    if (state === 'connected') {
      this.#begins(now, true);
      actions.push(['disconnect'], this.#move('disconnected', 'networkChange', 'networkChange', 'the network changed'));
    }
    const outage = this.#outage;
    outage.failures = Math.min(outage.failures, 1);
    outage.slow = Math.min(outage.slow, 1);
    outage.refusals = 0;
    return [...actions, ...this.#again(now)];
  }

  // MARK: What the connection reports

  /** The provider has answered the attempt that waits for it. Connecting and logging in may take as long again. */
  provided(attempt, token, now) {
    if (this.state !== 'connecting' || attempt !== this.attempt || !this.#needsToken) return [];
    this.#needsToken = false;
    this.#isTokenFresh = true;
    this.token = token;
    this.#deadline = now + this.#options.attemptTimeout;
    return now < this.#expiresAt ? this.#firstStep(now) : this.#attemptEnded(expired('the token provider brought it again'), now);
  }

  /** With a provider an expired token is no reason to give up. */
  #replacesToken({ fatal }, now) {
    if (fatal !== 'tokenExpired') return false;
    this.#expiresAt = now;
    return (this.#needsToken = !!this.#options.hasProvider);
  }

  /** The login is accepted. Restoring may take as long again. */
  accepted(attempt, now) {
    if (this.state !== 'connecting' || attempt !== this.attempt) return;
    this.#isRestoring = true;
    this.#deadline = now + this.#options.attemptTimeout;
  }

  /**
   * Everything is answered for. `unrestored` are the channels that were refused, `interrupted` those that continue behind a gap, and
   * `incomplete` says that messages to the user were lost, or that a user isn't followed any more.
   */
  restored(attempt, { unrestored, interrupted, incomplete }, now) {
    if (this.state !== 'connecting' || attempt !== this.attempt) return [];
    const { was, suspended, since } = this.#outage;
    this.#outage = null;
    if (!was && this.pending !== null) {
      return [this.#move('connected', 'login', 'loginSuccess', 'logged in'), ...this.#finish(null)];
    }
    const inTime = was && !suspended && now <= since + resumeWindow;
    const unrestoredChannels = union(unrestored, inTime ? interrupted : []);
    const isResumed = inTime && unrestoredChannels.length === 0 && !incomplete;
    const lists = { unrestoredChannels, isResumed };
    return [this.#move('connected', 'reconnected', 'reconnectSuccess', 'connected again', lists), ...this.#finish(null)];
  }

  ended(attempt, loss, now) {
    if (attempt !== this.attempt) return [];
    if (this.state === 'connected') return this.#connectionEnded(loss, now);
    return this.state === 'connecting' ? this.#attemptEnded(loss, now) : [];
  }

  #connectionEnded(loss, now) {
    const replacesToken = this.#replacesToken(loss, now);
    if (loss.fatal && !replacesToken) return this.#fail(loss);
    this.#begins(now, true);
    this.#schedule(loss, now);
    const operation = loss.cause === 'heartbeat' ? 'heartbeatTimeout' : 'serverTimeout';
    const actions = [['disconnect'], this.#move('disconnected', operation, loss.reasonCode, loss.reason)];
    if (replacesToken) return [...actions, ...this.#again(now)];
    if (!loss.drain) return actions;
    // Another server needs no time to get ready. The same one says when its successor may be asked.
    const pause = this.#options.servers === 1 ? loss.retryAfter : 0;
    this.#server = (this.#server + 1) % this.#options.servers;
    return [...actions, ...this.#again(now, pause)];
  }

  #attemptEnded(loss, now) {
    const outage = this.#outage;
    const returns = outage.was || this.pending === null;
    // Without a token no server has been tried.
    const hasOther = this.#tried < this.#options.servers && !this.#needsToken;
    const isFresh = this.#isTokenFresh;
    const replacesToken = this.#replacesToken(loss, now);
    // The clock of whoever makes the tokens may be behind, so a lost session asks once more.
    const isLastToken = isFresh && (!outage.was || outage.refusedToken);
    if (loss.fatal && !(returns && loss.later) && (!replacesToken || isLastToken)) return this.#fail(loss);
    const actions = [['disconnect']];
    if (replacesToken && !isFresh) return [...actions, ...this.#begin(now)];
    outage.refusedToken ||= replacesToken;
    if (hasOther && !replacesToken) {
      this.#server = (this.#server + 1) % this.#options.servers;
      return [...actions, ...this.#begin(now, this.#tried + 1, 0, isFresh)];
    }
    this.#server = 0;
    const operation = outage.failures === 0 && !outage.was ? 'login' : 'autoReconnect';
    outage.failures++;
    outage.last = `; the latest attempt failed: ${loss.reason}`;
    outage.refusals = loss.quick ? outage.refusals + 1 : 0;
    if (!loss.quick) outage.slow++;
    if (outage.suspended) {
      outage.retryAt = now + Math.max(this.#jittered(suspendedWait), loss.retryAfter ?? 0);
      const change = this.#move('suspended', 'autoReconnect', 'connectionError', loss.reason);
      return [...actions, change, ...this.#loginTimedOut()];
    }
    this.#schedule(loss, now);
    actions.push(this.#move('disconnected', operation, 'connectionError', loss.reason));
    return now < outage.since + resumeWindow ? actions : [...actions, ...this.#suspend()];
  }

  // MARK: Time

  tick(now) {
    const { state } = this;
    const outage = this.#outage;
    if (now < this.deadline) return [];
    if (now >= outage.since + this.#options.reconnectTimeout) {
      const reason = `no connection within the reconnect timeout${outage.last}`;
      const reasonCode = this.pending === null ? 'reconnectTimeout' : 'loginTimeout';
      return this.#fail({ reason, reasonCode, error: loginError(-10011, reason) }, 'autoReconnect');
    }
    if (state === 'connecting') {
      if (now >= this.#beginsAt) {
        this.#beginsAt = Infinity;
        return this.#firstStep(now);
      }
      const what = this.#needsToken ? 'token of the provider' : this.#isRestoring ? 'restoration' : 'login';
      const reason = `no ${what} within ${this.#options.attemptTimeout / 1000} seconds`;
      return this.#attemptEnded(loss('error', reason), now);
    }
    return state === 'disconnected' && now >= outage.since + resumeWindow ? this.#suspend() : this.#again(now);
  }

  /** An outage begins. `was` says that there was a session. */
  #begins(since, was) {
    const counts = { failures: 0, refusals: 0, slow: 0, refusedToken: false };
    this.#outage = { since, was, ...counts, suspended: false, retryAt: Infinity, notBefore: 0, last: '' };
  }

  #jittered(wait) {
    return wait * (1 + jitter * (2 * this.#options.random() - 1));
  }

  /** When the next attempt begins. The last one begins early enough to end before the link is suspended. */
  #schedule({ cause, drain, retryAfter = 0 }, now) {
    const outage = this.#outage;
    const doubled = (wait, times) => wait * 2 ** Math.max(0, times);
    const first = outage.was ? 0 : 1;
    let wait = doubled(usualWait, outage.slow - first);
    // A server that is started again refuses until it is there, and a refusal costs nobody anything.
    if (outage.refusals > 0) {
      const refused = Math.min(doubled(refusedWait, outage.refusals - 1), refusedWaitMax);
      wait = Math.min(refused, doubled(usualWait, outage.failures - first));
    }
    wait = this.#jittered(wait);
    if (outage.failures === 0 && cause === 'disconnect') wait = retryAfter || (drain ? 0 : wait);
    outage.notBefore = now + retryAfter;
    const last = outage.since + resumeWindow - margin;
    const retryAt = Math.max(Math.min(now + wait, last), outage.notBefore);
    outage.retryAt = retryAt <= last && retryAt >= now + Math.min(wait, usualWait) ? retryAt : Infinity;
  }

  #suspend() {
    const outage = this.#outage;
    outage.suspended = true;
    outage.retryAt = Math.max(outage.since + resumeWindow + this.#jittered(suspendedWait), outage.notBefore);
    const reason = `no connection for ${resumeWindow / 1000} seconds`;
    return [this.#move('suspended', 'autoReconnect', 'reconnectTimeout', reason), ...this.#loginTimedOut()];
  }

  /** Without a `reconnectTimeout` a first login ends with the first window, while the client keeps trying (S-13). */
  #loginTimedOut() {
    if (this.#options.reconnectTimeout < Infinity) return [];
    return this.#finish(loginError(-10011, `no login so far, the client keeps trying${this.#outage.last}`));
  }

  // MARK: Transitions

  #again(now, pause) {
    return this.#connect(now, 'autoReconnect', 'autoReconnect', 'connecting again', pause);
  }

  #connect(now, operation, reasonCode, reason, pause) {
    return [this.#move('connecting', operation, reasonCode, reason), ...this.#begin(now, 1, pause)];
  }

  /** An attempt, at once or after a pause. `tried` counts the servers. */
  #begin(now, tried = 1, pause = 0, isTokenFresh = false) {
    this.#outage.retryAt = Infinity;
    this.#outage.notBefore = 0;
    this.#isRestoring = false;
    this.#isTokenFresh = isTokenFresh;
    this.#tried = tried;
    this.#beginsAt = pause > 0 ? now + pause : Infinity;
    this.#deadline = now + pause + this.#options.attemptTimeout;
    this.attempt++;
    return pause > 0 ? [] : this.#firstStep(now);
  }

  /** A token that is known to have expired isn't presented: a provider has to replace it, and without one the link fails (S-54). */
  #firstStep(now) {
    if (now >= this.#expiresAt) {
      if (!this.#options.hasProvider) return this.#fail(expired('log in with a new one'));
      this.#needsToken = true;
    }
    return [this.#needsToken ? ['askForToken', this.attempt] : ['connect', this.attempt, this.#server]];
  }

  #fail({ reason, reasonCode, error }, operation = 'serverReject') {
    this.#outage = null;
    return [['disconnect'], this.#move('failed', operation, reasonCode, reason), ...this.#finish(error), ['forget']];
  }

  #finish(error) {
    const login = this.pending;
    this.pending = null;
    return login === null ? [] : [['login', login, error]];
  }

  #move(currentState, operation, reasonCode, reason, more) {
    const previousState = this.state;
    this.state = currentState;
    this.#isRestoring = false;
    return ['announce', { currentState, previousState, operation, reasonCode, reason, ...more }];
  }
}

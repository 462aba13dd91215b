// Decides what the link does and when (docs/behaviour.md 2.3, T1 to T17, S-6, S-13 to S-18). Pure: every call gets the time, the
// random numbers are given, and what is to be done comes back as a list of actions, which the client performs in order:
//
//   ['announce', change]  ['connect', attempt, server]  ['disconnect']  ['sendLogout']
//   ['renew', login, token]  ['login', login, error or null]  ['forget']

import { RTMError } from './errors.js';
import { loss } from './losses.js';

export const timing = {
  /** The first wait, which doubles each time; that after a server which refused at once; and that of a suspended link. */
  retry: 2000,
  refused: 250,
  refusedMax: 5000,
  suspended: 30_000,
  /** How long a lost session is resumed, and how long before its end the last attempt begins. */
  window: 120_000,
  margin: 10_000,
  jitter: 0.2,
};

export class Link {
  state = 'idle';
  /** Counts the attempts; reports about an earlier one are ignored. */
  attempt = 0;
  server = 0;
  token;
  /** The login that waits for its end. */
  pending = null;
  /** The time without a connection, from its beginning to the next session. */
  outage = null;
  #deadline = Infinity;
  #restoring = false;
  #tried = 0;
  #beginsAt = null;

  constructor({ token, ...options }) {
    const usual = { servers: 1, reconnectTimeout: Infinity, attemptTimeout: 10_000, random: Math.random, times: timing };
    Object.assign(this, usual, options, { firstToken: token });
  }

  /** A session was lost, and is being taken up again. */
  get isComingBack() {
    return this.state === 'connecting' && this.outage.was;
  }

  get isRestoring() {
    return this.#restoring;
  }

  /** When `tick` has something to do. */
  get deadline() {
    const { state, outage } = this;
    if (!outage) return Infinity;
    const giveUp = outage.since + this.reconnectTimeout;
    if (state === 'connecting') return Math.min(this.#beginsAt ?? Infinity, this.#deadline, giveUp);
    return Math.min(outage.retryAt ?? Infinity, outage.suspended ? Infinity : outage.since + this.times.window, giveUp);
  }

  // MARK: Calls of the app

  login(login, token, now) {
    if (this.state === 'connected') {
      return token && token !== this.token ? [['renew', login, token]] : [['login', login, null]];
    }
    const actions = this.#finish(new RTMError(-10023, 'a newer login replaced this one', { operation: 'login' }));
    this.pending = login;
    // A lost session keeps its token, which may have been renewed.
    this.token = token ?? (this.outage?.was ? this.token : this.firstToken);
    const outage = this.outage?.was ? this.outage : this.#newOutage(now, false);
    const previous = this.state;
    if (previous === 'connecting') return [...actions, ['disconnect'], this.#begin(outage, now)];
    const reason = previous === 'idle' ? 'login' : 'relogin';
    return [...actions, ...this.#connect(outage, now, 'login', reason, 'login')];
  }

  logout() {
    if (this.state === 'idle') return [];
    const open = this.state === 'connected' || this.#restoring;
    const actions = [[open ? 'sendLogout' : 'disconnect'], this.#move('idle', 'logout', 'logout', 'logout', { lists: true })];
    this.outage = null;
    return [
      ...actions,
      ['forget'],
      ...this.#finish(new RTMError(-10023, 'a logout replaced this login', { operation: 'login' })),
    ];
  }

  /** Nothing is known against a new connection, so the next attempt begins at once. */
  networkChanged(now) {
    if (this.state === 'idle' || this.state === 'failed') return [];
    const text = 'the network changed';
    if (this.state === 'connecting') return [['disconnect'], this.#begin(this.outage, now)];
    const actions = [];
    if (this.state === 'connected') {
      this.outage = this.#newOutage(now, true);
      actions.push(['disconnect'], this.#move('disconnected', 'networkChange', 'networkChange', text, { lists: true }));
    }
    Object.assign(this.outage, { failures: Math.min(this.outage.failures, 1), slow: Math.min(this.outage.slow, 1), refusals: 0 });
    return [...actions, ...this.#again(now)];
  }

  // MARK: What the connection reports

  /** The login is accepted. Restoring may take as long again. */
  accepted(attempt, now) {
    if (this.state !== 'connecting' || attempt !== this.attempt) return;
    this.#restoring = true;
    this.#deadline = now + this.attemptTimeout;
  }

  /**
   * Everything is answered for. `unrestored` are the channels that were refused, `interrupted` those that go on behind a gap, and
   * `incomplete` says that messages to the user were lost, or that a user isn't followed any more.
   */
  restored(attempt, { unrestored, interrupted, incomplete }, now) {
    if (this.state !== 'connecting' || attempt !== this.attempt) return [];
    const { outage } = this;
    let change;
    if (outage.was || this.pending === null) {
      const inTime = outage.was && !outage.suspended && now <= outage.since + this.times.window;
      const channels = [...new Set(inTime ? [...unrestored, ...interrupted] : unrestored)].sort();
      change = this.#move('connected', 'reconnected', 'reconnectSuccess', 'connected again', {
        lists: true,
        unrestoredChannels: channels,
        isResumed: inTime && channels.length === 0 && !incomplete,
      });
    } else change = this.#move('connected', 'login', 'loginSuccess', 'logged in');
    this.outage = null;
    return [change, ...this.#finish(null)];
  }

  ended(attempt, loss, now) {
    if (attempt !== this.attempt) return [];
    if (this.state === 'connected') return this.#connectionEnded(loss, now);
    return this.state === 'connecting' ? this.#attemptEnded(loss, now) : [];
  }

  #connectionEnded(loss, now) {
    if (loss.fatal) return this.#fail(loss);
    this.outage = this.#newOutage(now, true);
    this.#schedule(loss, now);
    const operation = loss.cause === 'heartbeat' ? 'heartbeatTimeout' : 'serverTimeout';
    const actions = [['disconnect'], this.#move('disconnected', operation, loss.reasonCode, loss.reason, { lists: true })];
    if (!loss.drain) return actions;
    // Another server needs no time to get ready. The same one says when its successor may be asked.
    if (this.servers === 1) return [...actions, ...this.#again(now, loss.retryAfter)];
    this.server = (this.server + 1) % this.servers;
    return [...actions, ...this.#again(now)];
  }

  #attemptEnded(loss, now) {
    const { outage } = this;
    const returns = outage.was || this.pending === null;
    if (loss.fatal && !(returns && loss.later)) return this.#fail(loss);
    const actions = [['disconnect']];
    if (this.#tried < this.servers) {
      this.server = (this.server + 1) % this.servers;
      return [...actions, this.#begin(outage, now, this.#tried + 1)];
    }
    this.server = 0;
    const operation = outage.failures === 0 && !outage.was ? 'login' : 'autoReconnect';
    outage.failures++;
    outage.last = loss.reason;
    if (loss.quick) outage.refusals++;
    else {
      outage.slow++;
      outage.refusals = 0;
    }
    if (outage.suspended) {
      outage.retryAt = now + Math.max(this.#jittered(this.times.suspended), loss.retryAfter ?? 0);
      const change = this.#move('suspended', 'autoReconnect', 'connectionError', loss.reason, { lists: true });
      return [...actions, change, ...this.#loginTimedOut()];
    }
    this.#schedule(loss, now);
    actions.push(this.#move('disconnected', operation, 'connectionError', loss.reason));
    return now >= outage.since + this.times.window ? [...actions, ...this.#suspend()] : actions;
  }

  // MARK: Time

  tick(now) {
    const { outage, state } = this;
    if (!outage || now < this.deadline) return [];
    if (now >= outage.since + this.reconnectTimeout) {
      const reason = `no connection within the reconnect timeout${this.#cause}`;
      const reasonCode = this.pending === null ? 'reconnectTimeout' : 'loginTimeout';
      const error = new RTMError(-10011, reason, { operation: 'login' });
      return this.#fail({ reason, reasonCode, error }, 'autoReconnect');
    }
    if (state === 'connecting') {
      if (this.#beginsAt !== null && now >= this.#beginsAt) {
        this.#beginsAt = null;
        return [['connect', this.attempt, this.server]];
      }
      const what = this.#restoring ? 'restoring the subscriptions' : 'connecting and logging in';
      return this.#attemptEnded(loss('error', `${what} took more than ${this.attemptTimeout / 1000} seconds`), now);
    }
    if (state === 'disconnected' && now >= outage.since + this.times.window) return this.#suspend();
    return this.#again(now);
  }

  #newOutage(since, was) {
    return { since, was, failures: 0, refusals: 0, slow: 0, suspended: false, retryAt: null, notBefore: 0, last: '' };
  }

  get #cause() {
    return this.outage.last && `; the latest attempt failed: ${this.outage.last}`;
  }

  #jittered(delay) {
    return delay * (1 + this.times.jitter * (2 * this.random() - 1));
  }

  /** When the next attempt begins. The last one begins early enough to end before the link is suspended. */
  #schedule(loss, now) {
    const { outage, times } = this;
    const doubled = (delay, times) => delay * 2 ** Math.min(Math.max(0, times), 16);
    const first = outage.was ? 0 : 1;
    let pause = doubled(times.retry, outage.slow - first);
    // A server that is started again refuses until it is there, and a refusal costs nobody anything.
    if (outage.refusals > 0) {
      const refused = Math.min(doubled(times.refused, outage.refusals - 1), times.refusedMax);
      pause = Math.min(refused, doubled(times.retry, outage.failures - first));
    }
    let delay = this.#jittered(pause);
    if (outage.failures === 0 && loss.cause === 'disconnect') delay = loss.retryAfter ?? (loss.drain ? 0 : delay);
    outage.notBefore = now + (loss.retryAfter ?? 0);
    const last = outage.since + times.window - times.margin;
    const retryAt = Math.min(Math.max(now + delay, outage.notBefore), Math.max(last, outage.notBefore));
    outage.retryAt = retryAt <= last && retryAt >= now + Math.min(delay, times.retry) ? retryAt : null;
  }

  #suspend() {
    const { outage, times } = this;
    outage.suspended = true;
    outage.retryAt = Math.max(outage.since + times.window + this.#jittered(times.suspended), outage.notBefore);
    const text = `no connection for ${times.window / 1000} seconds`;
    return [this.#move('suspended', 'autoReconnect', 'reconnectTimeout', text, { lists: true }), ...this.#loginTimedOut()];
  }

  /** Without a `reconnectTimeout` a first login ends with the first window, while attempts go on (S-13). */
  #loginTimedOut() {
    if (this.reconnectTimeout !== Infinity) return [];
    const reason = `no login has succeeded so far, attempts go on${this.#cause}`;
    return this.#finish(new RTMError(-10011, reason, { operation: 'login' }));
  }

  // MARK: Transitions

  #again(now, pause = 0) {
    const actions = this.#connect(this.outage, now, 'autoReconnect', 'autoReconnect', 'connecting again');
    if (pause <= 0) return actions;
    this.#beginsAt = now + pause;
    this.#deadline += pause;
    return actions.slice(0, -1);
  }

  #connect(outage, now, operation, reasonCode, reason) {
    const previousState = this.state;
    const connect = this.#begin(outage, now);
    return [['announce', { currentState: 'connecting', previousState, operation, reasonCode, reason }], connect];
  }

  #begin(outage, now, tried = 1) {
    this.state = 'connecting';
    this.outage = Object.assign(outage, { retryAt: null, notBefore: 0 });
    this.#tried = tried;
    this.#restoring = false;
    this.#beginsAt = null;
    this.#deadline = now + this.attemptTimeout;
    return ['connect', ++this.attempt, this.server];
  }

  #fail(loss, operation = 'serverReject') {
    const change = this.#move('failed', operation, loss.reasonCode, loss.reason, { lists: true });
    this.outage = null;
    return [['disconnect'], change, ...this.#finish(loss.error), ['forget']];
  }

  #finish(error) {
    if (this.pending === null) return [];
    const login = this.pending;
    this.pending = null;
    return [['login', login, error]];
  }

  #move(state, operation, reasonCode, reason, more) {
    const previousState = this.state;
    this.state = state;
    this.#restoring = false;
    return ['announce', { currentState: state, previousState, operation, reasonCode, reason, ...more }];
  }
}

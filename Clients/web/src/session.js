// One user's session over its connections: the shell around the pure parts. It owns the socket, the one timer, and the requests
// that wait for an answer.

import { notConnected, fromWire, RTMError, timedOut } from './errors.js';
import { Heartbeat } from './heartbeat.js';
import { Link, loss } from './link.js';
import { OwnLocks } from './locks.js';
import { OwnStates } from './states.js';
import { features, types } from './names.js';
import { Publishes } from './publishes.js';
import { Roster } from './roster.js';
import { subscribeRequest, Subscriptions } from './subscriptions.js';
import { frame, frames, text, WireError } from './wire.js';

const sessions = new WeakMap();
export const sessionOf = (client) => sessions.get(client);

// Limits: calls that wait for a lost session to be taken up, and bytes that wait for the network.
const waitingMax = 1024;
const unsentBytesMax = 8 * 2 ** 20;
/** How often a page that can be seen sends a heartbeat, and what it promises for the time when it can't. */
const pageHeartbeat = { interval: 10_000, promised: 75_000 };

export class Session {
  subscriptions = new Subscriptions();
  publishes = new Publishes();
  rosters = new Map();
  states = new OwnStates(this);
  locks = new OwnLocks(this);
  /** By stream channel: what makes topic events of the changes of its roster (streams.js). */
  topics = new Map();
  #instance;
  #connection = null;
  #requests = new Map();
  #lastId = 0;
  #deadline = Infinity;
  #waiting = new Set();
  #retries = new Map();
  #timer = null;
  #timerAt = Infinity;
  #logins = new Map();
  #consumers = new Set();
  #held = [];
  #opening = Promise.resolve();
  #needsToken = false;
  #announcedFor;
  #clockOffset = 0;
  #unwatch = null;

  constructor(client, config, environment) {
    sessions.set(client, this);
    Object.assign(this, { config, environment, userId: config.userId, encryption: config.encryption });
    const { requestTimeout, reconnectTimeout, servers, token } = config;
    const { random } = environment;
    this.link = new Link({ token, servers: servers.length, reconnectTimeout, attemptTimeout: requestTimeout, random });
    this.#instance = 1 + Math.floor(random() * (2 ** 53 - 2));
  }

  get now() {
    return this.environment.now();
  }

  /** The time of the server, in milliseconds since 1970. */
  get time() {
    return Math.round(Date.now() + this.#clockOffset);
  }

  get inboxEpoch() {
    return this.subscriptions.inbox?.epoch ?? 0;
  }

  // MARK: Login and logout

  async login(token) {
    if (this.closed) throw this.closed;
    this.#watch();
    if (!token && this.config.tokenProvider && this.link.state !== 'connected') token = await this.config.tokenProvider();
    return new Promise((resolve, reject) => {
      const login = ++this.#lastId;
      this.#logins.set(login, { resolve, reject });
      this.#perform(this.link.login(login, token, this.now));
    });
  }

  logout() {
    if (this.link.state === 'idle') throw new RTMError(-10002, 'there is no login', { operation: 'logout' });
    this.#perform(this.link.logout());
    this.#unwatch?.();
  }

  close() {
    if (this.closed) return;
    if (this.link.state !== 'idle') this.logout();
    this.closed = new RTMError(-10018, 'the client is closed');
    for (const consumer of this.#consumers) consumer.end?.();
    this.#consumers.clear();
  }

  #perform(actions) {
    for (const [kind, ...values] of actions) {
      if (kind === 'announce') this.#announce(values[0]);
      else if (kind === 'connect') this.#dial(...values);
      else if (kind === 'disconnect') this.#drop();
      else if (kind === 'sendLogout') this.#leave();
      else if (kind === 'renew') this.#renew(...values);
      else if (kind === 'login') this.#endLogin(...values);
      else this.#forget();
    }
    this.#arm();
  }

  #endLogin(id, error) {
    const login = this.#logins.get(id);
    this.#logins.delete(id);
    if (error) login?.reject(error);
    else login?.resolve();
  }

  async #renew(login, token) {
    try {
      await this.renewToken(token);
      this.#endLogin(login, null);
    } catch (error) {
      this.#endLogin(login, error);
    }
  }

  async renewToken(token, channel = '') {
    await this.ask('renewToken', 'renewToken', 'renewToken', { token, channel });
    if (!channel) this.link.token = token;
  }

  #forget() {
    for (const [id, request] of this.#requests) {
      this.#requests.delete(id);
      const { state } = request.kind === 'publish' ? this.publishes.remove(id) : {};
      const isUnknown = state === 'sent' || state === 'postponed';
      const reason = 'the session has ended; whether the message was published is unknown';
      request.reject(isUnknown ? timedOut('publish', 'publish', reason) : notConnected(request.kind, request.operation));
    }
    this.subscriptions.clear();
    this.rosters.clear();
    this.states.clear();
    this.locks.clear();
    this.#retries.clear();
    this.#deadline = Infinity;
    this.#needsToken = false;
  }

  // MARK: Events

  listen(consumer) {
    this.#consumers.add(consumer);
    return () => this.#consumers.delete(consumer);
  }

  /** What arrives while subscriptions are restored is shown after the link event. */
  emit(event) {
    if (this.link.state === 'connecting') this.#held.push(event);
    else this.#show(event);
  }

  #show(event) {
    if (!this.encryption) return this.#deliver(event);
    // Opening takes time, and events keep their order.
    this.#opening = this.#opening.then(async () => {
      for (const opened of await this.encryption.openEvent(event)) this.#deliver(opened);
    });
  }

  #deliver(event) {
    const shown = event.channelType === 'topics' ? (this.topics.get(event.channelName)?.(event) ?? []) : [event];
    for (const one of shown) {
      for (const consumer of [...this.#consumers]) {
        try {
          if (consumer.push) consumer.push(one);
          else consumer(one);
        } catch (error) {
          (globalThis.reportError ?? console.error)(error);
        }
      }
    }
  }

  #announce(change) {
    const restoring = this.#connection?.restoring;
    const names = this.subscriptions.active.filter(({ type }) => type === 1).map(({ name }) => name);
    const { lists, ...shown } = change;
    const unrestoredChannels = change.unrestoredChannels ?? [];
    this.#show({
      type: 'linkState',
      isResumed: false,
      ...shown,
      affectedChannels: lists ? [...new Set([...names, ...unrestoredChannels])].sort() : [],
      unrestoredChannels,
      unrestoredUsers: (change.currentState === 'connected' && restoring?.users) || [],
      timestamp: this.time,
    });
    if (change.currentState === 'connecting') return;
    if (change.currentState === 'connected') this.locks.announceLost();
    for (const event of this.#held.splice(0)) this.#show(event);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) {
      if (change.currentState === 'connected') call.resolve();
      else call.reject(notConnected(call.kind, call.operation));
    }
    if (change.currentState === 'connected') this.locks.queueAgain();
  }

  // MARK: Connections

  async #dial(attempt, server) {
    const connection = { attempt, frameMax: 40_960, heartbeat: null, restoring: null, since: this.now };
    this.#connection = connection;
    const isCurrent = () => this.#connection === connection;
    const fail = (text, more) => isCurrent() && this.#ended(loss('error', text, more));
    try {
      if (this.#needsToken) {
        const token = await this.config.tokenProvider();
        if (!isCurrent()) return;
        this.link.token = token;
        this.#needsToken = false;
        connection.isTokenFresh = true;
      }
      const socket = new this.environment.WebSocket(this.config.servers[server]);
      connection.socket = socket;
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        try {
          if (isCurrent()) this.#open(connection);
        } catch (error) {
          // The token or a name can't be sent, and won't be the next time.
          const refusal = new RTMError(-10014, error.message, { operation: 'login' });
          this.#ended(loss('refused', refusal.reason, { error: refusal }));
        }
      };
      socket.onmessage = ({ data }) => isCurrent() && this.#received(connection, data);
      // An address where nothing listens says so at once; one that answers an attempt is no such address.
      socket.onclose = socket.onerror = () =>
        fail('the connection was closed', { quick: !connection.login && this.now < connection.since + 1000 });
    } catch (error) {
      fail(`no connection: ${error.message}`);
    }
  }

  #open(connection) {
    const { config, subscriptions, link } = this;
    const token = link.token ?? config.appId;
    const offer = subscriptions.offer(token.length).map((entry) => ({ id: ++this.#lastId, entry }));
    const [channels, users] = [offer.filter(({ entry }) => entry.type > 0), offer.filter(({ entry }) => entry.type === 0)];
    const requests = (items) => items.map(({ id, entry }) => ({ ...subscribeRequest(entry), requestId: id }));
    connection.offer = { channels, users };
    this.#sendFrame(++this.#lastId, 'hello', { versionMin: 1, versionMax: 1, client: 'heliograph web' });
    connection.login = ++this.#lastId;
    this.#sendFrame(connection.login, 'login', {
      appId: config.appId,
      userId: config.userId,
      token,
      heartbeatIntervalS: Math.round((config.heartbeatInterval ?? this.#defaultHeartbeat) / 1000),
      presenceTimeoutS: Math.round(config.presenceTimeout / 1000),
      inboxAfter: subscriptions.inbox ?? undefined,
      instance: this.#instance,
      attempt: connection.attempt,
      asked: link.pending !== null,
      subscriptions: requests(channels),
      followedUsers: requests(users),
    });
  }

  get #defaultHeartbeat() {
    return typeof document === 'undefined' ? 5000 : pageHeartbeat.promised;
  }

  #received(connection, data) {
    try {
      connection.heartbeat?.received();
      for (const { requestId, kind, body } of frames(data)) {
        this.#take(requestId, kind, body);
        if (this.#connection !== connection) return;
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#ended(loss('error', `the server has sent what is no frame: ${error.message}`));
    }
  }

  #ended(reason) {
    const { attempt, isTokenFresh } = this.#connection;
    if (reason.fatal === 'tokenExpired' && this.config.tokenProvider && !isTokenFresh) {
      this.#needsToken = true;
      reason = { ...reason, fatal: undefined };
    }
    this.#perform(this.link.ended(attempt, reason, this.now));
  }

  #detach() {
    const socket = this.#connection?.socket;
    this.#connection = null;
    if (socket) socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    return socket;
  }

  /** The connection is gone. Publishes, and those who wait for a lock, go on over the next one. */
  #drop(socket = this.#detach()) {
    socket?.close();
    this.publishes.lost();
    for (const [id, request] of [...this.#requests]) {
      if (request.kind === 'publish') continue;
      this.#requests.delete(id);
      if (request.lost) request.lost();
      else request.reject(notConnected(request.kind, request.operation, 'the connection was lost before the answer'));
    }
  }

  #leave() {
    this.#sendFrame(++this.#lastId, 'logout', {});
    const socket = this.#detach();
    const { setTimeout, clearTimeout } = this.environment;
    const timer = setTimeout(() => socket.close(), 2000);
    // The server closes when it has answered.
    socket.onclose = socket.onerror = () => clearTimeout(timer);
    this.#drop(null);
  }

  // MARK: Requests

  #sendFrame(id, kind, body) {
    const { socket, frameMax } = this.#connection;
    const bytes = frame('ClientFrame', { requestId: id, [kind]: body });
    if (bytes.length - 4 > frameMax) throw new WireError(`the request has more than ${frameMax} bytes`);
    socket.send(bytes);
  }

  /**
   * Sends a request. Exactly one of `resolve` and `reject` is called, or `lost` in place of the latter when the connection
   * is lost. `refused` may take an error of the server, and returns whether it did.
   */
  send(kind, body, request, id = ++this.#lastId) {
    const { operation } = request;
    request.deadline ??= this.now + this.config.requestTimeout;
    if (!this.#connection?.heartbeat) {
      return request.lost ? request.lost() : request.reject(notConnected(request.kind, operation));
    }
    try {
      this.#sendFrame(id, kind, body);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return request.reject(new RTMError(-10014, error.message, { operation }));
    }
    this.expect(id, request);
    return undefined;
  }

  /** Sends a request again that the server has put off, if somebody still waits for it. */
  sendAgain(id, kind, body, pause) {
    this.later(`request ${id}`, pause, () => {
      if (this.#requests.has(id) && this.#connection?.heartbeat) this.#sendFrame(id, kind, body);
    });
    return true;
  }

  expect(id, request) {
    this.#requests.set(id, request);
    this.#deadline = Math.min(this.#deadline, request.deadline);
    this.#arm();
  }

  /** A request whose answer nobody waits for. */
  notify(kind, body) {
    this.send(kind, body, { kind: '', operation: kind, resolve() {}, reject() {} });
  }

  /** A call of the app: it waits while a lost session is being taken up. */
  async ask(kind, operation, bodyKind, body) {
    const deadline = this.now + this.config.requestTimeout;
    await this.ready(kind, operation, deadline);
    return new Promise((resolve, reject) => this.send(bodyKind, body, { kind, operation, resolve, reject, deadline }));
  }

  async ready(kind, operation, deadline = this.now + this.config.requestTimeout) {
    const { state } = this.link;
    if (this.closed) throw this.closed;
    if (state === 'connected') return;
    if (state === 'idle' || state === 'failed') throw new RTMError(-10002, 'there is no login', { operation });
    if (!this.link.isComingBack || this.#waiting.size >= waitingMax) throw notConnected(kind, operation);
    await new Promise((resolve, reject) => {
      this.#waiting.add({ kind, operation, deadline, resolve, reject });
      this.#deadline = Math.min(this.#deadline, deadline);
      this.#arm();
    });
  }

  #take(id, kind, body) {
    if (id === 0) return this.#pushed(kind, body);
    if (kind === 'welcome') this.#connection.frameMax = body.frameBytesMax || 65_536;
    if (id === this.#connection.login) {
      if (kind === 'loggedIn') return this.#loggedIn(body);
      if (kind === 'error') return this.#ended(loss('refused', body.reason, { error: fromWire(body, 'login') }));
    }
    const request = this.#requests.get(id);
    if (!request) return undefined;
    if (kind === 'error') {
      const error = fromWire(body, request.operation);
      if (request.refused?.(error, id)) return undefined;
      this.#requests.delete(id);
      return request.reject(error);
    }
    this.#requests.delete(id);
    return request.resolve(body);
  }

  /** Does something later, unless the session ends before. */
  later(name, pause, run) {
    this.#retries.set(name, { at: this.now + pause, run });
    this.#arm();
  }

  // MARK: Publishing

  publish(to, publish) {
    const deadline = this.now + this.config.requestTimeout;
    return new Promise((resolve, reject) => {
      const operation = 'publish';
      // It may have been lost since the call became ready.
      if (this.link.state !== 'connected') return reject(notConnected('publish', operation));
      if (this.#connection.socket.bufferedAmount > unsentBytesMax) {
        const reason = 'messages are published faster than the connection takes them';
        return reject(new RTMError(-11025, reason, { operation, limit: { name: 'unsent bytes', value: unsentBytesMax } }));
      }
      const id = ++this.#lastId;
      const admission = this.publishes.add(id, to, publish, this.inboxEpoch, this.now, deadline);
      if (typeof admission === 'number') return reject(tooMany(Math.ceil(admission)));
      const ended = (finish) => (value) => {
        this.publishes.remove(id);
        this.#sendAll(this.publishes.takeHeld(this.now));
        finish(value);
      };
      this.expect(id, {
        kind: 'publish',
        operation,
        deadline,
        resolve: ended(({ offset, timestampMs }) => resolve({ offset, timestamp: timestampMs })),
        reject: ended(reject),
        refused: (error) => {
          if (error.code !== -11024 || !error.retryAfter) return false;
          this.publishes.postpone(id, error);
          this.later('publishes', error.retryAfter, () => this.#sendAll(this.publishes.takePostponed(this.now)));
          return true;
        },
      });
      if (admission) this.#sendAll([{ id, publish: admission }]);
      return undefined;
    });
  }

  #sendAll(sendings) {
    for (const { id, publish } of sendings) {
      try {
        if (this.#connection?.heartbeat) this.#sendFrame(id, 'publish', publish);
      } catch (error) {
        this.#finish(id, new RTMError(-10014, error.message, { operation: 'publish' }));
      }
    }
  }

  #finish(id, error) {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    request?.reject(error);
  }

  #timeOut(id, request) {
    let error = timedOut(request.kind, request.operation);
    if (request.kind === 'publish') {
      const { state, refusal } = this.publishes.remove(id);
      const unknown = 'whether the message was published is unknown';
      if (state === 'paced') error = tooMany(1);
      else if (refusal) error = new RTMError(refusal.code, `${refusal.reason}; ${unknown}`, { operation: 'publish' });
      else error = timedOut('publish', 'publish', `${error.reason}; ${unknown}`);
    }
    request.timedOut?.();
    this.#finish(id, error);
  }

  // MARK: Coming back

  #loggedIn(answer) {
    const connection = this.#connection;
    const { now, subscriptions } = this;
    this.#clockOffset = answer.serverTimeMs - Date.now();
    this.link.accepted(connection.attempt, now);
    const promised = answer.heartbeatIntervalS * 1000 || this.#defaultHeartbeat;
    const isPage = typeof document !== 'undefined' && this.config.heartbeatInterval === undefined;
    connection.heartbeat = new Heartbeat({ interval: isPage ? Math.min(promised, pageHeartbeat.interval) : promised, now });
    connection.restoring = { left: 1, unrestored: [], interrupted: [], users: [], incomplete: false };
    const gap = subscriptions.inboxAt(answer.inboxPosition ?? { epoch: 0, offset: 0 }, answer.inboxGap);
    if (gap) this.#inboxGap(gap);
    // What the lost connection left without an answer goes first, so that nothing new overtakes it.
    const { again, tooOld } = this.publishes.takeLost(now, 120_000);
    this.#sendAll(again);
    const reason = 'the connection was lost for too long; whether the message was published is unknown';
    for (const id of tooOld) this.#finish(id, timedOut('publish', 'publish', reason));
    this.publishes.pace(this.config.pacesPublishes ? answer.publishRates : undefined, now);
    this.#sendAll(this.publishes.takeDue(now, this.inboxEpoch));
    this.locks.restore();
    const { channels, users } = connection.offer;
    const taken = [...channels.slice(0, answer.subscriptions), ...users.slice(0, answer.followedUsers)];
    const known = new Set(taken.map(({ entry }) => entry));
    for (const { entry, id } of taken) this.#restore(entry, id);
    for (const entry of subscriptions.active) if (!known.has(entry) && !entry.leaving) this.#restore(entry);
    this.restored();
  }

  #inboxGap(gap) {
    this.#connection.restoring.incomplete = true;
    this.emit({ type: 'gap', channelType: 'user', channelName: this.userId, ...gap });
  }

  /** Something more has to be answered before the link counts as connected. */
  restores() {
    this.#connection.restoring.left++;
  }

  restored() {
    const connection = this.#connection;
    if (!connection?.restoring || --connection.restoring.left > 0) return;
    this.#perform(this.link.restored(connection.attempt, connection.restoring, this.now));
  }

  /** Takes up a subscription. `id` is that within the login, if the server answers for it. */
  #restore(entry, id) {
    this.restores();
    const { subscriptions } = this;
    const { restoring } = this.#connection;
    const isUser = entry.type === 0;
    const kind = isUser ? 'subscribeUserMetadata' : 'subscribe';
    const request = {
      kind: 'subscribe',
      operation: kind,
      deadline: this.now + this.config.requestTimeout,
      resolve: (answer) => {
        if (subscriptions.get(entry.key) === entry) {
          const gap = subscriptions.confirm(entry, answer);
          if (gap && !isUser) {
            restoring.interrupted.push(entry.name);
            this.emitGap(entry, gap);
          }
          this.begin(entry, answer);
        } else this.notify(isUser ? 'unsubscribeUserMetadata' : 'unsubscribe', subscribeRequest(entry));
        this.restored();
      },
      reject: (error) => this.#restorationRefused(entry, restoring, error),
      lost() {},
      timedOut: () => this.#ended(loss('error', 'the server did not answer while subscriptions were restored')),
    };
    if (id) this.expect(id, request);
    else this.send(kind, subscribeRequest(entry), request);
  }

  #restorationRefused(entry, restoring, error) {
    const { code, limit, retryAfter, reason } = error;
    const isCurrent = () => this.#connection?.restoring === restoring;
    // A next connection restores everything itself.
    const again = () => isCurrent() && this.subscriptions.get(entry.key) === entry && this.#restore(entry);
    if (!isCurrent()) return undefined;
    if (this.subscriptions.get(entry.key) !== entry) return this.restored();
    if (entry.type === 0 && (code === -12001 || code === -12018 || code === -12019)) {
      this.later(`restore ${entry.key}`, retryAfter ?? 2000, again);
      return this.restored();
    }
    if ((code === -10021 || code === -11020) && retryAfter) {
      return this.later(`restore ${entry.key}`, retryAfter, () => {
        again();
        if (isCurrent()) this.restored();
      });
    }
    // A bad moment must not cost the subscription: the next connection tries again.
    if (code === -11019 || ((code === -11021 || code === -11007) && !limit && (retryAfter || code === -11021))) {
      return this.#ended(loss('error', `a subscription could not be restored yet: ${reason}`));
    }
    for (const ended of this.subscriptions.remove(entry)) this.forget(ended);
    if (entry.type === 0) {
      restoring.users.push(entry.name);
      restoring.incomplete = true;
    } else if (entry.type === 2) this.emit({ type: 'streamChannelEnded', channelName: entry.name, error });
    else if (entry.type === 1) restoring.unrestored.push(entry.name);
    return this.restored();
  }

  emitGap({ type, name }, gap) {
    this.emit({ type: 'gap', ...this.#place(type, name), ...gap });
  }

  /** A topic is known by its stream channel. */
  #place(type, name) {
    if (type !== 5) return { channelType: types[type], channelName: name, topic: '' };
    const slash = name.indexOf('/');
    return { channelType: 'stream', channelName: name.slice(0, slash), topic: name.slice(slash + 1) };
  }

  /** A subscription is there, for the first time or again: what follows its answer is expected. */
  begin(entry, { position, featuresUnavailable = 0 }) {
    const { key, type, features: wanted } = entry;
    if (type === 5) return;
    if (wanted & features.presence && type !== 0) {
      const roster = this.rosters.get(key) ?? new Roster(this.userId);
      this.rosters.set(key, roster);
      roster.begin(position.epoch);
      if (featuresUnavailable & features.presence) this.#emitPresence(entry, roster.lost());
      // Who was quiet adds itself.
      else if (roster.users && !(wanted & features.quiet) && !roster.users.has(this.userId)) roster.users.set(this.userId, {});
    } else this.rosters.delete(key);
    if (wanted & featuresUnavailable & (features.metadata | features.lock)) this.#refreshLater(entry, 2000);
    this.states.settle(entry);
  }

  forget({ key, name, type }) {
    this.rosters.delete(key);
    this.states.forget(key);
    if (type === 2) this.topics.delete(name);
  }

  /** Asks for what lost events led to, or for what the server could not give. */
  #refresh(entry) {
    const { type, name, key, features: wanted } = entry;
    if (this.subscriptions.get(key) !== entry || this.link.state === 'disconnected') return;
    const reject = ({ retryAfter }) => this.#refreshLater(entry, retryAfter ?? 2000);
    const request = (resolve) => ({ kind: 'storage', operation: 'refresh', resolve, reject, lost() {} });
    if (type === 0 || wanted & features.metadata) {
      this.send('getMetadata', { channelType: type, target: name }, request((body) => this.#metadata(body)));
    }
    if (wanted & features.lock) {
      this.send('getLocks', { channelType: type, channel: name }, request((body) => this.#locksSnapshot(body)));
    }
  }

  #refreshLater(entry, pause) {
    this.later(`refresh ${entry.key}`, pause, () => this.#refresh(entry));
  }

  // MARK: What the server sends

  #pushed(kind, body) {
    switch (kind) {
      case 'publication':
        return this.#publication(body);
      case 'gap':
        return this.#gap(body);
      case 'presenceSnapshot': {
        const entry = this.subscriptions.get(`${body.channelType}/${body.channel}`);
        const roster = this.rosters.get(entry?.key);
        return roster && this.#emitPresence(entry, roster.snapshot(body));
      }
      case 'metadata':
        return this.#metadata(body);
      case 'locks':
        return this.#locksSnapshot(body);
      case 'tokenWillExpire':
        return this.#tokenWillExpire(body);
      case 'channelEnded': {
        const entry = this.subscriptions.get(`2/${body.channel}`);
        if (!entry) return undefined;
        for (const ended of this.subscriptions.remove(entry)) this.forget(ended);
        return this.emit({ type: 'streamChannelEnded', channelName: body.channel, error: fromWire(body.error, 'join') });
      }
      case 'disconnect': {
        const { code, reason, retryAfterMs } = body;
        const text = `the server closed the connection: ${reason} (${code})`;
        return this.#ended(loss('disconnect', text, { code, retryAfter: retryAfterMs || undefined }));
      }
      default:
        return undefined;
    }
  }

  #publication(publication) {
    if (!this.subscriptions.accepts(publication)) return;
    const { channelType: type, channel, publisher, offset, timestampMs: timestamp } = publication;
    const { message, presence, storage, lock } = publication;
    const entry = this.subscriptions.get(`${type}/${channel}`);
    if (message) {
      // An own message can come back after a return. Only the own inbox shows what this user has sent.
      if (type !== 3 && publisher === this.userId) return;
      const payload = message.type === 1 ? text(message.payload) : message.payload.slice();
      const { customType } = message;
      this.emit({ type: 'message', ...this.#place(type, channel), payload, publisher, customType, timestamp, offset });
    } else if (presence) {
      const roster = this.rosters.get(entry.key);
      if (roster) this.#emitPresence(entry, roster.event(offset, publisher, presence), timestamp);
    } else if (storage) this.#emitStorage(entry, storage, publisher, false, timestamp);
    else if (lock && this.subscriptions.revises(entry, 1, lock.revision)) {
      this.locks.changed(entry, lock, this.userId);
      const change = { 2: 'set', 3: 'removed', 4: 'acquired', 5: 'released' }[lock.type] ?? 'other';
      this.#emitLocks(entry, change, [lock.lock], publisher, timestamp);
    }
  }

  #gap(body) {
    const gap = this.subscriptions.skip(body);
    if (!gap) return;
    if (body.channelType === 3) return this.#inboxGap(gap);
    const entry = this.subscriptions.get(`${body.channelType}/${body.channel}`);
    if (entry.type !== 0) {
      this.#connection.restoring.interrupted.push(entry.name);
      this.emitGap(entry, gap);
      this.rosters.get(entry.key)?.begin(body.position.epoch);
    }
    this.#refresh(entry);
  }

  #emitPresence({ type, name }, changes, timestamp = this.time) {
    const about = { type: 'presence', channelType: types[type], channelName: name };
    for (const change of changes) this.emit({ ...about, ...change, timestamp });
  }

  #metadata(body) {
    const entry = this.subscriptions.get(`${body.channelType}/${body.target}`);
    if (entry) this.#emitStorage(entry, body, '', true, this.time);
  }

  #emitStorage(entry, body, publisher, isSnapshot, timestamp) {
    if (!this.subscriptions.revises(entry, 0, body.majorRevision, isSnapshot)) return;
    const about = entry.type === 0 ? { channelType: 'user', channelName: entry.name } : this.#place(entry.type, entry.name);
    const { channelType, channelName } = about;
    this.emit({ type: 'storage', channelType, channelName, isSnapshot, publisher, metadata: metadataOf(body), timestamp });
  }

  #locksSnapshot(body) {
    const entry = this.subscriptions.get(`${body.channelType}/${body.channel}`);
    if (!entry) return;
    this.subscriptions.revises(entry, 1, body.revision, true);
    this.#emitLocks(entry, 'snapshot', body.locks, '', this.time);
  }

  #emitLocks({ type, name }, change, locks, publisher, timestamp) {
    const shown = locks.map(lockOf);
    this.emit({ type: 'lock', channelType: types[type], channelName: name, change, locks: shown, publisher, timestamp });
  }

  // MARK: Tokens

  #tokenWillExpire({ remainingMs, channel }) {
    // Once per token (S-50).
    if (!channel && this.#announcedFor === this.link.token) return;
    if (!channel) this.#announcedFor = this.link.token;
    this.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: channel || undefined });
    if (!channel && this.config.tokenProvider) this.#renewByProvider(1000);
  }

  async #renewByProvider(pause) {
    const { attempt } = this.#connection ?? {};
    try {
      await this.renewToken(await this.config.tokenProvider());
    } catch {
      if (this.#connection?.attempt !== attempt) return;
      this.later('token', pause, () => this.#renewByProvider(Math.min(2 * pause, 30_000)));
    }
  }

  // MARK: Time

  #arm() {
    const retries = [...this.#retries.values()].map(({ at }) => at);
    const beat = this.#connection?.heartbeat?.deadline ?? Infinity;
    const paced = this.#connection?.heartbeat ? this.publishes.nextDue : Infinity;
    const due = Math.min(this.link.deadline, beat, this.#deadline, paced, ...retries);
    if (due === this.#timerAt) return;
    const { setTimeout, clearTimeout } = this.environment;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = due;
    this.#timer = due === Infinity ? null : setTimeout(() => this.#tick(), Math.max(0, Math.min(due - this.now, 2 ** 30)));
  }

  #tick() {
    this.#timer = null;
    this.#timerAt = Infinity;
    const { now } = this;
    const beat = this.#connection?.heartbeat?.tick(now);
    if (beat === 'send') this.#sendFrame(++this.#lastId, 'heartbeat', {});
    if (beat === 'lost') this.#ended(loss('heartbeat', 'the server did not answer a heartbeat in time'));
    if (now >= this.#deadline) this.#timeOutAll(now);
    if (this.#connection?.heartbeat) this.#sendAll(this.publishes.takeDue(now, this.inboxEpoch));
    for (const [name, { at, run }] of [...this.#retries]) {
      if (now < at) continue;
      this.#retries.delete(name);
      run();
    }
    this.#perform(this.link.tick(now));
  }

  #timeOutAll(now) {
    for (const call of this.#waiting) {
      if (now < call.deadline) continue;
      this.#waiting.delete(call);
      call.reject(notConnected(call.kind, call.operation));
    }
    // One that ends the connection ends others with it.
    for (const [id, request] of [...this.#requests]) {
      if (now >= request.deadline && this.#requests.has(id)) this.#timeOut(id, request);
    }
    const left = [...this.#waiting, ...this.#requests.values()].map(({ deadline }) => deadline);
    this.#deadline = left.reduce((one, other) => Math.min(one, other), Infinity);
  }

  // MARK: The page

  /** The network may have changed, or the page has slept: the connection is asked, and a lost one tried again at once. */
  wake() {
    const { state } = this.link;
    if (state === 'connected') this.probe();
    else if (state === 'disconnected' || state === 'suspended') this.#perform(this.link.networkChanged(this.now));
  }

  probe() {
    this.#connection.heartbeat.ask(this.now);
    this.#sendFrame(++this.#lastId, 'heartbeat', {});
    this.#arm();
  }

  #watch() {
    if (this.#unwatch || typeof globalThis.addEventListener !== 'function') return;
    const page = typeof document === 'undefined' ? null : document;
    const wake = () => this.wake();
    const seen = () => page.visibilityState === 'visible' && this.wake();
    const offline = () => this.link.state === 'connected' && this.probe();
    const watched = [
      [globalThis, 'online', wake],
      [globalThis, 'offline', offline],
      [globalThis, 'pageshow', wake],
      [page, 'visibilitychange', seen],
      [page, 'resume', wake],
    ].filter(([target]) => target);
    for (const [target, name, handle] of watched) target.addEventListener(name, handle);
    this.#unwatch = () => {
      for (const [target, name, handle] of watched) target.removeEventListener(name, handle);
      this.#unwatch = null;
    };
  }
}

const tooMany = (retryAfter) =>
  new RTMError(-11025, 'messages are published faster than the server allows, and too many wait already', {
    operation: 'publish',
    retryAfter,
  });

export const metadataOf = ({ majorRevision, items }) => ({
  majorRevision,
  items: items.map(({ key, value, revision, updateTsMs, author }) => ({
    key,
    value,
    revision,
    updatedAt: updateTsMs || undefined,
    author: author || undefined,
  })),
});

export const lockOf = ({ name, owner, ttlS, fencingToken }) => ({ name, owner, ttl: ttlS * 1000, fencingToken });

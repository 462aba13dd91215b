// One user's session over its connections: what the parts of the client share. It has the connection and the one timer, and does
// what the link (link.js) decides.
//
// Each module of a feature has one part in the session (`part`), an object whose methods are called where it has them:
//
//   onLoggedIn()                 before the channels are restored; `restoring.left` counts what has to be answered
//   onConnected()                the app knows that the link is connected, and not yet what arrived meanwhile
//   onSubscribed(entry, answer)  a subscription is there, for the first time or again
//   onUnsubscribed(entry)        it is over
//   onUnrestored(entry, restoring, error)   it is over because it could not be restored
//   onGap(entry, position)       events were lost; what follows goes on after the position
//   onForget()                   the session is over
//   translate(event)             the events that the app gets for this one; undefined for itself
//   and a method by the name of each kind of frame, or content of a publication, that the server sends of its own accord

import { Channels } from './channels.js';
import { fromWire, RTMError } from './errors.js';
import { Outlet } from './events.js';
import { Link } from './link.js';
import { loss } from './losses.js';
import { isPage, watch } from './page.js';
import { Publisher } from './publisher.js';
import { Requests } from './requests.js';
import { Heartbeat } from './time.js';
import { Tokens } from './tokens.js';
import { frame, frames, WireError } from './wire.js';

const sessions = new WeakMap();
export const sessionOf = (client) => sessions.get(client);

/** How often a page that can be seen sends a heartbeat, and what it promises for the time when it can't. */
const pageHeartbeat = { interval: 10_000, promised: 75_000 };

export class Session {
  /** The bits of what a subscriber may receive, by the options of a subscribe; modules add theirs. */
  features = { messages: 4, quiet: 16 };
  connection = null;
  closed;
  #parts = new Map();
  #instance;
  #timer;
  #timerAt = Infinity;
  #logins = new Map();
  #clockOffset = 0;
  #unwatch;

  constructor(client, config, environment) {
    sessions.set(client, this);
    Object.assign(this, { config, environment, userId: config.userId, encryption: config.encryption });
    const { requestTimeout, reconnectTimeout, servers, token } = config;
    const { random } = environment;
    this.link = new Link({ token, servers: servers.length, reconnectTimeout, attemptTimeout: requestTimeout, random });
    this.outlet = new Outlet(config.encryption, (event) => this.#translate(event));
    this.requests = new Requests(this);
    this.publisher = new Publisher(this);
    this.channels = this.part(Channels);
    this.tokens = this.part(Tokens);
    this.subscriptions = this.channels.subscriptions;
    this.#instance = 1 + Math.floor(random() * (2 ** 53 - 2));
  }

  // MARK: Parts

  part(Part) {
    if (!this.#parts.has(Part)) this.#parts.set(Part, new Part(this));
    return this.#parts.get(Part);
  }

  tell(what, ...values) {
    for (const part of this.#parts.values()) part[what]?.(...values);
  }

  #translate(event) {
    return [...this.#parts.values()].reduce((events, part) => events.flatMap((one) => part.translate?.(one) ?? one), [event]);
  }

  /** What arrives while subscriptions are restored is shown after the link event. */
  emit(event) {
    if (this.link.state === 'connecting') this.outlet.hold(event);
    else this.outlet.show(event);
  }

  // MARK: Time

  get now() {
    return this.environment.now();
  }

  /** The time of the server, in milliseconds since 1970. */
  get time() {
    return Math.round(Date.now() + this.#clockOffset);
  }

  arm() {
    const beat = this.connection?.heartbeat?.deadline ?? Infinity;
    const due = Math.min(this.link.deadline, beat, this.requests.deadline, this.publisher.deadline);
    if (due === this.#timerAt) return;
    const { setTimeout, clearTimeout } = this.environment;
    clearTimeout(this.#timer);
    this.#timerAt = due;
    if (due < Infinity) this.#timer = setTimeout(() => this.#tick(), Math.max(0, Math.min(due - this.now, 2 ** 30)));
  }

  #tick() {
    this.#timerAt = Infinity;
    const { now } = this;
    const beat = this.connection?.heartbeat?.tick(now);
    if (beat === 'send') this.sendFrame('heartbeat', {});
    if (beat === 'lost') this.ended(loss('heartbeat', 'the server did not answer a heartbeat in time'));
    this.requests.tick(now);
    this.publisher.tick();
    this.#perform(this.link.tick(now));
  }

  // MARK: Login and logout

  async login(token) {
    const { closed, config, link } = this;
    if (closed) throw closed;
    this.#unwatch ??= watch(
      () => this.wake(),
      () => link.state === 'connected' && this.wake(),
    );
    if (!token && config.tokenProvider && link.state !== 'connected') token = await config.tokenProvider();
    return new Promise((resolve, reject) => {
      const login = this.requests.newId();
      this.#logins.set(login, { resolve, reject });
      this.#perform(link.login(login, token, this.now));
    });
  }

  logout() {
    if (this.link.state === 'idle') throw new RTMError(-10002, 'there is no login', { operation: 'logout' });
    this.#perform(this.link.logout());
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  close() {
    if (this.closed) return;
    if (this.link.state !== 'idle') this.logout();
    this.closed = new RTMError(-10018, 'the client is closed');
    this.outlet.end();
  }

  /** The network may have changed, or the page has slept: the connection is asked, and a lost one tried again at once. */
  wake() {
    const { state } = this.link;
    if (state === 'connected') {
      this.connection.heartbeat.ask(this.now);
      this.sendFrame('heartbeat', {});
      this.arm();
    } else if (state !== 'connecting') this.#perform(this.link.networkChanged(this.now));
  }

  // MARK: What the link decides

  #perform(actions) {
    for (const [action, ...values] of actions) this.#actions[action](...values);
    this.arm();
  }

  #actions = {
    announce: (change) => this.#announce(change),
    connect: (attempt, server) => this.#dial(attempt, server),
    disconnect: () => this.#drop(this.#detach()),
    sendLogout: () => this.#leave(),
    renew: (login, token) =>
      this.tokens.renew(token).then(
        () => this.#actions.login(login),
        (error) => this.#actions.login(login, error),
      ),
    login: (id, error) => {
      const login = this.#logins.get(id);
      this.#logins.delete(id);
      if (error) login?.reject(error);
      else login?.resolve();
    },
    forget: () => {
      this.requests.forget();
      this.subscriptions.clear();
      this.tell('onForget');
    },
  };

  #announce({ lists, unrestoredChannels = [], ...change }) {
    const isConnected = change.currentState === 'connected';
    const names = this.subscriptions.active.filter(({ type }) => type === 1).map(({ name }) => name);
    this.outlet.show({
      type: 'linkState',
      isResumed: false,
      ...change,
      affectedChannels: lists ? [...new Set([...names, ...unrestoredChannels])].sort() : [],
      unrestoredChannels,
      unrestoredUsers: (isConnected && this.restoring.users) || [],
      timestamp: this.time,
    });
    if (change.currentState === 'connecting') return;
    if (isConnected) this.tell('onConnected');
    this.outlet.release();
    this.requests.wake(isConnected);
  }

  // MARK: Connections

  /** Somebody is logged in over this connection. */
  get isOpen() {
    return !!this.connection?.heartbeat;
  }

  /** What has to be answered before the link counts as connected, and what was lost. */
  get restoring() {
    return this.connection?.restoring;
  }

  async #dial(attempt, server) {
    const { link, now, environment, config } = this;
    const connection = { attempt, frameMax: 40_960 };
    this.connection = connection;
    const isCurrent = () => this.connection === connection;
    try {
      await this.tokens.refresh(connection);
      if (!isCurrent()) return;
      const socket = new environment.WebSocket(config.servers[server]);
      connection.socket = socket;
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        try {
          this.#open(connection);
        } catch ({ message }) {
          // The token or a name can't be sent, and won't be the next time.
          this.ended(loss('refused', message, { error: new RTMError(-10014, message, { operation: 'login' }) }));
        }
      };
      socket.onmessage = ({ data }) => this.#received(connection, data);
      // An address where nothing listens says so at once; one that answers an attempt is no such address.
      socket.onclose = socket.onerror = () =>
        this.ended(loss('error', 'the connection was closed', { quick: !connection.login && this.now < now + 1000 }));
    } catch ({ message }) {
      if (isCurrent()) this.ended(loss('error', `no connection: ${message}`));
    }
  }

  /** Hello and login leave together, so that a login costs one round trip. */
  #open(connection) {
    const { config, subscriptions, link, requests } = this;
    const token = link.token ?? config.appId;
    const offer = subscriptions.offer(token.length);
    const ids = new Map(offer.map((entry) => [entry, requests.newId()]));
    const asked = (isUser) => offer.filter(({ type }) => !type === isUser);
    const bodies = (entries) => entries.map((entry) => ({ ...entry.way.request(entry), requestId: ids.get(entry) }));
    this.sendFrame('hello', { versionMin: 1, versionMax: 1, client: 'heliograph web' });
    connection.ids = ids;
    connection.offer = [asked(false), asked(true)];
    connection.login = requests.newId();
    this.sendFrame(
      'login',
      {
        appId: config.appId,
        userId: config.userId,
        token,
        heartbeatIntervalS: Math.round(this.#promised / 1000),
        presenceTimeoutS: Math.round(config.presenceTimeout / 1000),
        inboxAfter: subscriptions.inbox ?? undefined,
        instance: this.#instance,
        attempt: connection.attempt,
        asked: link.pending !== null,
        subscriptions: bodies(connection.offer[0]),
        followedUsers: bodies(connection.offer[1]),
      },
      connection.login,
    );
  }

  get #promised() {
    return this.config.heartbeatInterval ?? (isPage() ? pageHeartbeat.promised : 5000);
  }

  sendFrame(kind, body, id = this.requests.newId()) {
    const { socket, frameMax } = this.connection;
    const bytes = frame('ClientFrame', { requestId: id, [kind]: body });
    if (bytes.length - 4 > frameMax) throw new WireError(`the request has more than ${frameMax} bytes`);
    socket.send(bytes);
  }

  #received(connection, data) {
    try {
      connection.heartbeat?.received();
      for (const { requestId, kind, body } of frames(data)) {
        this.#take(requestId, kind, body);
        if (this.connection !== connection) return;
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.ended(loss('error', `the server has sent what is no frame: ${error.message}`));
    }
  }

  #take(id, kind, body) {
    const { connection } = this;
    if (kind === 'welcome') connection.frameMax = body.frameBytesMax || 65_536;
    else if (kind === 'disconnect') {
      const { code, reason, retryAfterMs } = body;
      const why = `the server closed the connection: ${reason} (${code})`;
      this.ended(loss('disconnect', why, { code, retryAfter: retryAfterMs || undefined }));
    } else if (id === 0) this.tell(kind, body);
    else if (id !== connection.login) this.requests.answered(id, kind, body);
    else if (kind === 'loggedIn') this.#loggedIn(body);
    else if (kind === 'error') this.ended(loss('refused', body.reason, { error: fromWire(body, 'login') }));
  }

  ended(reason) {
    const { attempt } = this.connection;
    this.#perform(this.link.ended(attempt, this.tokens.judge(reason, this.connection), this.now));
  }

  #detach() {
    const socket = this.connection?.socket;
    this.connection = null;
    if (socket) socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    return socket;
  }

  /** The connection is gone. Publishes, and those who wait for a lock, go on over the next one. */
  #drop(socket) {
    socket?.close();
    this.publisher.lost();
    this.requests.lost();
  }

  #leave() {
    this.sendFrame('logout', {});
    const socket = this.#detach();
    const { setTimeout, clearTimeout } = this.environment;
    const timer = setTimeout(() => socket.close(), 2000);
    // The server closes when it has answered.
    socket.onclose = socket.onerror = () => clearTimeout(timer);
    this.#drop();
  }

  // MARK: Coming back

  #loggedIn(answer) {
    const { connection, now, channels, config } = this;
    this.#clockOffset = answer.serverTimeMs - Date.now();
    this.link.accepted(connection.attempt, now);
    const promised = answer.heartbeatIntervalS * 1000 || this.#promised;
    const usual = isPage() && !config.heartbeatInterval ? pageHeartbeat.interval : Infinity;
    connection.heartbeat = new Heartbeat({ interval: Math.min(promised, usual), now });
    connection.restoring = { left: 1, unrestored: [], interrupted: [], users: [], incomplete: false };
    const gap = this.subscriptions.inboxAt(answer.inboxPosition ?? { epoch: 0, offset: 0 }, answer.inboxGap);
    if (gap) channels.inboxGap(gap);
    this.publisher.resume(answer.publishRates);
    this.tell('onLoggedIn');
    const [asked, users] = connection.offer;
    const taken = [...asked.slice(0, answer.subscriptions), ...users.slice(0, answer.followedUsers)];
    channels.restoreAll(new Map(taken.map((entry) => [entry, connection.ids.get(entry)])));
    this.restored();
  }

  /** One answer more that the link has waited for. */
  restored() {
    const { connection, restoring } = this;
    if (restoring && --restoring.left === 0) this.#perform(this.link.restored(connection.attempt, restoring, this.now));
  }
}

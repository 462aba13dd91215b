// A server and a network in a time of their own, whose accidents a seed decides. The client under test is the whole
// one; only its socket, its clock, its timers and its random numbers come from here.

import { RTMClient } from '../../../Clients/web/src/index.js';
import { decode, frame } from '../../../Clients/web/src/wire.js';
import { withModules } from './clients.js';

/** Numbers from 0 to 1, the same for the same seed. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class World {
  now = 0;
  #timers = new Map();
  #lastTimer = 0;
  sockets = new Set();
  /** What the server keeps: by channel its entries, by instance the newest sequence and the answers. */
  logs = new Map();
  offset = 0;
  epoch = 1;
  instances = new Map();
  /** Whether new connections are refused. */
  isDown = false;

  constructor(seed, { calm = false } = {}) {
    this.random = randomNumbers(seed);
    this.calm = calm;
  }

  chance(share) {
    return !this.calm && this.random() < share;
  }

  // MARK: Time

  setTimeout = (run, pause) => {
    this.#timers.set(++this.#lastTimer, { at: this.now + Math.max(0, pause), run, id: this.#lastTimer });
    return this.#lastTimer;
  };

  clearTimeout = (id) => this.#timers.delete(id);

  /** How many timers are set. */
  get timers() {
    return this.#timers.size;
  }

  /** Lets time pass. After each step all promises are settled. */
  async pass(milliseconds, until = () => false) {
    const end = this.now + milliseconds;
    await new Promise(setImmediate);
    while (!until()) {
      let next;
      for (const timer of this.#timers.values()) if (!next || timer.at < next.at) next = timer;
      if (!next || next.at > end) break;
      this.#timers.delete(next.id);
      this.now = Math.max(this.now, next.at);
      next.run();
      await new Promise(setImmediate);
    }
    if (!until()) this.now = end;
  }

  // MARK: Clients

  client(userId, options = {}) {
    const world = this;
    const environment = {
      now: () => this.now,
      setTimeout: this.setTimeout,
      clearTimeout: this.clearTimeout,
      random: this.random,
    };
    class WebSocket extends Socket {
      constructor() {
        super(world);
      }
    }
    const client = withModules(
      new RTMClient({ server: 'ws://world', appId: 'dev', userId, WebSocket, environment, ...options }),
    );
    const seen = [];
    client.listen((event) => seen.push({ ...event, at: this.now }));
    return Object.assign(client, { seen });
  }

  /** All connections are lost. */
  cut() {
    for (const socket of [...this.sockets]) socket.lose();
  }

  // MARK: The server

  log(type, channel) {
    const key = `${type}/${channel}`;
    if (!this.logs.has(key)) this.logs.set(key, []);
    return this.logs.get(key);
  }

  serve(socket, { requestId, ...bodies }) {
    const answer = (kind, body) => socket.push(requestId, kind, body);
    const refuse = (code, retryAfterMs = 0) => answer('error', { code, reason: 'as the seed wants', retryAfterMs });
    const { login, subscribe, unsubscribe, publish } = bodies;
    if (bodies.hello) return answer('welcome', { version: 1, frameBytesMax: 65_536 });
    if (login) return this.logIn(socket, login, answer, refuse);
    if (bodies.heartbeat) return answer('heartbeatAck', { serverTimeMs: this.now });
    if (!socket.user) return refuse(-10002);
    if (subscribe) {
      if (this.chance(0.05)) return refuse(-11021, 500);
      return this.subscribe(socket, subscribe, requestId);
    }
    if (unsubscribe) {
      socket.subscribed.delete(`1/${unsubscribe.channel}`);
      return answer('unsubscribed', {});
    }
    if (publish) return this.publish(socket, publish, answer, refuse);
    if (bodies.logout) {
      answer('loggedOut', {});
      return socket.push(0, 'disconnect', { code: 3500 });
    }
    return refuse(-10022);
  }

  logIn(socket, login, answer, refuse) {
    if (this.chance(0.05)) {
      refuse(-10010, 1000);
      return socket.push(0, 'disconnect', { code: 3505 });
    }
    for (const other of this.sockets) if (other !== socket && other.user === login.userId) other.lose();
    Object.assign(socket, { user: login.userId, instance: login.instance, subscribed: new Map() });
    answer('loggedIn', {
      serverTimeMs: this.now,
      heartbeatIntervalS: login.heartbeatIntervalS,
      inboxPosition: login.inboxAfter ?? { epoch: this.epoch, offset: this.offset },
      subscriptions: login.subscriptions.length,
      followedUsers: login.followedUsers.length,
    });
    for (const subscribe of login.subscriptions) {
      const code = this.chance(0.2) ? -10021 : this.chance(0.1) ? -11021 : 0;
      if (code) socket.push(subscribe.requestId, 'error', { code, reason: 'as the seed wants', retryAfterMs: 400 });
      else this.subscribe(socket, subscribe, subscribe.requestId);
    }
  }

  subscribe(socket, { channel, after, ownMessages }, requestId) {
    const hasGap = after && after.epoch !== this.epoch;
    const position = hasGap ? { epoch: this.epoch, offset: 0 } : (after ?? { epoch: this.epoch, offset: this.offset });
    socket.subscribed.set(`1/${channel}`, { ownMessages });
    socket.push(requestId, 'subscribed', { position, gap: hasGap });
    for (const entry of this.log(1, channel)) if (entry.offset > position.offset) socket.push(0, 'publication', entry);
  }

  publish(socket, publish, answer, refuse) {
    const state = this.instances.get(socket.instance) ?? { newest: new Map(), answers: new Map() };
    this.instances.set(socket.instance, state);
    const known = state.answers.get(publish.sequence);
    if (known && known.epoch === this.epoch) return answer('published', known);
    const key = `${publish.channelType}/${publish.channel}`;
    if (this.chance(0.05) || socket.refusing.has(key)) {
      // Those behind it are refused likewise until the first comes again.
      if (socket.refusing.get(key) !== publish.sequence) {
        if (!socket.refusing.has(key)) socket.refusing.set(key, publish.sequence);
        return refuse(-11024, 300);
      }
      socket.refusing.delete(key);
    }
    if (publish.sequence <= (state.newest.get(key) ?? 0)) return refuse(-11024);
    state.newest.set(key, publish.sequence);
    const offset = ++this.offset;
    state.answers.set(publish.sequence, { offset, timestampMs: this.now, epoch: this.epoch });
    const { channelType, channel, payload, messageType, customType } = publish;
    const message = { type: messageType, payload: payload.slice(), customType };
    const entry = { channelType, channel, offset, timestampMs: this.now, publisher: socket.user, message };
    this.log(channelType, channel).push(entry);
    for (const other of this.sockets) {
      const subscription = other.subscribed?.get(key);
      if (subscription && (other !== socket || subscription.ownMessages)) other.push(0, 'publication', entry);
    }
    return answer('published', { offset, timestampMs: this.now });
  }

  /** The logs begin anew, as after a restart of messaging without a journal. */
  restart() {
    this.epoch++;
    this.logs.clear();
    this.cut();
  }
}

class Socket {
  static delay = 5;
  bufferedAmount = 0;
  refusing = new Map();
  #isOpen = true;
  /** What is on its way arrives in its order. */
  #arrives = { up: 0, down: 0 };

  constructor(world) {
    this.world = world;
    world.setTimeout(() => {
      if (world.isDown || world.chance(0.1)) return this.lose();
      world.sockets.add(this);
      return this.onopen?.();
    }, Socket.delay);
  }

  #travel(way, run) {
    this.#arrives[way] = Math.max(this.#arrives[way], this.world.now + Socket.delay * (1 + this.world.random()));
    this.world.setTimeout(() => this.#isOpen && run(), this.#arrives[way] - this.world.now);
  }

  send(bytes) {
    if (!this.#isOpen) return;
    const request = decode('ClientFrame', bytes.slice(4));
    this.#travel('up', () => {
      if (this.world.chance(0.01)) return this.lose();
      return this.world.serve(this, request);
    });
  }

  push(requestId, kind, body) {
    const data = frame('ServerFrame', { requestId, [kind]: body }).slice().buffer;
    this.#travel('down', () => {
      if (this.world.chance(0.01)) return this.lose();
      return this.onmessage?.({ data });
    });
  }

  lose() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.world.sockets.delete(this);
    this.onclose?.();
  }

  close() {
    this.#isOpen = false;
    this.world.sockets.delete(this);
  }
}


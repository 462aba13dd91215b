// One user's session over its connections: what the parts of the client share. It has the connection and the one timer, and does
// what the link (link.js) decides.

import { makeChannels } from './channels.js';
import { fromWire, late, noLogin, RTMError } from './errors.js';
import { makeOutlet } from './events.js';
import { makeLink } from './link.js';
import { loginError, loss } from './losses.js';
import { union } from './names.js';
import { makeOpening } from './opening.js';
import { watch } from './page.js';
import { makeParts } from './parts.js';
import { makePublisher } from './publisher.js';
import { makeRequests } from './requests.js';
import { echo, makeSubscriptions } from './subscriptions.js';
import { makeTokens } from './tokens.js';
import { frame, frames, WireError } from './wire.js';

/** Through so many promises, its own and those of the app, an answer may pass until its caller goes on. */
const turnsOfCallers = 40;

const sessions = new WeakMap();
export const sessionOf = (client) => sessions.get(client);

export function openSession(client, config, environment) {
  const { userId, servers, encryption } = config;
  const { now, random, setTimeout, clearTimeout, WebSocket } = environment;
  let timer;
  let timerAt = Infinity;
  let unwatch;
  let connection;

  const session = {
    config,
    userId,
    encryption,
    /** The bits of what a subscriber may receive, by the options of a subscribe; modules add theirs. */
    features: { messages: 4, quiet: 16, echo },
    subscriptions: makeSubscriptions(userId),
    link: makeLink({ ...config, random }),
    clockOffset: 0,
    get now() {
      return now();
    },
    /** The time of the server, in milliseconds since 1970. */
    get time() {
      return Math.round(Date.now() + session.clockOffset);
    },
    get connection() {
      return connection;
    },
    /** Somebody is logged in over the connection. */
    get isOpen() {
      return !!connection?.heartbeat;
    },
    /** What has to be answered before the link counts as connected, and what was lost. */
    get restoring() {
      return connection?.restoring;
    },
    arm,
    wake,
    sendFrame,
    ended,
    perform,
    restored,
    /** What arrives while subscriptions are restored is shown after the link event. */
    emit: (event) => (link.state === 'connecting' ? outlet.hold(event) : outlet.show(event)),
    async login(token) {
      if (session.closed) throw session.closed;
      unwatch ??= watch(wake, () => link.state === 'connected' && wake());
      return new Promise((resolve, reject) => perform(link.login({ resolve, reject }, token, now())));
    },
    logout(error) {
      if (link.state === 'idle') throw noLogin('logout');
      perform(link.logout(error));
      unwatch?.();
      unwatch = undefined;
    },
    close() {
      if (session.closed) return;
      const closed = new RTMError(-10018, 'the client is closed');
      if (link.state !== 'idle') session.logout(closed);
      session.closed = closed;
      outlet.end();
    },
  };
  const { link, subscriptions } = session;
  const parts = makeParts(session);
  const outlet = (session.outlet = makeOutlet(encryption, parts.translate));
  const requests = (session.requests = makeRequests(session));
  const publisher = (session.publisher = makePublisher(session));
  const channels = (session.channels = makeChannels(session));
  const tokens = (session.tokens = makeTokens(session));
  parts.add(channels);
  parts.add(tokens);
  const opening = makeOpening(session, 1 + Math.floor(random() * (2 ** 53 - 2)));
  const actions = {
    announce,
    askForToken: (attempt) => tokens.ask(attempt),
    connect: dial,
    disconnect: () => drop(detach()),
    sendLogout: leave,
    renew: ({ resolve, reject }, token) => tokens.renew(token).then(resolve, reject),
    login: ({ resolve, reject }, error) => (error ? reject(error) : resolve()),
    forget: () => {
      requests.forget();
      subscriptions.clear();
      session.tell('onForget');
    },
  };
  sessions.set(client, session);
  return session;

  // MARK: Time

  function arm() {
    const due = Math.min(link.deadline, connection?.heartbeat?.deadline ?? Infinity, requests.deadline);
    if (due === timerAt) return;
    clearTimeout(timer);
    timerAt = due;
    if (due < Infinity) timer = setTimeout(tick, Math.max(0, Math.min(due - now(), 2 ** 30)));
  }

  function tick() {
    timerAt = Infinity;
    const time = now();
    const beat = connection?.heartbeat?.tick(time);
    if (beat === 'send') sendFrame('heartbeat', {});
    if (beat === 'lost') ended(loss('heartbeat', late));
    requests.tick(time);
    perform(link.tick(time));
  }

  // MARK: Login and logout

  /** The network may have changed, or the page has slept: the connection is asked, and a lost one tried again at once. */
  function wake() {
    if (link.state === 'connected') {
      connection.heartbeat.ask(now());
      sendFrame('heartbeat', {});
      arm();
    } else if (link.state !== 'connecting') perform(link.networkChanged(now()));
  }

  // MARK: What the link decides

  function perform(list) {
    for (const [action, ...values] of list) actions[action](...values);
    arm();
  }

  function announce({ unrestoredChannels = [], ...change }) {
    const { currentState, previousState } = change;
    const isConnected = currentState === 'connected';
    // Of an attempt the app knows already what it is about.
    const isAttempt = currentState === 'connecting' || (currentState === 'disconnected' && previousState === 'connecting');
    const names = subscriptions.active.filter(({ type }) => type === 1).map(({ name }) => name);
    outlet.show({
      type: 'linkState',
      isResumed: false,
      ...change,
      affectedChannels: isAttempt ? [] : union(names, unrestoredChannels),
      unrestoredChannels,
      unrestoredUsers: isConnected ? connection.restoring.users : [],
      timestamp: session.time,
    });
    if (currentState === 'connecting') return;
    if (isConnected) session.tell('onConnected');
    outlet.release();
    requests.wake(isConnected);
  }

  // MARK: Connections

  function dial(attempt, server) {
    const since = now();
    const own = (connection = { attempt, frameMax: 40_960, arrived: [] });
    try {
      const socket = (own.socket = new WebSocket(servers[server]));
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        try {
          opening.begin();
        } catch ({ message }) {
          // The token or a name can't be sent, and won't be the next time.
          ended(loss('refused', message, { error: loginError(-10014, message) }));
        }
      };
      socket.onmessage = ({ data }) => received(frames(data));
      // An address where nothing listens says so at once; one that answers an attempt is no such address.
      socket.onclose = socket.onerror = () => received([{ kind: 'closed', body: { quick: !own.login && now() < since + 1000 } }]);
    } catch ({ message }) {
      ended(loss('error', message));
    }
  }

  function sendFrame(kind, body, requestId = requests.newId()) {
    const { socket, frameMax } = connection;
    session.tell('onSend', kind, body);
    const bytes = frame('ClientFrame', { requestId, [kind]: body });
    if (bytes.length - 4 > frameMax) throw new WireError(`the request has more than ${frameMax} bytes`);
    socket.send(bytes);
    return requestId;
  }

  /** The frames of a message have arrived, or the end of the connection. */
  function received(list) {
    connection.heartbeat?.received();
    if (connection.arrived.push(list) === 1) takeAll(connection);
  }

  /**
   * Takes what has arrived, in its order. Several messages may come in one task, and many frames in one message; nevertheless
   * whoever awaits an answer goes on before what stands behind it is shown.
   */
  async function takeAll(own) {
    let turns = 0;
    try {
      for (const list of own.arrived) {
        // Behind the last one there is nothing, which waits likewise.
        for (const { requestId, kind, body } of [...list, {}]) {
          for (; turns > 0 && !requestId; turns--) await undefined;
          if (connection !== own) return;
          if (requestId) turns = turnsOfCallers;
          take(requestId, kind, body);
        }
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (connection === own) ended(loss('error', error.message));
    } finally {
      own.arrived = [];
    }
  }

  function take(id, kind, body) {
    if (kind === 'welcome') connection.frameMax = body.frameBytesMax || 65_536;
    else if (kind === 'closed') ended(loss('error', 'the connection was closed', body));
    else if (kind === 'disconnect') {
      const { code, reason, retryAfterMs } = body;
      ended(loss('disconnect', `the server closed: ${reason} (${code})`, { code, retryAfter: retryAfterMs }));
    } else if (!id) session.tell(kind, body);
    else if (id !== connection.login) requests.answered(id, kind, body);
    else if (kind === 'loggedIn') opening.loggedIn(body);
    else if (kind === 'error') ended(loss('refused', body.reason, { error: fromWire(body, 'login') }));
  }

  function ended(loss) {
    perform(link.ended(connection.attempt, loss, now()));
  }

  function detach() {
    const socket = connection?.socket;
    connection = undefined;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      // The `ws` of Node reports a close before the connection is there as an error, and one that nobody handles ends the program.
      socket.onerror = () => {};
    }
    return socket;
  }

  /** The connection is gone. Publishes, and those who wait for a lock, continue over the next one. */
  function drop(socket) {
    socket?.close();
    publisher.queue.lost();
    requests.lost();
  }

  function leave() {
    sendFrame('logout', {});
    const socket = detach();
    const patience = setTimeout(() => socket.close(), 2000);
    // The server closes when it has answered.
    socket.onclose = socket.onerror = () => clearTimeout(patience);
    drop();
  }

  /** One answer more that the link has waited for. */
  function restored() {
    const restoring = connection?.restoring;
    if (restoring && --restoring.left === 0) perform(link.restored(connection.attempt, restoring, now()));
  }
}

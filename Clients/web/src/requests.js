// Requests that wait for their answers, calls that wait while a lost session is being taken up, and what is done later.
//
// A request has the `operation` of the app and its `codes` (errors.js). Exactly one of `resolve` and `reject` is called, or
// `lost` in place of the latter when the connection is lost. `refused` may take an error of the server, and returns whether it
// did. `late` is called when no answer came in time, and may return another error. What `stays` outlives its connection.

import { fromWire, noAnswer, noConnection, noLogin, RTMError } from './errors.js';

// Limit: calls that wait for a lost session to be taken up.
const waitingMax = 1024;

export function makeRequests(session) {
  const { config, link } = session;
  const open = new Map();
  const waiting = new Set();
  const delayed = new Map();
  let lastId = 0;
  /** When something has to be done, or a little before. */
  let deadline = Infinity;

  const newId = () => ++lastId;

  function until(time) {
    deadline = Math.min(deadline, time);
    session.arm();
  }

  /** It waits while a lost session is being taken up. */
  async function ask(codes, kind, body, operation = kind) {
    const request = { codes, operation };
    await ready(request);
    return new Promise((resolve, reject) => send(kind, body, { ...request, resolve, reject }));
  }

  /** Gives a request its deadline, and waits until it may be sent. */
  async function ready(request) {
    request.deadline = session.now + config.requestTimeout;
    checkLogin(request.operation);
    if (link.state === 'connected') return;
    if (link.state !== 'connecting' || !link.isAway || waiting.size >= waitingMax) throw noConnection(request);
    await new Promise((resolve, reject) => {
      waiting.add({ ...request, resolve, reject });
      until(request.deadline);
    });
  }

  function checkLogin(operation) {
    if (session.closed) throw session.closed;
    if (link.state === 'idle' || link.state === 'failed') throw noLogin(operation);
  }

  function send(kind, body, request, id = newId()) {
    request.deadline ??= session.now + config.requestTimeout;
    if (!session.isOpen) return lose(request);
    try {
      session.sendFrame(kind, body, id);
    } catch ({ message }) {
      return request.reject(new RTMError(-10014, message, { operation: request.operation }));
    }
    return expect(id, request);
  }

  function expect(id, request) {
    open.set(id, request);
    until(request.deadline);
  }

  function fail(id, error) {
    const request = open.get(id);
    open.delete(id);
    request?.reject(error);
  }

  function lose(request, outcome) {
    if (request.lost) request.lost();
    else request.reject(noConnection(request, outcome));
  }

  /** Does something later, unless the session ends before; the name stands for what it replaces. */
  function later(name, pause, run) {
    const time = session.now + pause;
    delayed.set(name, { deadline: time, run });
    until(time);
  }

  return {
    newId,
    ask,
    ready,
    checkLogin,
    send,
    expect,
    fail,
    later,
    get deadline() {
      return deadline;
    },

    /** The link is connected, or will not be for now. */
    wake(isConnected) {
      for (const call of waiting) {
        waiting.delete(call);
        if (isConnected) call.resolve();
        else call.reject(noConnection(call));
      }
    },

    /** Sends a request again that the server has put off, if somebody still waits for it. */
    sendAgain(kind, body, id, { retryAfter = 1000 }) {
      later(id, retryAfter, () => open.has(id) && session.isOpen && session.sendFrame(kind, body, id));
      return true;
    },

    /** A request that no call waits for. */
    notify(kind, body, resolve = () => {}) {
      const refused = (error, id) => error.retryAfter && this.sendAgain(kind, body, id, error);
      send(kind, body, { codes: [], resolve, reject() {}, refused });
    },

    answered(id, kind, body) {
      const request = open.get(id);
      if (kind === 'error') {
        const error = fromWire(body, request?.operation);
        if (!request?.refused?.(error, id)) fail(id, error);
      } else {
        open.delete(id);
        request?.resolve(body);
      }
    },

    /** The connection is gone. */
    lost() {
      for (const [id, request] of open) if (!request.stays) open.delete(id) && lose(request, 'unknown');
    },

    /** The session is over. A timer of what it waited for would keep a program of Node alive. */
    forget() {
      deadline = Infinity;
      for (const [id, request] of open) fail(id, request.late?.(true) ?? noConnection(request, 'unknown'));
      delayed.clear();
    },

    tick(now) {
      if (now < deadline) return;
      for (const call of waiting) if (now >= call.deadline) waiting.delete(call) && call.reject(noConnection(call));
      // One that ends the connection ends others with it.
      for (const [id, request] of [...open]) {
        if (now >= request.deadline && open.has(id)) fail(id, request.late?.() ?? noAnswer(request));
      }
      for (const [name, { deadline: time, run }] of [...delayed]) if (now >= time) delayed.delete(name) && run();
      deadline = Infinity;
      for (const one of [...waiting, ...open.values(), ...delayed.values()]) deadline = Math.min(deadline, one.deadline);
    },
  };
}

// Requests that wait for their answers, calls that wait while a lost session is being taken up, and what is done later.
//
// A request has the `operation` of the app and its `codes` (errors.js). Exactly one of `resolve` and `reject` is called, or
// `lost` in place of the latter when the connection is lost. `refused` may take an error of the server, and returns whether it
// did. `late` is called when no answer came in time, and may return another error. What `stays` outlives its connection.

import { fromWire, noAnswer, noConnection, RTMError } from './errors.js';
import { WireError } from './wire.js';

// Limit: calls that wait for a lost session to be taken up.
const waitingMax = 1024;

export class Requests {
  /** When something has to be done, or a little before. */
  deadline = Infinity;
  #session;
  #open = new Map();
  #waiting = new Set();
  #later = new Map();
  #lastId = 0;

  constructor(session) {
    this.#session = session;
  }

  newId() {
    return ++this.#lastId;
  }

  #until(deadline) {
    this.deadline = Math.min(this.deadline, deadline);
    this.#session.arm();
  }

  // MARK: Calls of the app

  /** It waits while a lost session is being taken up. */
  async ask(codes, kind, body, operation = kind) {
    const request = { codes, operation };
    await this.ready(request);
    return new Promise((resolve, reject) => this.send(kind, body, { ...request, resolve, reject }));
  }

  /** Gives a request its deadline, and waits until it may be sent. */
  async ready(request) {
    const { link, closed, now, config } = this.#session;
    request.deadline = now + config.requestTimeout;
    if (closed) throw closed;
    if (link.state === 'connected') return;
    this.checkLogin(request.operation);
    if (!link.isComingBack || this.#waiting.size >= waitingMax) throw noConnection(request);
    await new Promise((resolve, reject) => {
      this.#waiting.add({ ...request, resolve, reject });
      this.#until(request.deadline);
    });
  }

  checkLogin(operation) {
    const { state } = this.#session.link;
    if (state === 'idle' || state === 'failed') throw new RTMError(-10002, 'there is no login', { operation });
  }

  /** The link is connected, or will not be for now. */
  wake(isConnected) {
    for (const call of this.#waiting) {
      this.#waiting.delete(call);
      if (isConnected) call.resolve();
      else call.reject(noConnection(call));
    }
  }

  // MARK: Requests

  send(kind, body, request, id = this.newId()) {
    const { isOpen, now, config } = this.#session;
    request.deadline ??= now + config.requestTimeout;
    if (!isOpen) return request.lost ? request.lost() : request.reject(noConnection(request));
    try {
      this.#session.sendFrame(kind, body, id);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return request.reject(new RTMError(-10014, error.message, { operation: request.operation }));
    }
    return this.expect(id, request);
  }

  expect(id, request) {
    this.#open.set(id, request);
    this.#until(request.deadline);
  }

  /** Sends a request again that the server has put off, if somebody still waits for it. */
  sendAgain(kind, body, id, { retryAfter = 1000 }) {
    this.later(id, retryAfter, () => this.#open.has(id) && this.#session.isOpen && this.#session.sendFrame(kind, body, id));
    return true;
  }

  /** A request whose answer nobody waits for. */
  notify(kind, body) {
    this.send(kind, body, { codes: [], resolve() {}, reject() {} });
  }

  answered(id, kind, body) {
    const request = this.#open.get(id);
    if (kind === 'error') {
      const error = fromWire(body, request?.operation);
      if (!request?.refused?.(error, id)) this.fail(id, error);
    } else {
      this.#open.delete(id);
      request?.resolve(body);
    }
  }

  fail(id, error) {
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.reject(error);
  }

  /** The connection is gone. */
  lost() {
    for (const [id, request] of this.#open) {
      if (request.stays) continue;
      this.#open.delete(id);
      if (request.lost) request.lost();
      else request.reject(noConnection(request, 'the connection was lost before the answer'));
    }
  }

  /** The session is over. */
  forget() {
    for (const [id, request] of this.#open) this.fail(id, request.late?.(true) ?? noConnection(request));
    this.#later.clear();
  }

  // MARK: Time

  /** Does something later, unless the session ends before; the name stands for what it replaces. */
  later(name, pause, run) {
    const deadline = this.#session.now + pause;
    this.#later.set(name, { deadline, run });
    this.#until(deadline);
  }

  tick(now) {
    if (now < this.deadline) return;
    for (const call of this.#waiting) {
      if (now >= call.deadline) this.#waiting.delete(call) && call.reject(noConnection(call));
    }
    // One that ends the connection ends others with it.
    for (const [id, request] of [...this.#open]) {
      if (now >= request.deadline && this.#open.has(id)) this.fail(id, request.late?.() ?? noAnswer(request));
    }
    for (const [name, { deadline, run }] of [...this.#later]) {
      if (now >= deadline) this.#later.delete(name) && run();
    }
    this.deadline = Infinity;
    for (const { deadline } of [...this.#waiting, ...this.#open.values(), ...this.#later.values()]) {
      this.deadline = Math.min(this.deadline, deadline);
    }
  }
}

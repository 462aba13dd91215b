// The session of this tab with the gateway, and the calls of the public HTTP API under its cookie.
//
// The key is sent once, at the login, and is kept nowhere here: the gateway keeps it behind an HttpOnly cookie.

import { pathOf } from './calls.js';

/** A call was refused or failed. `status` 0: there was no answer. */
export class APIError extends Error {
  constructor(status, { code = 0, name = 'noAnswer', reason = 'The gateway did not answer.', ...more } = {}) {
    super(reason);
    Object.assign(this, { status, code, errorName: name, reason }, more);
  }
}

const networkReason = 'The gateway did not answer. It may be away, or this machine may be offline.';

async function send(method, url, { body, csrf, signal } = {}) {
  const headers = csrf ? { 'rtm-csrf': csrf } : {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  let text;
  try {
    response = await fetch(url, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: 'no-store',
      redirect: 'error',
    });
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new APIError(0, { reason: networkReason });
  }
  let answer;
  try {
    answer = text ? JSON.parse(text) : {};
  } catch {
    throw new APIError(response.status, { name: 'notJSON', reason: `The answer (${response.status}) is not JSON.` });
  }
  if (!response.ok) {
    throw new APIError(response.status, answer.error ?? { name: 'failed', reason: `The answer is ${response.status}.` });
  }
  return answer;
}

export class API {
  /** What the gateway said of the session: `csrf`, `key`, `apps`, `edges`, `version`; null without one. */
  session = null;
  app = '';

  /** `ended` is called when the gateway no longer knows the session, or it became another one. */
  constructor({ ended }) {
    this.ended = ended;
  }

  /** Returns whether this browser has a session. */
  async open() {
    try {
      this.#began(await send('GET', '/console/session'));
      return true;
    } catch (error) {
      if (error.status === 401) return false;
      throw error;
    }
  }

  async login(key) {
    this.#began(await send('POST', '/console/session', { body: { key } }));
  }

  /** Ends the session; fails if the gateway may still know it. */
  async logout() {
    const { csrf } = this.session;
    this.session = null;
    try {
      await send('DELETE', '/console/session', { csrf });
    } catch (error) {
      if (error.status !== 401) throw error;
    }
  }

  #began(session) {
    this.session = session;
    if (!session.apps.includes(this.app)) this.app = session.apps[0] ?? '';
  }

  /** Whether the key has the scope; admin has all of them. */
  may(scope) {
    const { scopes } = this.session.key;
    return scopes.includes('admin') || scopes.includes(scope);
  }

  /** Whether the key is for all apps, and may see the nodes. */
  get isOperator() {
    const { app, scopes } = this.session.key;
    return app === '*' && scopes.includes('admin');
  }

  /** Makes a call of calls.js. */
  async call(call, signal) {
    const method = call.method ?? 'GET';
    const csrf = method === 'GET' ? undefined : this.session?.csrf;
    try {
      return await send(method, pathOf(this.app, call), { body: call.body, csrf, signal });
    } catch (error) {
      if (error.status === 401) this.ended('The session has ended. Log in again.');
      if (error.status === 403 && csrf) await this.#checkSession();
      throw error;
    }
  }

  /** Another tab may have logged in with another key: its cookie is this tab's, too, and this token is old. */
  async #checkSession() {
    const { csrf } = this.session;
    const isOpen = await this.open().catch(() => true);
    if (!isOpen) this.ended('The session has ended. Log in again.');
    else if (this.session.csrf !== csrf) this.ended('Another tab has logged in. Nothing was done; try it again.');
  }
}

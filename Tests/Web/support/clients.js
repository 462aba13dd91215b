// Clients of a test, with what they have seen.

import { randomUUID } from 'node:crypto';
import { History } from '../../../Clients/web/src/history.js';
import { RTMClient } from '../../../Clients/web/src/index.js';
import { Locks } from '../../../Clients/web/src/locks.js';
import { Once } from '../../../Clients/web/src/once.js';
import { Pacing } from '../../../Clients/web/src/pacing.js';
import { Presence } from '../../../Clients/web/src/presence.js';
import { Storage } from '../../../Clients/web/src/storage.js';
import { WebSocket } from './programs.js';

export const fresh = (name) => `${name}-${randomUUID().slice(0, 8)}`;

/** A client with all modules. */
export const withModules = (client) =>
  Object.assign(client, {
    presence: new Presence(client),
    storage: new Storage(client),
    locks: new Locks(client),
    history: new History(client),
    pacing: new Pacing(client),
    once: new Once(client),
  });

/** A client that collects its events; `until` waits for one. */
export function makeClient(t, server, options = {}) {
  const client = withModules(new RTMClient({ server, appId: 'dev', userId: fresh('user'), WebSocket, ...options }));
  const seen = [];
  const waiting = new Set();
  client.listen((event) => {
    seen.push(event);
    for (const check of waiting) check();
  });
  t.after(() => client.close());
  /** The first event that fits, now or later. */
  const until = (fits, what = String(fits), seconds = 10) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`${what} has not come; there were ${JSON.stringify(seen.map(({ type }) => type))}`));
      }, seconds * 1000);
      const check = () => {
        const found = seen.find(fits);
        if (!found) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  const messages = () => seen.filter(({ type }) => type === 'message').map(({ payload }) => payload);
  return Object.assign(client, { seen, until, received: messages });
}

export async function loggedIn(t, server, options) {
  const client = makeClient(t, server, options);
  await client.login();
  return client;
}

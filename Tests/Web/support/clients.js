// Clients of a test, with what they have seen.

import { randomUUID } from 'node:crypto';
import { RTMClient } from '../../../Clients/web/src/index.js';
import { WebSocket } from './programs.js';

export const fresh = (name) => `${name}-${randomUUID().slice(0, 8)}`;

/** A client that collects its events; `until` waits for one. */
export function makeClient(t, server, options = {}) {
  const client = new RTMClient({ server, appId: 'dev', userId: fresh('user'), WebSocket, ...options });
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

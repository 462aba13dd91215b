// From nothing to the first message: the page loads the client, logs in, and is sent a message.
import { RTMClient } from '/src/index.js';

const query = new URLSearchParams(location.search);
const client = new RTMClient({ server: query.get('server'), appId: 'dev', userId: query.get('user') });
globalThis.client = client;
globalThis.seen = [];
client.listen((event) => {
  seen.push(event);
  if (event.type === 'message') globalThis.firstMessage ??= performance.now();
});
await client.login();
globalThis.loggedIn = performance.now();
if (query.has('channel')) {
  await client.subscribe(query.get('channel'));
  addEventListener('pagehide', () => client.logout());
  globalThis.subscribed = true;
}
if (query.has('self')) await client.publish({ user: client.userId }, 'to myself');

import { RTMClient } from '/src/index.js';

const query = new URLSearchParams(location.search);
const client = new RTMClient({ server: query.get('server'), appId: 'dev', userId: query.get('user') });
client.listen((event) => event.type === 'message' && postMessage(event.payload));
await client.login();
await client.publish({ user: client.userId }, 'from a worker');

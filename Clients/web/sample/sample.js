// Chat, presence and a shared counter. It works from any static server that serves this folder and ../src beside it:
//
//   rtm-standalone --edge-web-socket-listen 127.0.0.1:7712
//   python3 -m http.server 8000 --directory Clients/web      then http://127.0.0.1:8000/sample/

import { RTMClient } from '../src/index.js';
import { Presence } from '../src/presence.js';
import { Storage } from '../src/storage.js';

/** A page that stays open for days keeps the newest lines only. */
const linesMax = 500;

const byId = (id) => document.getElementById(id);
const settings = new URLSearchParams(location.search);
const defaults = {
  server: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.hostname || '127.0.0.1'}:7712/rtm`,
  app: 'dev',
  user: `guest ${Math.floor(Math.random() * 1000)}`,
  channel: 'lobby',
};
const login = byId('login');
for (const [name, value] of Object.entries(defaults)) login.elements[name].value = settings.get(name) ?? value;

let client;
let storage;
let channel;
const users = new Set();

function show(text, className = '') {
  const line = document.createElement('li');
  // As text, never as HTML: whoever may publish chooses it.
  line.textContent = text;
  line.className = className;
  const list = byId('messages');
  list.append(line);
  if (list.childElementCount > linesMax) list.firstElementChild.remove();
  line.scrollIntoView({ block: 'nearest' });
}

function showUsers() {
  byId('users').replaceChildren(
    ...[...users].sort().map((user) => Object.assign(document.createElement('li'), { textContent: user })),
  );
}

function received(event) {
  switch (event.type) {
    case 'message':
      return show(`${event.publisher}: ${typeof event.payload === 'string' ? event.payload : '(bytes)'}`);
    case 'gap':
      return show('Some messages were lost while you were away.', 'note');
    case 'presence':
      if (event.change === 'snapshot') {
        users.clear();
        event.users.forEach(({ userId }) => users.add(userId));
      } else if (event.change === 'joined') users.add(event.userId);
      else if (event.change === 'left' || event.change === 'timedOut') users.delete(event.userId);
      else if (event.change === 'interval') {
        event.interval.joined.forEach((user) => users.add(user));
        [...event.interval.left, ...event.interval.timedOut].forEach((user) => users.delete(user));
      }
      return showUsers();
    case 'storage':
      byId('count').value = event.metadata.items.find(({ key }) => key === 'count')?.value ?? '0';
      return undefined;
    case 'linkState':
      byId('state').textContent =
        event.reasonCode === 'sameUidLogin'
          ? 'You have logged in elsewhere, perhaps in another tab. Log in here to continue here.'
          : `${event.currentState}: ${event.reason}`;
      byId('room').hidden = event.currentState === 'idle' || event.currentState === 'failed';
      return undefined;
    default:
      return undefined;
  }
}

login.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { server, app, user, channel: name, token } = Object.fromEntries(new FormData(login));
  client?.close();
  users.clear();
  byId('messages').replaceChildren();
  try {
    client = new RTMClient({ server, appId: app, userId: user });
    storage = new Storage(client);
    // With it a subscription shows who is there.
    new Presence(client);
    client.listen(received);
    await client.login({ token: token || undefined });
    await client.subscribe(name, { metadata: true });
    channel = name;
    byId('chat').elements.text.focus();
  } catch (error) {
    byId('state').textContent = error.message;
  }
});

byId('chat').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { text } = byId('chat').elements;
  const message = text.value;
  if (!message) return;
  text.value = '';
  try {
    await client.publish(channel, message, { storeInHistory: true });
    show(`${client.userId}: ${message}`);
  } catch (error) {
    show(`Not sent: ${error.message}`, 'note');
  }
});

// However many press it at the same time, no press is lost: a write names the revision that it was made of.
byId('increment').addEventListener('click', async () => {
  try {
    await storage.edit(channel, (values) => ({ count: String(Number(values.get('count') ?? 0) + 1) }));
  } catch (error) {
    show(`Not counted: ${error.message}`, 'note');
  }
});

byId('logout').addEventListener('click', () => client.logout());

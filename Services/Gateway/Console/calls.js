// Every call of the public HTTP API that the console makes, and the same as a command: nothing else is called.
//
// A call has a `method` (GET if absent), the segments of its `path` below /v1/APP, or below /v1 for `isGlobal`, a `query`,
// a `body`, the `scope` that it needs, and the command of `rtm` that does the same, where there is one.

const channelOrUser = ({ channel, user, type }) => (user === undefined ? { channel, type: streamOnly(type) } : { user });
const streamOnly = (type) => (type === 'stream' ? 'stream' : undefined);
const isStream = ({ type }) => type === 'stream' || undefined;
const duration = (seconds) => (seconds === undefined ? undefined : `${seconds}s`);
const metadataNames = ({ channel, user }) => (user === undefined ? ['channel', channel] : ['user', user]);

/** `rtm COMMAND` as a backend does it, at a gateway. */
const asBackend = (command, names = [], options = {}) => ({ command, names, options, isBackend: true });
/** The same of a guest, at an edge. Nothing is done as a user of the app, whose session would end by the login. */
const asUser = (command, names = [], options = {}) => ({ command, names, options, isUser: true });

// MARK: Lists

export const usage = () => ({ path: ['usage'], scope: 'read', rtm: asBackend('usage') });

export const channels = ({ prefix, type, cursor, limit = 50 }) => ({
  path: ['channels'],
  query: { prefix, type: streamOnly(type), cursor, limit },
  scope: 'read',
  rtm: asBackend('channel list', [], { prefix, stream: isStream({ type }) }),
});

export const channel = ({ channel, type }) => ({
  path: ['channels', channel],
  query: { type: streamOnly(type) },
  scope: 'read',
  rtm: asBackend('channel show', [channel], { stream: isStream({ type }) }),
});

export const users = ({ prefix, cursor, limit = 50 }) => ({
  path: ['users'],
  query: { prefix, cursor, limit },
  scope: 'read',
  rtm: asBackend('user list', [], { prefix }),
});

export const user = ({ user }) => ({ path: ['users', user], scope: 'moderate', rtm: asBackend('user show', [user]) });

export const connections = ({ prefix, user, session, order, cursor, limit = 50 }) => ({
  path: ['connections'],
  query: { prefix, user, session, order, cursor, limit },
  scope: 'moderate',
  rtm: asBackend('connection list', [], { prefix, user, session, 'by-queue': order === 'queued' || undefined }),
});

/** Edges watch the app `for` a time before they answer. */
export const top = ({ limit = 20, time = '1s' } = {}) => ({
  path: ['top'],
  query: { limit, for: time },
  scope: 'admin',
  rtm: asBackend('top', [], { limit, for: time }),
});

// MARK: Messages

export const publish = ({ channel, user, message, customType, publisher, store }) => ({
  method: 'POST',
  path: ['publish'],
  body: { channel, user, message, customType, publisher, store },
  scope: 'publish',
  rtm: publisher
    ? undefined
    : asUser(...(user === undefined ? ['publish', [channel, message]] : ['send', [user, message]]), {
        'custom-type': customType,
        history: store,
      }),
});

export const history = ({ channel, user, before, after, limit = 25 }) => ({
  path: ['history'],
  query: { channel, user, before, after, limit },
  scope: 'read',
  rtm: user === undefined ? asUser('history show', [channel], { count: limit }) : undefined,
});

export const purge = ({ channel, user, before }) => ({
  method: 'DELETE',
  path: ['history'],
  query: { channel, user, before },
  scope: 'moderate',
  rtm: asBackend('history purge', channel === undefined ? [] : [channel], { user, before }),
});

// MARK: Presence

export const presence = ({ channel, type, page }) => ({
  path: ['presence'],
  query: { channel, type: streamOnly(type), state: true, page },
  scope: 'read',
  rtm: asUser('presence who', [channel], { stream: isStream({ type }), states: true }),
});

export const userChannels = ({ user }) => ({
  path: ['users', user, 'channels'],
  scope: 'read',
  rtm: asUser('presence where', [user]),
});

// MARK: Metadata and locks

export const metadata = (of) => ({
  path: ['metadata'],
  query: channelOrUser(of),
  scope: 'read',
  rtm: asUser('metadata get', metadataNames(of), { stream: isStream(of) }),
});

/** Writes the item if its revision is still this one; 0: if there is none. */
export const setItem = ({ key, value, revision, ...of }) => ({
  method: revision === 0 ? 'PUT' : 'PATCH',
  path: ['metadata'],
  query: channelOrUser(of),
  body: { items: [{ key, value, revision }] },
  scope: 'publish',
  rtm: asUser(revision === 0 ? 'metadata set' : 'metadata update', [...metadataNames(of), `${key}=${value}`], {
    revision: `${key}=${revision}`,
    stream: isStream(of),
  }),
});

export const removeItem = ({ key, revision, ...of }) => ({
  method: 'DELETE',
  path: ['metadata'],
  query: channelOrUser(of),
  body: { items: [{ key, revision }] },
  scope: 'publish',
  rtm: asUser('metadata remove', [...metadataNames(of), key], { revision: `${key}=${revision}`, stream: isStream(of) }),
});

export const locks = ({ channel, type }) => ({
  path: ['locks'],
  query: { channel, type: streamOnly(type) },
  scope: 'read',
  rtm: asUser('lock list', [channel], { stream: isStream({ type }) }),
});

export const createLock = ({ channel, type, name, ttl }) => ({
  method: 'PUT',
  path: ['locks', name],
  query: { channel, type: streamOnly(type) },
  body: { ttl },
  scope: 'publish',
  rtm: asUser('lock set', [channel, name], { ttl: duration(ttl), stream: isStream({ type }) }),
});

export const removeLock = ({ channel, type, name }) => ({
  method: 'DELETE',
  path: ['locks', name],
  query: { channel, type: streamOnly(type) },
  scope: 'publish',
  rtm: asUser('lock remove', [channel, name], { stream: isStream({ type }) }),
});

export const revokeLock = ({ channel, type, name, owner }) => ({
  method: 'POST',
  path: ['locks', name, 'revoke'],
  query: { channel, type: streamOnly(type) },
  body: { owner },
  scope: 'publish',
  rtm: asUser('lock revoke', [channel, name, owner], { stream: isStream({ type }) }),
});

// MARK: Moderation

const moderation = (command, { user, reason }, options = {}, fields = {}) => ({
  method: 'POST',
  path: ['users', user, command],
  body: { ...fields, reason },
  scope: 'moderate',
  rtm: asBackend(`user ${command}`, [user], { ...options, reason }),
});

export const kick = (whom) => moderation('kick', whom);
export const unban = (whom) => moderation('unban', whom);
export const ban = ({ seconds, ...whom }) => moderation('ban', whom, { for: duration(seconds) }, { seconds });
export const revokeTokens = ({ seconds, ...whom }) =>
  moderation('revoke-tokens', whom, { for: duration(seconds) }, { seconds });

export const bans = ({ after }) => ({
  path: ['bans'],
  query: { after },
  scope: 'moderate',
  rtm: asBackend('user list', [], { banned: true }),
});

// MARK: Explain

export const explainMessage = ({ channel, offset, epoch, user }) => ({
  method: 'POST',
  path: ['explain'],
  body: { message: { channel, offset, epoch, user } },
  scope: 'moderate',
  rtm: channel === undefined ? undefined : asBackend('explain message', [channel, offset], { user, epoch }),
});

export const explainUser = ({ user }) => ({
  method: 'POST',
  path: ['explain'],
  body: { user },
  scope: 'moderate',
  rtm: asBackend('explain user', [user]),
});

export const explainPublish = ({ channel, to, as }) => ({
  method: 'POST',
  path: ['explain'],
  body: { publish: { channel, to, as } },
  scope: 'moderate',
  rtm: channel === undefined ? undefined : asBackend('explain publish', [channel], { to, as }),
});

// MARK: Events and webhooks

export const events = ({ after, types, channels, wait, limit = 1000 }) => ({
  path: ['events'],
  query: { after, types, channels, wait, limit },
  scope: 'read',
  rtm: asBackend('event tail', [], {
    types,
    prefix: channels,
    after: after === 'latest' ? undefined : after,
    'from-oldest': after === undefined || undefined,
  }),
});

/** What is published in a channel, as events; a terminal can follow it as a session. */
export const messages = ({ channel }) => ({
  ...events({ after: 'latest', types: 'message.published', channels: channel, wait: '20s' }),
  rtm: asUser('subscribe', [channel]),
});

export const webhooks = ({ name, cursor, limit = 50 } = {}) => ({
  path: ['webhooks'],
  query: { name, cursor, limit },
  scope: 'admin',
  rtm: name === undefined ? asBackend('webhook list') : asBackend('webhook show', [name]),
});

export const testWebhook = ({ name }) => ({
  method: 'POST',
  path: ['webhooks', name, 'test'],
  scope: 'admin',
  rtm: asBackend('webhook test', [name]),
});

export const redeliver = ({ name, after }) => ({
  method: 'POST',
  path: ['webhooks', name, 'redeliver'],
  body: { after },
  scope: 'admin',
  rtm: asBackend('webhook redeliver', [name], { after }),
});

export const deadLetters = ({ name, after }) => ({
  path: ['webhooks', name, 'dead-letters'],
  query: { after },
  scope: 'admin',
  rtm: asBackend('webhook dead-letters', [name]),
});

// MARK: Keys and tokens

export const ownKey = () => ({ path: ['keys', 'self'], isGlobal: true, rtm: asBackend('key show') });
export const keys = () => ({ path: ['keys'], isGlobal: true, scope: 'admin' });

/** What holders of keys have changed, the newest first. */
export const audit = ({ after, limit = 50 } = {}) => ({
  path: ['audit'],
  query: { after, limit },
  scope: 'admin',
  rtm: asBackend('audit', [], { limit }),
});

/** A token of the user for a session; empty for an app without a certificate, which needs none. */
export const token = ({ user, seconds }) => ({
  method: 'POST',
  path: ['tokens'],
  body: { user, seconds },
  scope: 'admin',
  rtm: { command: 'token create', names: [], options: { user, expire: duration(seconds), 'certificate-file': 'FILE' } },
});

// MARK: The installation

export const nodes = () => ({ path: ['nodes'], isGlobal: true, scope: 'admin', rtm: asBackend('node list') });

export const incidents = ({ limit = 50 } = {}) => ({
  path: ['incidents'],
  query: { limit },
  isGlobal: true,
  scope: 'admin',
  rtm: asBackend('node incidents', [], { limit }),
});

export const configuration = ({ prefix, changed } = {}) => ({
  path: ['configuration'],
  query: { prefix, changed: changed || undefined },
  isGlobal: true,
  scope: 'admin',
  rtm: asBackend('node configuration', [], { prefix, changed: changed || undefined }),
});

// MARK: As an address, and as a command

const segmentsOf = (app, { path, isGlobal = false }) => (isGlobal ? path : [app, ...path]);

/** What browsers take for the folder or the one above it, however it is encoded. */
const lostOf = (app, call) => segmentsOf(app, call).find((segment) => segment === '.' || segment === '..');

/** The path and the query of a call. */
export function pathOf(app, call) {
  const lost = lostOf(app, call);
  if (lost) throw new Error(`"${lost}" can't stand in an address: browsers resolve it. Copy this as curl or rtm.`);
  return addressOf(app, call);
}

function addressOf(app, call) {
  const { query = {} } = call;
  const segments = segmentsOf(app, call);
  if (segments.includes(undefined)) throw new Error('Fill in the form first.');
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const parameters = given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  return `/v1/${segments.map(encodeURIComponent).join('/')}${parameters}`;
}

/** A word of a shell's command line, whatever is in it. */
export function shellWord(text) {
  const word = `${text}`;
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The call as a command that somebody with the key in RTM_API_KEY can run. */
export function asCurl(origin, app, call) {
  const words = lostOf(app, call) ? ['curl', '--path-as-is'] : ['curl'];
  if (call.method) words.push('-X', call.method);
  words.push(shellWord(origin + addressOf(app, call)), '-H', '"Authorization: Bearer $RTM_API_KEY"');
  if (call.body !== undefined) words.push('-d', shellWord(JSON.stringify(call.body)));
  return words.join(' ');
}

/** The call as a command of rtm, which names the gateway or the `edge`; undefined if there is none. */
export function asRtm(origin, app, { rtm }, edge) {
  if (!rtm) return undefined;
  if (rtm.names.includes(undefined)) throw new Error('Fill in the form first.');
  const { isBackend, isUser } = rtm;
  const at = { gateway: isBackend ? origin : undefined, server: isUser ? edge : undefined };
  const options = { ...rtm.options, 'app-id': app, ...at };
  const words = ['rtm', ...rtm.command.split(' ')];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === '' || value === false) continue;
    // A value that begins with a dash would be taken for an option.
    if (value === true) words.push(`--${name}`);
    else words.push(`--${name}=${shellWord(value)}`);
  }
  if (rtm.names.some((name) => `${name}`.startsWith('-'))) words.push('--');
  return [...words, ...rtm.names.map(shellWord)].join(' ');
}

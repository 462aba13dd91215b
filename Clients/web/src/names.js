// What calls are about: a message channel by its name, or an object with one name, such as `{ user: 'alice' }`.

/** `none` is a user's metadata. */
export const types = ['none', 'message', 'stream', 'user', 'topics', 'topic'];

export const features = { presence: 1, metadata: 2, message: 4, lock: 8, quiet: 16 };

/** The type and the name on the wire, and a key for both. */
export function target(about) {
  const [kind, name] = typeof about === 'string' ? ['message', about] : (Object.entries(about ?? {})[0] ?? []);
  const type = kind === 'channel' ? 1 : types.indexOf(kind);
  if (type < 1 || typeof name !== 'string') throw new TypeError(`no channel and no user: ${JSON.stringify(about)}`);
  return { type, name, key: `${type}/${name}` };
}

/** That of metadata: users have the type none there. */
export function metadataTarget(about) {
  const { type, name } = target(about);
  return { type: type === 3 ? 0 : type, name, key: `${type === 3 ? 0 : type}/${name}` };
}

export const asStates = (items) => Object.fromEntries(items.map(({ key, value }) => [key, value]));
export const asItems = (states) => Object.entries(states).map(([key, value]) => ({ key, value }));

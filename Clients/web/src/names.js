// What calls are about: a message channel by its name, or an object with one name, such as `{ user: 'alice' }`.

import { RTMError } from './errors.js';

/** `none` is a user's metadata, and `topics` the roster of a stream channel's topics. */
export const types = ['none', 'message', 'stream', 'user', 'topics', 'topic'];

/** All names of some lists, each once. */
export const union = (...lists) => [...new Set(lists.flat())].sort();

/** The type and the name on the wire, and a key for both. */
export const place = (type, name) => ({ type, name, key: `${type}/${name}` });

export function target(about) {
  const [kind, name] = typeof about === 'string' ? ['channel', about] : (Object.entries(about ?? {})[0] ?? []);
  const type = kind === 'channel' ? 1 : types.indexOf(kind);
  if (type < 1 || typeof name !== 'string') throw new RTMError(-10014, `no channel and no user: ${kind}`);
  return place(type, name);
}

// Metadata of channels and users: sets of items with revisions. A module of its own, so that nobody loads it who needs none.

import { codes, Metadata, metadataOf } from './metadata.js';
import { place, target } from './names.js';
import { patiently } from './patience.js';
import { sessionOf } from './session.js';

// Users have the type none here.
function metadataTarget(about) {
  const { type, name } = target(about);
  return place(type === 3 ? 0 : type, name);
}

export class Storage {
  #session;
  #metadata;

  constructor(client) {
    this.#session = sessionOf(client);
    this.#metadata = this.#session.part(Metadata);
  }

  set(of, items, options) {
    return this.#write('setMetadata', 0, of, items, options);
  }

  update(of, items, options) {
    return this.#write('updateMetadata', 1, of, items, options);
  }

  /** Without keys the whole set. */
  remove(of, keys, options) {
    const items = (keys ?? []).map((key) => (typeof key === 'string' ? { key } : key));
    return this.#write('removeMetadata', 2, of, items, options);
  }

  async #write(operation, kind, of, items, options) {
    const { encryption, requests, userId } = this.#session;
    const { type, name } = metadataTarget(of);
    const { majorRevision, recordTimestamp = false, recordAuthor = false, lock = '', fencingToken = 0 } = options ?? {};
    // On the wire 0 compares nothing, and -1 stands for what was never written.
    const onWire = (revision) => (revision === undefined ? 0 : revision === 0 ? -1 : revision);
    let list = Array.isArray(items) ? items : Object.entries(items).map(([key, value]) => ({ key, value }));
    // A removal has nothing to seal, and comes behind what is still being sealed.
    const sealed = encryption && (await encryption.sealItems(type, name || userId, kind < 2 ? list : []));
    if (sealed && kind < 2) list = sealed;
    const request = {
      channelType: type,
      target: name,
      kind,
      items: list.map(({ key, value = '', revision }) => ({ key, value: String(value), revision: onWire(revision) })),
      majorRevision: onWire(majorRevision),
      recordTs: recordTimestamp,
      recordAuthor,
      lock,
      fencingToken,
    };
    const answer = await requests.ask(codes, 'writeMetadata', request, operation);
    return { majorRevision: answer.majorRevision };
  }

  async get(of) {
    const { encryption, requests, userId } = this.#session;
    const { type, name } = metadataTarget(of);
    const metadata = metadataOf(await requests.ask(codes, 'getMetadata', { channelType: type, target: name }));
    await encryption?.openItems(type, name || userId, metadata);
    return metadata;
  }

  /**
   * Changes a set by its present content, however many do so at once: `change` gets the values by key, and returns the
   * items to set, or nothing to leave it. It is called again when somebody else was faster.
   */
  async edit(of, change, options) {
    for (;;) {
      const { majorRevision, items } = await patiently(() => this.get(of));
      const wanted = await change(new Map(items.map(({ key, value }) => [key, value])));
      if (!wanted) return { majorRevision };
      try {
        return await patiently(() => this.set(of, wanted, { ...options, majorRevision }));
      } catch (error) {
        if (error.code !== -12014) throw error;
      }
    }
  }

  /** Shows the metadata of a user: first all of it, then each write. */
  follow(userId) {
    return this.#metadata.follow(userId || this.#session.userId);
  }

  unfollow(userId) {
    return this.#metadata.unfollow(userId || this.#session.userId);
  }
}

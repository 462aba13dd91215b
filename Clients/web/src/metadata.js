// Metadata within a session: what subscribers and followers are shown of it.

import { place, types } from './names.js';
import { Refreshes } from './refreshes.js';
import { schema } from './storage-schema.js';
import { define } from './wire.js';

define(schema);
const bit = 2;
export const codes = [-12018, -10025];

/** How users are followed: as channels are subscribed, with requests of their own. */
const userWay = {
  list: 'followedUsers',
  begin: 'subscribeUserMetadata',
  end: 'unsubscribeUserMetadata',
  request: ({ name, position }) => ({ userId: name, after: position }),
  // Storage can't be had at the moment.
  waitsFor: [-12001, -12018, -12019],
};

export const metadataOf = ({ majorRevision, items }) => ({
  majorRevision,
  items: items.map(({ key, value, revision, updateTsMs, author }) => ({
    key,
    value,
    revision,
    updatedAt: updateTsMs || undefined,
    author: author || undefined,
  })),
});

export class Metadata {
  #session;
  #refreshes;
  /** By subscription: the newest revision that was shown. */
  #shown = new WeakMap();

  constructor(session) {
    this.#session = session;
    session.features.metadata = bit;
    const request = ({ type, name }) => ({ channelType: type, target: name });
    this.#refreshes = new Refreshes(session, codes, 'getMetadata', request, (body) => this.metadata(body));
  }

  async follow(userId) {
    const { position } = await this.#session.channels.subscribe(place(0, userId), { features: bit }, 'followUser', userWay);
    return { position };
  }

  async unfollow(userId) {
    await this.#session.channels.unsubscribe(place(0, userId), 'unfollowUser', -12015);
  }

  onSubscribed(entry, { featuresUnavailable }) {
    if (entry.features & featuresUnavailable & bit) this.#refreshes.later(entry);
  }

  onGap(entry) {
    if (entry.features & bit) this.#refreshes.ask(entry);
  }

  onUnrestored({ type, name }, restoring) {
    if (type !== 0) return;
    restoring.users.push(name);
    restoring.incomplete = true;
  }

  /** The whole set, which the server sends at first, or as an answer. */
  metadata(body) {
    const entry = this.#session.subscriptions.get(`${body.channelType}/${body.target}`);
    if (entry) this.#emit(entry, body, { isSnapshot: true, publisher: '', timestamp: this.#session.time });
  }

  storage(body, { entry, publisher, timestamp }) {
    if (body.majorRevision > (this.#shown.get(entry) ?? 0)) {
      this.#emit(entry, body, { isSnapshot: false, publisher, timestamp });
    }
  }

  #emit(entry, body, more) {
    this.#shown.set(entry, body.majorRevision);
    const channelType = types[entry.type || 3];
    this.#session.emit({ type: 'storage', channelType, channelName: entry.name, metadata: metadataOf(body), ...more });
  }
}

// What the session is subscribed to, and how far each log was seen: what a return takes up (protocol/reliable.md). Pure.
//
// An entry is a channel, the roster of a stream channel's topics, a topic, or a user whose metadata is followed (type 0).

export class Subscriptions {
  #entries = new Map();
  /** How far the messages to the user were seen. */
  inbox;

  constructor(userId) {
    this.inbox = { type: 3, name: userId };
  }

  get(key) {
    return this.#entries.get(key);
  }

  /** What an entry of a log, or a gap, is about. */
  about({ channelType, channel }) {
    return channelType === 3 ? this.inbox : this.get(`${channelType}/${channel}`);
  }

  get all() {
    return [...this.#entries.values()];
  }

  /** Those that the server has confirmed, and that the app hasn't left. */
  get active() {
    return this.all.filter(({ isActive, leaving }) => isActive && !leaving);
  }

  /** A subscribe begins. A running subscription keeps what it has until the answer. */
  begin({ type, name, key }, wanted, way) {
    let entry = this.#entries.get(key);
    if (!entry || entry.leaving) {
      entry = { type, name, key, way, features: 0, token: '', publishers: [] };
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    entry.wanted = wanted;
    return entry;
  }

  /** The server has answered. Returns the gap, if there is one. */
  confirm(entry, { position, gap }) {
    if (entry.wanted) Object.assign(entry, entry.wanted, { wanted: undefined });
    entry.isActive = true;
    const moved = this.#move(entry, position);
    return gap && moved;
  }

  #move(entry, position) {
    const lastSeen = entry.position;
    entry.position = { ...position };
    return { lastSeen, continuesAfter: position };
  }

  /** A subscribe came to nothing. */
  abandon(entry) {
    entry.wanted = undefined;
    if (!entry.isActive) this.remove(entry);
  }

  /** Returns whether it was there. */
  remove(entry) {
    return this.#entries.get(entry.key) === entry && this.#entries.delete(entry.key);
  }

  clear() {
    this.#entries.clear();
    this.inbox.position = undefined;
  }

  /** An entry of a log has arrived. Returns whether it is new and wanted. */
  accepts(publication) {
    const position = this.about(publication)?.position;
    if (!position || publication.offset <= position.offset) return false;
    position.offset = publication.offset;
    return true;
  }

  /** The server continues from another position. Returns the gap; nothing if this isn't subscribed. */
  skip(gap) {
    const entry = this.about(gap);
    return entry?.position && this.#move(entry, gap.position);
  }

  /** What a login takes along, stream channels before their topics: as much as every server takes. */
  offer(tokenBytes) {
    let bytes = 36 * 1024 - tokenBytes;
    let count = 500;
    return this.active.filter(({ name, token, publishers }) => {
      bytes -= 56 + name.length + token.length + publishers.reduce((sum, user) => sum + user.length + 2, 0);
      return bytes >= 0 && count-- > 0;
    });
  }
}

export const subscribeRequest = ({ type, name, features, token, publishers, position }) => ({
  channel: name,
  channelType: type === 1 ? 0 : type,
  features: type === 5 ? 0 : features,
  after: position,
  token,
  publishers,
});

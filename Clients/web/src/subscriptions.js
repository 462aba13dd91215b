// What the session is subscribed to, and how far each log was seen: what a return takes up (protocol/reliable.md). Pure.
//
// An entry is a channel, the roster of a stream channel's topics, a topic, or a user whose metadata is followed (type 0).

/** Of the features: own messages, for which a Subscribe has a field. */
export const echo = 32;

export function makeSubscriptions(userId) {
  const entries = new Map();

  function move(entry, position) {
    const lastSeen = entry.position;
    entry.position = { ...position };
    return { lastSeen, continuesAfter: position };
  }

  const subscriptions = {
    /** How far the messages to the user were seen. */
    inbox: { type: 3, name: userId },

    get: (key) => entries.get(key),

    /** What an entry of a log, or a gap, is about. */
    about: ({ channelType, channel }) => (channelType === 3 ? subscriptions.inbox : entries.get(`${channelType}/${channel}`)),

    get all() {
      return [...entries.values()];
    },

    /** Those that the server has confirmed, and that the app hasn't left. */
    get active() {
      return subscriptions.all.filter(({ isActive, leaving }) => isActive && !leaving);
    },

    /** A subscribe begins. A running subscription keeps what it has until the answer. */
    begin({ type, name, key }, wanted, way) {
      let entry = entries.get(key);
      if (!entry || entry.leaving) {
        entry = { type, name, key, way, features: 0, token: '', publishers: [] };
        entries.delete(key);
        entries.set(key, entry);
      }
      entry.wanted = wanted;
      return entry;
    },

    /** The server has answered. Returns the gap, if there is one. */
    confirm(entry, { position, gap }) {
      if (entry.wanted) Object.assign(entry, entry.wanted, { wanted: undefined });
      entry.isActive = true;
      const moved = move(entry, position);
      return gap && moved;
    },

    /** A subscribe came to nothing. */
    abandon(entry) {
      entry.wanted = undefined;
      if (!entry.isActive) subscriptions.remove(entry);
    },

    /** Returns whether it was there. */
    remove: (entry) => entries.get(entry.key) === entry && entries.delete(entry.key),

    clear() {
      entries.clear();
      subscriptions.inbox.position = undefined;
    },

    /** An entry of a log has arrived. Returns whether it is new and wanted. */
    accepts(publication) {
      const position = subscriptions.about(publication)?.position;
      if (!position || publication.offset <= position.offset) return false;
      position.offset = publication.offset;
      return true;
    },

    /** The server continues from another position. Returns the gap; nothing if this isn't subscribed. */
    skip(gap) {
      const entry = subscriptions.about(gap);
      return entry?.position && move(entry, gap.position);
    },

    /** What a login takes along, stream channels before their topics: as much as every server takes. */
    offer(tokenBytes) {
      let bytes = 36 * 1024 - tokenBytes;
      let count = 500;
      return subscriptions.active.filter(({ name, token, publishers }) => {
        bytes -= 56 + name.length + token.length + publishers.reduce((sum, user) => sum + user.length + 2, 0);
        return bytes >= 0 && count-- > 0;
      });
    },
  };
  return subscriptions;
}

export const subscribeRequest = ({ type, name, features = 0, token, publishers, position }) => ({
  channel: name,
  channelType: type === 1 ? 0 : type,
  features: features & ~echo,
  after: position,
  token,
  publishers,
  ownMessages: !!(features & echo),
});

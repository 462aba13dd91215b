// The publishes that have no answer yet: which are sent once more, and when new ones have to wait (protocol/reliable.md,
// Publishing once; docs/behaviour.md R-13, M-25). Pure: it gets the time. pacing.js also keeps to the rates of the server.
//
//   sent ──answered──▶ removed
//   sent ──the server refuses it for the moment──▶ postponed ──after the time it names──▶ sent
//   new ──while another one to the destination is postponed──▶ held
//   held ──all before it are answered──▶ sent

export function makePublishes() {
  const entries = new Map();
  let sequence = 0;
  /** By destination with a postponed publish: how many were sent and have no answer. */
  const unanswered = new Map();

  function take(now, chosen) {
    return [...entries.values()].filter(chosen).map((entry) => {
      const { id, publish, state } = entry;
      entry.state = 'sent';
      // One that was held was never sent.
      return { id, publish: state === 'held' && !publish.first ? publish : again(entry, now) };
    });
  }

  const publishes = {
    /** From here on it has its number, and its place among the others. Returns what to send now, if it need not wait. */
    add(id, to, publish, epoch, now) {
      const isHeld = unanswered.has(to);
      const entry = { id, to, publish, epoch, sentAt: now, time: now, ...publish.first, state: isHeld ? 'held' : 'sent' };
      entries.set(id, entry);
      if (!publish.first) publish.sequence = ++sequence;
      if (isHeld) return undefined;
      return publish.first ? again(entry, now) : publish;
    },

    /** It has its answer, or nobody waits for it. Returns the state in which it was, and what the server refused it with. */
    remove(id) {
      const { state, to, refusal } = entries.get(id) ?? {};
      entries.delete(id);
      if (state !== 'held' && unanswered.has(to)) unanswered.set(to, unanswered.get(to) - 1);
      return { state, refusal };
    },

    // MARK: Sending again

    /** The server refused it for the moment. Others to the same destination that are under way it refuses likewise. */
    postpone(id, refusal) {
      const entry = entries.get(id);
      if (!entry) return;
      Object.assign(entry, { state: 'postponed', refusal });
      if (unanswered.has(entry.to)) return;
      const sent = [...entries.values()].filter(({ to, state }) => to === entry.to && state !== 'held');
      unanswered.set(entry.to, sent.length);
    },

    takePostponed: (now) => take(now, ({ state }) => state === 'postponed'),

    /** Those before which all others to their destination are answered now. */
    takeHeld(now) {
      const free = [...unanswered].filter(([, count]) => count <= 0).map(([to]) => to);
      for (const to of free) unanswered.delete(to);
      return take(now, ({ state, to }) => state === 'held' && free.includes(to));
    },

    /** The connection is lost: whatever was sent may have arrived. */
    lost: () => unanswered.clear(),

    /** After the login: what the lost connection left without an answer, in its order, and what is too old to ask about. */
    takeLost(now, ageMax) {
      const tooOld = [...entries.values()].filter(({ time }) => now - time >= ageMax).map(({ id }) => id);
      for (const id of tooOld) publishes.remove(id);
      return { again: take(now, () => true), tooOld };
    },
  };
  return publishes;
}

const again = ({ publish, epoch, sentAt }, now) => ({ ...publish, again: true, ageMs: Math.ceil(now - sentAt) + 1, epoch });

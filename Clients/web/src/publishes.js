// The publishes that have no answer yet: when each may be sent, which are sent once more, and when new ones have to wait
// (protocol/reliable.md, Publishing once; docs/behaviour.md, M-25). Pure: it gets the time.
//
//   paced ──its time has come──▶ sent ──answered──▶ removed
//   sent ──the server refuses it for the moment──▶ postponed ──after the time it names──▶ sent
//   new, paced ──as to sent, while another one to the destination is postponed──▶ held
//   held ──all before it are answered──▶ sent

/** One rate. Messages bunch on their way, so the client uses a little less than the server allows. */
class Pace {
  even = -Infinity;

  earliest(cost, rate, now) {
    const burst = Math.max(0, 750 / 0.95 - (cost * 1000) / (rate * 0.95));
    return rate > 0 ? Math.max(now, this.even - burst) : now;
  }

  spend(cost, rate, at) {
    if (rate > 0) this.even = Math.max(this.even, at) + (cost * 1000) / (rate * 0.95);
  }
}

export class Publishes {
  #entries = new Map();
  #sequence = 0;
  #rates;
  #targets = new Map();
  #messages = new Pace();
  #bytes = new Pace();
  /** By destination: those that are paced, in their order. */
  #paced = new Map();
  /** By destination with a postponed publish: how many were sent and have no answer. */
  #unanswered = new Map();

  get size() {
    return this.#entries.size;
  }

  has(id) {
    return this.#entries.has(id);
  }

  /** Returns the publish to send now; nothing if it has to wait; or a number, the time that it would wait too long. */
  add(id, to, publish, epoch, now, deadline) {
    const bytes = publish.payload.length;
    const waiting = this.#paced.get(to);
    const time = Math.max(this.#earliest(to, bytes, now), waiting?.at(-1)?.time ?? now);
    if (time > deadline) return time - deadline;
    this.#spend(to, bytes, time);
    const entry = { id, to, publish, time, state: 'paced' };
    this.#entries.set(id, entry);
    if (waiting) waiting.push(entry);
    else if (time > now) this.#paced.set(to, [entry]);
    if (waiting || time > now) return undefined;
    return this.#begin(entry, epoch, now);
  }

  /** The pace lets it go: from here on it has its number, and its place among the others. */
  #begin(entry, epoch, now) {
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
    Object.assign(entry, { sentAt: now, epoch, state: this.#unanswered.has(entry.to) ? 'held' : 'sent' });
    entry.publish.sequence = ++this.#sequence;
    return entry.state === 'sent' ? entry.publish : undefined;
  }

  /** It has its answer, or nobody waits for it. Returns the state in which it was, and what the server refused it with. */
  remove(id) {
    const entry = this.#entries.get(id);
    if (!entry) return {};
    this.#entries.delete(id);
    const { state, to, refusal } = entry;
    if (state === 'paced') this.#unpace(entry);
    if ((state === 'sent' || state === 'postponed') && this.#unanswered.has(to)) {
      this.#unanswered.set(to, this.#unanswered.get(to) - 1);
    }
    return { state, refusal };
  }

  #unpace({ to, id }) {
    const entries = this.#paced.get(to);
    entries.splice(
      entries.findIndex((other) => other.id === id),
      1,
    );
    if (entries.length === 0) this.#paced.delete(to);
  }

  // MARK: Sending again

  /** The server refused it for the moment. Others to the same destination that are under way it refuses likewise. */
  postpone(id, refusal) {
    const entry = this.#entries.get(id);
    if (!entry) return;
    Object.assign(entry, { state: 'postponed', refusal });
    if (this.#unanswered.has(entry.to)) return;
    const sent = [...this.#entries.values()].filter(({ to, state }) => to === entry.to && state !== 'paced' && state !== 'held');
    this.#unanswered.set(entry.to, sent.length);
  }

  takePostponed(now) {
    return this.#take(now, ({ state }) => state === 'postponed');
  }

  /** Those before which all others to their destination are answered now. */
  takeHeld(now) {
    const free = new Set([...this.#unanswered].filter(([, count]) => count <= 0).map(([to]) => to));
    if (free.size === 0) return [];
    for (const to of free) this.#unanswered.delete(to);
    return this.#take(now, ({ state, to }) => state === 'held' && free.has(to));
  }

  /** The connection is lost: whatever was sent may have arrived. */
  lost() {
    this.#unanswered.clear();
  }

  /** After the login: what the lost connection left without an answer, in its order, and what is too old to ask about. */
  takeLost(now, ageMax) {
    const tooOld = [...this.#entries.values()].filter(({ state, sentAt }) => state !== 'paced' && now - sentAt >= ageMax);
    for (const { id } of tooOld) this.remove(id);
    return { again: this.#take(now, ({ state }) => state !== 'paced'), tooOld: tooOld.map(({ id }) => id) };
  }

  #take(now, chosen) {
    return [...this.#entries.values()].filter(chosen).map((entry) => {
      // One that was held was never sent.
      const again = entry.state !== 'held';
      entry.state = 'sent';
      if (!again) return { id: entry.id, publish: entry.publish };
      const ageMs = Math.min(Math.ceil(now - entry.sentAt) + 1, 2 ** 32 - 1);
      return { id: entry.id, publish: { ...entry.publish, again, ageMs, epoch: entry.epoch } };
    });
  }

  // MARK: Pacing

  /** A server has let the client in, and named its rates or none. What is paced gets new times, in the same order. */
  pace(rates, now) {
    this.#rates = rates;
    this.#targets.clear();
    this.#messages = new Pace();
    this.#bytes = new Pace();
    for (const [to, entries] of this.#paced) {
      for (const entry of entries) {
        entry.time = this.#earliest(to, entry.publish.payload.length, now);
        this.#spend(to, entry.publish.payload.length, entry.time);
      }
    }
  }

  get nextDue() {
    return Math.min(...[...this.#paced.values()].map(([first]) => first.time));
  }

  takeDue(now, epoch) {
    const due = [...this.#paced.values()].flatMap((entries) => entries.filter(({ time }) => time <= now));
    return due
      .sort((one, other) => one.time - other.time)
      .flatMap((entry) => {
        this.#unpace(entry);
        const publish = this.#begin(entry, epoch, now);
        return publish ? [{ id: entry.id, publish }] : [];
      });
  }

  #rate(to) {
    return to.startsWith('5/') ? this.#rates.topicMessages : this.#rates.targetMessages;
  }

  #earliest(to, bytes, now) {
    if (!this.#rates) return now;
    return Math.max(
      this.#targets.get(to)?.earliest(1, this.#rate(to), now) ?? now,
      this.#messages.earliest(1, this.#rates.sessionMessages, now),
      this.#bytes.earliest(bytes, this.#rates.sessionBytes, now),
    );
  }

  #spend(to, bytes, at) {
    if (!this.#rates) return;
    // Destinations at rest say nothing.
    if (this.#targets.size > 1024) for (const [name, { even }] of this.#targets) if (even < at) this.#targets.delete(name);
    if (!this.#targets.has(to)) this.#targets.set(to, new Pace());
    this.#targets.get(to).spend(1, this.#rate(to), at);
    this.#messages.spend(1, this.#rates.sessionMessages, at);
    this.#bytes.spend(bytes, this.#rates.sessionBytes, at);
  }
}

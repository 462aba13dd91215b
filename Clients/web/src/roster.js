// Who is in one channel, from a snapshot and the events that follow it (protocol/presence.md). Pure: what it is given becomes the
// changes for the app, each once.

export const asStates = (items) => Object.fromEntries(items.map(({ key, value }) => [key, value]));

export class Roster {
  /** By user id: the states. Null until there is a snapshot. */
  users = null;
  #position = null;
  #arriving = null;
  /** Who has come with states, which are the next event (P-46). */
  #coming = null;

  constructor(self) {
    this.self = self;
  }

  /** The subscription continues over a new connection, or in a new log: a snapshot comes. */
  begin(epoch) {
    this.epoch = epoch;
    this.#arriving = this.#coming = null;
  }

  /** `own` has what the client has set, which the server may lack for a moment (P-41, P-42). */
  snapshot({ position, users, more }, own = {}) {
    const at = this.#arriving?.position;
    const isSame = at && at.epoch === position.epoch && at.offset === position.offset;
    const arriving = isSame ? this.#arriving : { position, users: new Map(), held: this.#arriving?.held ?? [] };
    for (const { userId, items } of users) arriving.users.set(userId, asStates(items));
    this.#arriving = more ? arriving : null;
    if (more) return [];
    this.#coming = null;
    this.users = arriving.users;
    if (this.users.has(this.self)) Object.assign(this.users.get(this.self), own);
    this.#position = position;
    const change = { change: 'snapshot', users: this.list() };
    return [change, ...arriving.held.flatMap(([offset, publisher, event]) => this.event(offset, publisher, event))];
  }

  list() {
    return [...this.users].map(([userId, states]) => ({ userId, states: { ...states } }));
  }

  /** Presence can't be had. */
  lost() {
    this.users = this.#position = this.#arriving = this.#coming = null;
    return [{ change: 'outOfService' }];
  }

  #contains({ epoch, offset: end }, offset) {
    return (this.epoch ?? epoch) === epoch && offset <= end;
  }

  event(offset, publisher, event) {
    if (this.#arriving) {
      if (!this.#contains(this.#arriving.position, offset)) this.#arriving.held.push([offset, publisher, event]);
      return [];
    }
    if (this.#position && this.#contains(this.#position, offset)) return [];
    const coming = this.#coming;
    this.#coming = event.type === 3 && event.states ? publisher : null;
    const joined = coming ? this.#change(coming, { type: 3 }) : [];
    if (this.#coming) return joined;
    const next = this.#change(publisher, event);
    if (event.type !== 6 || publisher !== coming || joined.length === 0) return [...joined, ...next];
    return [{ ...joined[0], states: asStates(event.states.items) }];
  }

  #change(publisher, { type, states, interval }) {
    const isOwn = publisher === this.self;
    switch (type) {
      case 3: {
        const isNew = !this.users?.has(publisher);
        // What this user has set is set again.
        if (isNew || !isOwn) this.users?.set(publisher, {});
        return isNew && !isOwn ? [{ change: 'joined', userId: publisher }] : [];
      }
      case 4:
      case 5: {
        const wasThere = this.users ? this.users.delete(publisher) : true;
        return wasThere && !isOwn ? [{ change: type === 4 ? 'left' : 'timedOut', userId: publisher }] : [];
      }
      case 6: {
        const shown = states && this.#show(publisher, states);
        return shown && !isOwn ? [{ change: 'stateChanged', userId: publisher, states: shown }] : [];
      }
      case 2:
        return interval ? [this.#interval(interval)] : [];
      default:
        return [];
    }
  }

  #interval({ joined, left, timedOut, states }) {
    for (const user of joined) this.users?.set(user, {});
    for (const user of [...left, ...timedOut]) this.users?.delete(user);
    const changed = states.flatMap((change) => {
      const shown = this.#show(change.userId, change);
      return shown ? [{ userId: change.userId, states: shown }] : [];
    });
    return { change: 'interval', interval: { joined, left, timedOut, states: changed }, occupancy: this.users?.size };
  }

  /** All states that the user has now. */
  #show(user, { items, removed, whole }) {
    const before = this.users?.get(user);
    if (!before) return undefined;
    const states = whole ? {} : { ...before };
    for (const key of removed) delete states[key];
    Object.assign(states, asStates(items));
    this.users.set(user, states);
    return { ...states };
  }
}

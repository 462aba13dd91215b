// The temporary states of this user. The server forgets them when the user was away for too long; the client sets them again
// (docs/behaviour.md P-41, P-42, S-19). A subscribe brings them along (P-46).

import { RTMError } from './errors.js';
import { asStates } from './roster.js';
import { encode } from './wire.js';

export const codes = [-13012, -13001];
const asItems = (states) => Object.entries(states).map(([key, value]) => ({ key, value }));

// Limit: states that wait for their channels to be subscribed.
const waitingMax = 100;
// Limit: bytes of a frame with states. Every server takes somewhat more.
const bytesMax = 40_000;

export class OwnStates {
  /** By channel: what the app has set, as it travels. */
  #states = new Map();
  /** By channel: which of these the newest subscribe has brought. */
  #brought = new Map();
  #session;
  #rosters;

  constructor(session, rosters) {
    this.#session = session;
    this.#rosters = rosters;
  }

  /**
   * What is subscribed brings the states along. Those that find no room are set afterwards, and so are topics. Outside of a
   * login, what is subscribed already shows its states, and a call may change them before the subscribe takes effect.
   */
  bring(subscribes, loginBytes) {
    let bytes = loginBytes ?? 0;
    for (const one of subscribes) {
      const key = `${one.channelType || 1}/${one.channel}`;
      const states = key < '3' && (loginBytes || !this.#isActive(key)) && this.#states.get(key);
      const items = states ? asItems(states) : [];
      bytes += encode('Subscribe', { states: items }).length + 3;
      const fits = bytes <= bytesMax;
      one.states = fits ? items : [];
      this.#brought.set(key, fits && states);
    }
  }

  clear() {
    this.#states.clear();
  }

  forget(key) {
    this.#states.delete(key);
  }

  of(key) {
    return this.#states.get(key) ?? {};
  }

  #isActive(key) {
    return this.#session.subscriptions.get(key)?.isActive ?? false;
  }

  async set({ type, name, key }, states) {
    if (!states || !Object.values(states).every((value) => typeof value === 'string')) {
      throw new RTMError(-10014, 'states are texts by their names', { operation: 'setState' });
    }
    const items = asItems(states);
    if (this.#isActive(key)) {
      await this.#session.requests.ask(codes, 'setState', { channelType: type, channel: name, items });
      this.#change(key, (shown) => Object.assign(shown, states));
    } else if (type === 4) throw new RTMError(-11001, `stream channel '${name}' is not joined`, { operation: 'setState' });
    else {
      // They wait until the channel is subscribed.
      await this.#session.requests.ready({ codes, operation: 'setState' });
      let count = new Set([...Object.keys(this.of(key)), ...Object.keys(states)]).size;
      for (const [other, kept] of this.#states) if (other !== key && !this.#isActive(other)) count += Object.keys(kept).length;
      if (count > waitingMax) {
        const reason = `more than ${waitingMax} states wait for channels that are not subscribed`;
        throw new RTMError(-13004, reason, { operation: 'setState' });
      }
    }
    this.#states.set(key, { ...this.of(key), ...states });
  }

  async remove({ type, name, key }, keys) {
    if (this.#isActive(key)) {
      await this.#session.requests.ask(codes, 'removeState', { channelType: type, channel: name, keys });
    } else await this.#session.requests.ready({ codes, operation: 'removeState' });
    const drop = (shown) => {
      for (const state of keys.length > 0 ? keys : Object.keys(shown)) delete shown[state];
    };
    this.#change(key, drop);
    const left = { ...this.of(key) };
    drop(left);
    this.#states.set(key, left);
  }

  /** The own user gets no event of what it did itself. */
  #change(key, change) {
    const shown = this.#rosters.shown(key, this.#session.userId);
    if (shown) change(shown);
  }

  /** The channel is subscribed, perhaps again: what the server doesn't show is set. `areSet` says that it shows what was brought. */
  settle({ type, name, key }, areSet) {
    const wanted = this.of(key);
    if (Object.keys(wanted).length === 0 || (areSet && this.#brought.get(key) === wanted)) return;
    const about = { channelType: type, channel: name };
    const again = ({ retryAfter, code }) => {
      if (retryAfter || code === -13011 || code === -13012 || code === -13013) {
        this.#session.requests.later(`states ${key}`, retryAfter ?? 1000, () => this.settle({ type, name, key }));
      }
    };
    const request = { codes, operation: 'setState', reject: again, lost() {} };
    const set = (shown) => {
      const items = asItems(this.of(key)).filter((item) => shown[item.key] !== item.value);
      if (items.length > 0) this.#session.requests.send('setState', { ...about, items }, { ...request, resolve() {} });
    };
    this.#session.requests.send(
      'getState',
      { ...about, userId: this.#session.userId },
      {
        ...request,
        resolve: ({ items }) => set(asStates(items)),
        reject: (error) => (error.code === -13011 ? set({}) : again(error)),
      },
    );
  }
}

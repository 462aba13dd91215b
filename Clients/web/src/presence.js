// Who is where, and with which states. A module of its own, so that nobody loads it who needs none: once it is made for a
// client, subscribing shows who is in the channel.

import { target, types } from './names.js';
import { patiently } from './patience.js';
import { asStates } from './roster.js';
import { Rosters } from './rosters.js';
import { sessionOf } from './session.js';
import { codes } from './states.js';

export class Presence {
  #session;
  #rosters;
  #states;

  constructor(client) {
    this.#session = sessionOf(client);
    this.#rosters = this.#session.part(Rosters);
    this.#states = this.#rosters.states;
  }

  /** Topics and their publishers are in the clear. */
  #encryption({ type }) {
    return type < 4 ? this.#session.encryption : undefined;
  }

  #sealed(about, states) {
    return this.#encryption(about)?.sealStates(about, states) ?? states;
  }

  async whoNow(channel, options) {
    const about = target(channel);
    const list = await this.#rosters.list(about, options ?? {});
    await this.#encryption(about)?.openUsers(about, list.users);
    return list;
  }

  async *onlineUsers(channel, options) {
    const { states = false } = options ?? {};
    let page = '';
    do {
      const answer = await patiently(() => this.whoNow(channel, { states, page }));
      yield* answer.users;
      page = answer.nextPage;
    } while (page);
  }

  async whereNow(userId) {
    const { channels } = await this.#session.requests.ask(codes, 'whereNow', { userId });
    return channels.map(({ type, name }) => ({ channelType: types[type], channelName: name }));
  }

  async setState(channel, states) {
    const about = target(channel);
    await this.#states.set(about, await this.#sealed(about, states));
  }

  async getState(channel, userId = this.#session.userId) {
    const about = target(channel);
    const own = this.#states.of(about.key);
    const isActive = this.#session.subscriptions.get(about.key)?.isActive;
    const user = { userId, states: { ...own } };
    if (userId !== this.#session.userId || isActive || Object.keys(own).length === 0) {
      const request = { channelType: about.type, channel: about.name, userId };
      user.states = asStates((await this.#session.requests.ask(codes, 'getState', request)).items);
    }
    await this.#encryption(about)?.openUsers(about, [user]);
    return user.states;
  }

  async removeState(channel, keys) {
    const about = target(channel);
    // Behind the states that are still being sealed.
    await this.#sealed(about, {});
    await this.#states.remove(about, keys ?? []);
  }
}

import type { Channel, RTMClient, UserState } from './index.js';

/** Who is where, and with which states. Once it is made for a client, a subscription shows who is in its channel. */
export declare class Presence {
  constructor(client: RTMClient);
  /** The users of a channel, at most 100 a page. */
  whoNow(
    channel: Channel,
    options?: { userIds?: boolean; states?: boolean; page?: string },
  ): Promise<{ users: UserState[]; nextPage: string; total: number }>;
  /** All users of a channel, page by page, and no faster than the rate of requests lets through. */
  onlineUsers(channel: Channel, options?: { states?: boolean }): AsyncGenerator<UserState, void>;
  /** The channels of a user. */
  whereNow(userId: string): Promise<{ channelType: 'message' | 'stream'; channelName: string }[]>;
  /** Before the channel is subscribed the states wait for that, and come with the user. They are set again after a return. */
  setState(channel: Channel, states: Record<string, string>): Promise<void>;
  getState(channel: Channel, userId?: string): Promise<Record<string, string>>;
  /** Without keys all states. */
  removeState(channel: Channel, keys?: string[]): Promise<void>;
}

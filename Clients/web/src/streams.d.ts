import type { Receipt, RTMClient, SubscribeOptions, Subscription } from './index.js';

export interface TopicSubscription {
  topic: string;
  /** Those who publish the topic now and are subscribed. */
  succeeded: string[];
  /** Those who don't publish it yet, and are subscribed nevertheless; and those for whom there is no room. */
  failed: string[];
}

/** A room with topics. Its presence, metadata and locks are those of `{ stream: name }` in the calls of those modules. */
export declare class StreamChannel {
  constructor(client: RTMClient, name: string);
  readonly name: string;
  join(options?: Omit<SubscribeOptions, 'messages' | 'echo'> & { token?: string }): Promise<Subscription>;
  leave(): Promise<void>;
  renewToken(token: string): Promise<void>;
  joinTopic(topic: string, options?: { meta?: string; priority?: 'normal' | 'highest' | 'high' | 'low' }): Promise<void>;
  leaveTopic(topic: string): Promise<void>;
  publish(topic: string, message: string | ArrayBuffer | ArrayBufferView, options?: { customType?: string }): Promise<Receipt>;
  /** Adds users; without users up to 64 of those who publish the topic. */
  subscribe(topic: string, options?: { users?: string[] }): Promise<TopicSubscription>;
  /** Without users the whole topic. */
  unsubscribe(topic: string, options?: { users?: string[] }): Promise<void>;
  subscribedUsers(topic: string): string[];
}

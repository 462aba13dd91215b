import type { Channel, Lock, RTMClient } from './index.js';

/** Locks of channels. This client's are claimed again after a return, and who waits stands in line again. */
export declare class Locks {
  constructor(client: RTMClient);
  set(channel: Channel, name: string, options?: { ttl?: number }): Promise<void>;
  remove(channel: Channel, name: string): Promise<void>;
  /** With `wait` in line, until the signal says otherwise. */
  acquire(
    channel: Channel,
    name: string,
    options?: { wait?: boolean; signal?: AbortSignal },
  ): Promise<{ fencingToken: number }>;
  release(channel: Channel, name: string): Promise<void>;
  revoke(channel: Channel, name: string, owner: string): Promise<void>;
  list(channel: Channel): Promise<Lock[]>;
}

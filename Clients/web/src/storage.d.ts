import type { Channel, Metadata, Position, RTMClient, User } from './index.js';

/** A revision that isn't given compares nothing; 0 stands for what isn't there. */
export interface WriteOptions {
  majorRevision?: number;
  recordTimestamp?: boolean;
  recordAuthor?: boolean;
  /** Write only while this user owns this lock, and with `fencingToken` only by this acquisition. */
  lock?: string;
  fencingToken?: number;
}

export type WrittenItems = Record<string, string> | { key: string; value: string; revision?: number }[];

/** Metadata of channels and users: sets of items with revisions. */
export declare class Storage {
  constructor(client: RTMClient);
  /** Creates or overwrites items. */
  set(of: Channel | User, items: WrittenItems, options?: WriteOptions): Promise<{ majorRevision: number }>;
  /** Every item has to exist. */
  update(of: Channel | User, items: WrittenItems, options?: WriteOptions): Promise<{ majorRevision: number }>;
  /** Without keys the whole set. */
  remove(
    of: Channel | User,
    keys?: (string | { key: string; revision?: number })[],
    options?: WriteOptions,
  ): Promise<{ majorRevision: number }>;
  get(of: Channel | User): Promise<Metadata>;
  /** Changes a set by what it has, however many do so at once; `change` may be called again. */
  edit(
    of: Channel | User,
    change: (values: Map<string, string>) => WrittenItems | undefined | Promise<WrittenItems | undefined>,
    options?: Omit<WriteOptions, 'majorRevision'>,
  ): Promise<{ majorRevision: number }>;
  /** Shows the metadata of a user: all of it at first, then each write. Without an id one's own. */
  follow(userId?: string): Promise<{ position: Position }>;
  unfollow(userId?: string): Promise<void>;
}

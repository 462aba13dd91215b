import type { Channel, RTMClient, User } from './index.js';

export interface HistoryMessage {
  payload: string | Uint8Array;
  publisher: string;
  customType: string;
  timestamp: number;
  /** The place among the channel's messages with the same timestamp; absent for the first. */
  order?: number;
  decryptionFailure?: string;
}

export interface HistoryQuery {
  /** 1 to 100, of one page. */
  count?: number;
  /** The newer bound, exclusive without `end`; 0: none. */
  start?: number;
  /** The older bound, inclusive; 0: none. */
  end?: number;
}

/** The stored messages of channels and users. */
export declare class History {
  constructor(client: RTMClient);
  /** One page from newer to older, and the `start` of the next one: 0 after the last. */
  page(of: Channel | User, query?: HistoryQuery): Promise<{ messages: HistoryMessage[]; newStart: number }>;
  /** From newer to older, page by page, and no faster than the rate of requests lets through. */
  messages(of: Channel | User, query?: HistoryQuery): AsyncGenerator<HistoryMessage, void>;
}

/** A message channel by its name, or something else by its kind: `{ stream: 'stage' }`, `{ user: 'alice' }`. */
export type Channel = string | { channel: string } | { stream: string };
export type User = { user: string };
/** `{ topic: 'stage/chat' }` is a topic of a stream channel that was joined. */
export type Destination = Channel | User | { topic: string };
export type ChannelType = 'message' | 'stream' | 'user';

/** Everything up to the offset has been seen. Offsets of different epochs can't be compared. */
export interface Position {
  epoch: number;
  offset: number;
}

/** A call failed. Every promise of this library that rejects does so with one, unless the app's own code threw. */
export declare class RTMError extends Error {
  constructor(code: number, reason: string, more?: Partial<Pick<RTMError, 'operation' | 'retryAfter' | 'outcome' | 'limit' | 'conflict'>>);
  /** A number of the public API; `heliograph/codes` has them by name, and protocol/errors.md what each means. */
  code: number;
  /** One sentence for a person. */
  reason: string;
  /** The call that failed. */
  operation: string;
  /** When the same call may succeed, in milliseconds from now; undefined: waiting alone doesn't help. */
  retryAfter: number | undefined;
  /** Whether the call had its effect. What is `unknown` may be repeated where twice does no harm, as a publish with an id. */
  outcome: 'notDone' | 'unknown' | 'done';
  /** The limit that the call has met. */
  limit?: { name: string; value: number };
  /** Of a write that compared: what is there. */
  conflict?: { majorRevision: number; key: string; revision: number };
}

/** A WebSocket, such as that of the browser or of the package `ws`. */
export type WebSocketClass = new (url: string) => {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: unknown;
  onmessage: unknown;
  onclose: unknown;
  onerror: unknown;
  send(data: Uint8Array): void;
  close(): void;
};

/** All times are in milliseconds. */
export interface Configuration {
  /** The addresses of edges, such as `wss://rtm.example.org/rtm`; they are tried in this order. */
  server: string | URL | (string | URL)[];
  appId: string;
  /** 1 to 64 bytes. A user has one session: a login in another tab ends this one. */
  userId: string;
  /** What a login presents that is given no token; without one the app id, for apps that need none. */
  token?: string;
  /**
   * Where tokens come from. It is asked by a login that is given none, when the token expires within 30 seconds, and when it has
   * expired. One that fails, or that takes longer than `requestTimeout`, is asked again.
   */
  tokenProvider?: () => string | Promise<string>;
  /**
   * How often the client shows that it is there, 5,000 to 1,800,000. By default every 5 seconds; a page sends it every
   * 10 seconds and promises 75, because browsers run the timers of a hidden page once a minute.
   */
  heartbeatInterval?: number;
  /** How long others see this user after its connection was lost, 5,000 to 300,000; 300,000 by default. */
  presenceTimeout?: number;
  /** When the client gives up; never, by default. */
  reconnectTimeout?: number;
  /** How long a call, or an attempt to connect, may take; 10,000 by default. */
  requestTimeout?: number;
  /** What encrypts: `new Encryption(…)` of `heliograph/encryption`. */
  encryption?: object;
  /** Where there is none built in, as in Node before 22. */
  WebSocket?: WebSocketClass;
}

export type LinkState = 'idle' | 'connecting' | 'connected' | 'disconnected' | 'suspended' | 'failed';

export interface MessageEvent {
  type: 'message';
  channelType: ChannelType;
  /** For a message to a user the receiver's own id. */
  channelName: string;
  /** The topic of a stream channel, otherwise empty. */
  topic: string;
  payload: string | Uint8Array;
  publisher: string;
  customType: string;
  /** When the server accepted it, in milliseconds since 1970; it never decreases within a channel. */
  timestamp: number;
  /** The place among the channel's messages with the same timestamp; absent for the first. */
  order?: number;
  offset: number;
}

/** Messages of a channel were lost and can't be replayed; they may be in the history. */
export interface GapEvent {
  type: 'gap';
  channelType: ChannelType;
  channelName: string;
  topic?: string;
  /** Undefined: nothing was seen before. */
  lastSeen: Position | undefined;
  /** Another epoch than that of `lastSeen` means that the log began anew. */
  continuesAfter: Position;
}

export interface UserState {
  userId: string;
  states: Record<string, string>;
}

export type PresenceEvent = {
  type: 'presence';
  channelType: 'message' | 'stream';
  channelName: string;
  timestamp: number;
} & (
  | { change: 'snapshot'; users: UserState[] }
  | { change: 'joined'; userId: string; states?: Record<string, string> }
  | { change: 'left' | 'timedOut'; userId: string }
  | { change: 'stateChanged'; userId: string; states: Record<string, string> }
  | {
      change: 'interval';
      interval: { joined: string[]; left: string[]; timedOut: string[]; states: UserState[] };
      occupancy: number | undefined;
    }
  | { change: 'outOfService' }
);

export interface MetadataItem {
  key: string;
  value: string;
  revision: number;
  updatedAt?: number;
  author?: string;
  decryptionFailure?: string;
}

export interface Metadata {
  /** 0: nothing was ever written. */
  majorRevision: number;
  items: MetadataItem[];
}

/** The whole set: at first, and after each write. */
export interface StorageEvent {
  type: 'storage';
  channelType: ChannelType;
  channelName: string;
  isSnapshot: boolean;
  /** Who wrote; empty for a snapshot. */
  publisher: string;
  metadata: Metadata;
  timestamp: number;
}

export interface Lock {
  name: string;
  /** Empty: free. In the event of a release the former owner. */
  owner: string;
  ttl: number;
  fencingToken: number;
}

export interface LockEvent {
  type: 'lock';
  channelType: 'message' | 'stream';
  channelName: string;
  /** `expired`: this client has lost its lock while it was away. */
  change: 'snapshot' | 'set' | 'removed' | 'acquired' | 'released' | 'expired' | 'other';
  locks: Lock[];
  publisher: string;
  timestamp: number;
}

export interface LinkStateEvent {
  type: 'linkState';
  currentState: LinkState;
  previousState: LinkState;
  operation: string;
  /** Such as `sameUidLogin`: docs/behaviour.md, appendix B. */
  reasonCode: string;
  reason: string;
  affectedChannels: string[];
  /** After a reconnect: those that could not be subscribed again, or that have a gap. */
  unrestoredChannels: string[];
  unrestoredUsers: string[];
  /** The link is back within two minutes, and nothing is missing. */
  isResumed: boolean;
  timestamp: number;
}

export interface TokenWillExpireEvent {
  type: 'tokenWillExpire';
  remaining: number;
  /** The stream channel whose token it is; undefined: that of the session. */
  channelName: string | undefined;
}

export interface TopicPublisher {
  userId: string;
  meta: string;
}

export type TopicEvent = { type: 'topic'; channelName: string; timestamp: number } & (
  | { change: 'snapshot'; topics: { name: string; publishers: TopicPublisher[] }[] }
  | { change: 'joined' | 'left'; topic: string; userId: string; meta: string }
);

/** A stream channel is over although nobody left it. */
export interface StreamChannelEndedEvent {
  type: 'streamChannelEnded';
  channelName: string;
  error: RTMError;
}

export interface UndecryptableEvent {
  type: 'undecryptable';
  content: 'message' | 'state' | 'metadata';
  reason: 'notEncrypted' | 'newerVersion' | 'unknownKey' | 'notAuthentic' | 'replayed';
  keyId: string | undefined;
  count: number;
  channelType: ChannelType;
  channelName: string;
  publisher: string | undefined;
}

/** This consumer was too slow: so many events were dropped in this place. */
export interface OverflowEvent {
  type: 'overflow';
  dropped: number;
}

export type RTMEvent =
  | MessageEvent
  | GapEvent
  | PresenceEvent
  | StorageEvent
  | LockEvent
  | LinkStateEvent
  | TokenWillExpireEvent
  | TopicEvent
  | StreamChannelEndedEvent
  | UndecryptableEvent
  | OverflowEvent;

export interface SubscribeOptions {
  /** True by default. */
  messages?: boolean;
  /** Who comes, goes and changes a state. It needs `new Presence(client)`, with which it is true by default. */
  presence?: boolean;
  /** The metadata: all of it at first, then each write. It needs `new Storage(client)`. */
  metadata?: boolean;
  /** What becomes of the locks. It needs `new Locks(client)`. */
  locks?: boolean;
  /** Hides the own coming, going and states. */
  quiet?: boolean;
  /** The own messages as well, each at its place in the channel. False by default. */
  echo?: boolean;
}

export interface Subscription {
  channelName: string;
  position: Position;
  /** The options that the server can't give at present. */
  unavailable: string[];
}

export interface PublishOptions {
  customType?: string;
  storeInHistory?: boolean;
  /**
   * The app's own name for this message, 1 to 255 visible ASCII characters, with which the call may be repeated whatever became of
   * it, also by another client of the user: the message is published once, as long as the channel's log reaches back (M-42).
   * It needs `new Once(client)`.
   */
  id?: string;
}

export interface Receipt {
  offset: number;
  timestamp: number;
}

export interface EventStream<Event> extends AsyncIterableIterator<Event> {
  next(): Promise<IteratorResult<Event, undefined>>;
  return(): Promise<IteratorResult<Event, undefined>>;
  [Symbol.asyncIterator](): EventStream<Event>;
}

/** One user: it logs in, subscribes, publishes, and gets events. */
export declare class RTMClient {
  constructor(configuration: Configuration);
  readonly userId: string;
  readonly state: LinkState;

  /** Ends when the client is connected. While connected it presents the token. */
  login(options?: { token?: string }): Promise<void>;
  logout(): Promise<void>;
  /** A lost session comes back with the token, and the call ends when it is back. */
  renewToken(token: string): Promise<void>;
  /** The network may have changed: the connection is asked at once, and a lost one tried again. A page does it by itself. */
  networkChanged(): void;
  /** Logs out and ends all consumers. Every later call fails. */
  close(): void;

  /** All events from now on, for one consumer that reads at its own pace. */
  events(options?: { capacity?: number; filter?: (event: RTMEvent) => boolean }): EventStream<RTMEvent>;
  /** The messages of a channel or user, and in the places where some are missing what says so. */
  messages(
    from: Channel | User,
    options?: { capacity?: number },
  ): EventStream<MessageEvent | GapEvent | UndecryptableEvent | OverflowEvent>;
  /** Calls the listener with each event. Returns what ends that. */
  listen(listener: (event: RTMEvent) => void): () => void;

  subscribe(channel: Channel, options?: SubscribeOptions): Promise<Subscription>;
  /** Works without a connection too: then the channel is not restored. */
  unsubscribe(channel: Channel): Promise<void>;
  /** The message has its place in the channel. Messages keep the order of the calls. */
  publish(to: Destination, message: string | ArrayBuffer | ArrayBufferView, options?: PublishOptions): Promise<Receipt>;
}

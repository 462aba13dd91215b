/** The API of agora-rtm 2.x. docs/web-compatibility.md says of each member what it does here. */
export type ChannelType = 'MESSAGE' | 'STREAM' | 'USER';
export type StateDetail = Record<string, string>;

export interface BaseResponse {
  timestamp: number;
}
export interface ErrorInfo {
  error: boolean;
  reason: string;
  operation: string;
  errorCode: number;
}
export declare class RTMBaseError extends Error implements ErrorInfo {
  error: boolean;
  reason: string;
  operation: string;
  errorCode: number;
  code: number;
  originalError?: unknown;
}

export interface PrivateConfig {
  serviceType?: ('MESSAGE' | 'STREAM')[];
  accessPointHosts?: string[];
  eventUploadHosts?: string[];
  logUploadHosts?: string[];
  originDomains?: string[];
}
export interface RTMConfig {
  encryptionMode?: 'NONE' | 'AES_128_GCM' | 'AES_256_GCM';
  salt?: Uint8Array;
  cipherKey?: string;
  presenceTimeout?: number;
  logUpload?: boolean;
  cloudProxy?: boolean;
  useStringUserId?: boolean;
  logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'none';
  heartbeatInterval?: number;
  privateConfig?: PrivateConfig;
  /** Of earlier versions: what a login presents that is given no token. */
  token?: string;
  /** An addition: the address of an edge, such as `wss://rtm.example.org/rtm`, or several. */
  server?: string | string[];
  /** An addition: the WebSocket to use where none is built in. */
  WebSocket?: unknown;
}

export interface SubscribeOptions {
  withMessage?: boolean;
  withPresence?: boolean;
  beQuiet?: boolean;
  withMetadata?: boolean;
  withLock?: boolean;
}
export interface PublishOptions {
  customType?: string;
  channelType?: ChannelType;
  storeInHistory?: boolean;
}
export interface RTMOperationResponse extends BaseResponse {
  channelName: string;
}

export interface OccupancyDetail {
  userId: string;
  states: StateDetail;
  statesCount: number;
}
export interface WhoNowOptions {
  includedUserId?: boolean;
  includedState?: boolean;
  page?: string;
}
export interface WhoNowResponse extends BaseResponse {
  totalOccupancy: number;
  occupants: OccupancyDetail[];
  nextPage: string;
}
export interface WhereNowResponse extends BaseResponse {
  channels: { channelName: string; channelType: ChannelType }[];
  totalChannel: number;
}
export declare class RTMPresence {
  whoNow(channelName: string, channelType: ChannelType, options?: WhoNowOptions): Promise<WhoNowResponse>;
  getOnlineUsers(channelName: string, channelType: ChannelType, options?: WhoNowOptions): Promise<WhoNowResponse>;
  whereNow(userId: string): Promise<WhereNowResponse>;
  getUserChannels(userId: string): Promise<WhereNowResponse>;
  setState(channelName: string, channelType: ChannelType, state: StateDetail): Promise<BaseResponse>;
  getState(userId: string, channelName: string, channelType: ChannelType): Promise<OccupancyDetail & BaseResponse>;
  removeState(channelName: string, channelType: ChannelType, options?: { states?: string[] }): Promise<BaseResponse>;
}

export interface MetadataItem {
  key: string;
  value: string;
  revision?: number;
}
export interface MetaDataDetail {
  value: string;
  revision: number;
  updated: number;
  authorUid: string;
}
export interface StorageData {
  totalCount: number;
  majorRevision: number;
  metadata: Record<string, MetaDataDetail>;
}
export interface MetadataOptions {
  majorRevision?: number;
  lockName?: string;
  addTimeStamp?: boolean;
  addUserId?: boolean;
}
export interface ChannelMetadataOperationResponse extends BaseResponse {
  channelName: string;
  channelType: ChannelType;
}
export interface UserMetadataOperationResponse extends BaseResponse {
  userId: string;
}
type Written = { totalCount: number };
type OfUser = { userId?: string };
type OfChannel = ChannelMetadataOperationResponse;
type Removal = MetadataOptions & { data?: MetadataItem[] };
export declare class RTMStorage {
  setChannelMetadata(
    channelName: string,
    channelType: ChannelType,
    data: MetadataItem[],
    options?: MetadataOptions,
  ): Promise<OfChannel & Written>;
  getChannelMetadata(channelName: string, channelType: ChannelType): Promise<OfChannel & StorageData>;
  removeChannelMetadata(channelName: string, channelType: ChannelType, options?: Removal): Promise<OfChannel & Written>;
  updateChannelMetadata(
    channelName: string,
    channelType: ChannelType,
    data: MetadataItem[],
    options?: MetadataOptions,
  ): Promise<OfChannel & Written>;
  setUserMetadata(data: MetadataItem[], options?: MetadataOptions & OfUser): Promise<UserMetadataOperationResponse & Written>;
  getUserMetadata(options?: OfUser): Promise<UserMetadataOperationResponse & StorageData>;
  removeUserMetadata(options?: Removal & OfUser): Promise<UserMetadataOperationResponse & Written>;
  updateUserMetadata(data: MetadataItem[], options?: MetadataOptions & OfUser): Promise<UserMetadataOperationResponse & Written>;
  subscribeUserMetadata(userId: string): Promise<UserMetadataOperationResponse>;
  unsubscribeUserMetadata(userId: string): Promise<UserMetadataOperationResponse>;
}

export interface LockDetail {
  lockName: string;
  owner: string;
  ttl: number;
}
export interface LockOperationResponse extends BaseResponse {
  channelName: string;
  channelType: ChannelType;
  lockName: string;
}
export interface GetLockResponse extends BaseResponse {
  channelName: string;
  channelType: ChannelType;
  totalLocks: number;
  lockDetails: LockDetail[];
}
export declare class RTMLock {
  setLock(
    channelName: string,
    channelType: ChannelType,
    lockName: string,
    options?: { ttl?: number },
  ): Promise<LockOperationResponse>;
  removeLock(channelName: string, channelType: ChannelType, lockName: string): Promise<LockOperationResponse>;
  acquireLock(
    channelName: string,
    channelType: ChannelType,
    lockName: string,
    options?: { retry?: boolean },
  ): Promise<LockOperationResponse>;
  releaseLock(channelName: string, channelType: ChannelType, lockName: string): Promise<LockOperationResponse>;
  revokeLock(channelName: string, channelType: ChannelType, lockName: string, owner: string): Promise<LockOperationResponse>;
  getLock(channelName: string, channelType: ChannelType): Promise<GetLockResponse>;
}

export interface HistoryMessage {
  message: string | Uint8Array;
  messageType: 'STRING' | 'BINARY';
  customType: string;
  publisher: string;
  timestamp: number;
}
export declare class RTMHistory {
  getMessages(
    channelName: string,
    channelType: 'MESSAGE' | 'USER',
    options?: { messageCount?: number; start?: number; end?: number },
  ): Promise<BaseResponse & { messageList: HistoryMessage[]; count: number; newStart: number }>;
}

export interface StreamChannelOperationResponse extends BaseResponse {
  topicName: string;
}
export interface SubscribeTopicResponse extends StreamChannelOperationResponse {
  succeedUsers: string[];
  failedUsers: string[];
  failedDetails: { user: string; topicName: string; errorCode?: number; reason?: string }[];
}
export declare class RTMStreamChannel {
  readonly channelName: string;
  join(options?: Omit<SubscribeOptions, 'withMessage'> & { token?: string | null }): Promise<RTMOperationResponse>;
  leave(): Promise<RTMOperationResponse>;
  renewStreamChannelToken(token: string): Promise<BaseResponse>;
  joinTopic(
    topicName: string,
    options?: { meta?: unknown; qos?: string; priority?: string; syncWithMedia?: boolean },
  ): Promise<StreamChannelOperationResponse>;
  publishTopicMessage(
    topicName: string,
    message: string | Uint8Array,
    options?: { customType?: string },
  ): Promise<StreamChannelOperationResponse>;
  leaveTopic(topicName: string): Promise<StreamChannelOperationResponse>;
  subscribeTopic(topicName: string, options?: { users?: string[] }): Promise<SubscribeTopicResponse>;
  unsubscribeTopic(topicName: string, options?: { users?: string[] }): Promise<BaseResponse>;
  getSubscribedUserList(topicName: string): StreamChannelOperationResponse & { subscribed: string[] };
}

export declare namespace RTMEvents {
  interface UserList {
    users: string[];
    userCount: number;
  }
  interface PresenceEvent {
    eventType:
      | 'NONE'
      | 'SNAPSHOT'
      | 'INTERVAL'
      | 'REMOTE_JOIN'
      | 'REMOTE_LEAVE'
      | 'REMOTE_TIMEOUT'
      | 'REMOTE_STATE_CHANGED'
      | 'ERROR_OUT_OF_SERVICE';
    channelType: ChannelType;
    channelName: string;
    publisher: string;
    stateChanged: StateDetail;
    interval: { join: UserList; leave: UserList; timeout: UserList; userStateList: OccupancyDetail[] } | null;
    snapshot: OccupancyDetail[] | null;
    timestamp: number;
  }
  interface MessageEvent {
    channelType: ChannelType;
    channelName: string;
    topicName: string;
    messageType: 'STRING' | 'BINARY';
    customType: string;
    message: string | Uint8Array;
    publisher: string;
    publishTime?: number;
    timestamp: number;
  }
  interface StorageEvent {
    channelType: ChannelType;
    channelName: string;
    publisher: string;
    storageType: 'NONE' | 'USER' | 'CHANNEL';
    eventType: 'NONE' | 'SET' | 'SNAPSHOT' | 'REMOVE' | 'UPDATE';
    data: StorageData;
    timestamp: number;
  }
  interface LockEvent {
    channelType: ChannelType;
    channelName: string;
    eventType: 'NONE' | 'SET' | 'REMOVED' | 'ACQUIRED' | 'RELEASED' | 'SNAPSHOT' | 'EXPIRED';
    lockName: string;
    ttl: number;
    publisher: string;
    snapshot: LockDetail[];
    owner: string;
    timestamp: number;
  }
  interface TopicEvent {
    eventType: 'NONE' | 'REMOTE_JOIN' | 'REMOTE_LEAVE' | 'SNAPSHOT';
    channelName: string;
    publisher: string;
    topicInfos: { topicName: string; publishers: { publisherUserId: string; publisherMeta: string }[]; totalPublisher: number }[];
    totalTopics: number;
    timestamp: number;
  }
  interface LinkStateEvent {
    currentState: 'IDLE' | 'CONNECTING' | 'CONNECTED' | 'DISCONNECTED' | 'SUSPENDED' | 'FAILED';
    previousState: LinkStateEvent['currentState'];
    serviceType: 'MESSAGE' | 'STREAM';
    operation: string;
    reason: string;
    reasonCode: string;
    affectedChannels: string[];
    unrestoredChannels: string[];
    isResumed: boolean;
    timestamp: number;
  }
  interface StatusEvent {
    channelName?: string;
    state: 'DISCONNECTED' | 'CONNECTING' | 'RECONNECTING' | 'CONNECTED' | 'FAILED';
    reason: string;
    timestamp: number;
  }
  interface RTMClientEventMap {
    status: (event: StatusEvent) => void;
    presence: (event: PresenceEvent) => void;
    message: (event: MessageEvent) => void;
    storage: (event: StorageEvent) => void;
    lock: (event: LockEvent) => void;
    topic: (event: TopicEvent) => void;
    tokenPrivilegeWillExpire: (channelName: string) => void;
    linkState: (event: LinkStateEvent) => void;
    /** Additions: events of the client below, as `heliograph` has them. */
    gap: (event: import('./index.js').GapEvent) => void;
    undecryptable: (event: import('./index.js').UndecryptableEvent) => void;
  }
}

type Events = RTMEvents.RTMClientEventMap;
export declare class RTM {
  constructor(appId: string, userId: string, rtmConfig?: RTMConfig);
  readonly userId: string;
  readonly presence: RTMPresence;
  readonly storage: RTMStorage;
  readonly lock: RTMLock;
  readonly history: RTMHistory;
  login(options?: { token?: string }): Promise<BaseResponse>;
  logout(): Promise<BaseResponse>;
  renewToken(token: string, options?: { channelName?: string }): Promise<BaseResponse>;
  subscribe(channelName: string, options?: SubscribeOptions): Promise<RTMOperationResponse>;
  unsubscribe(channelName: string): Promise<RTMOperationResponse>;
  publish(channelName: string, message: string | Uint8Array, options?: PublishOptions): Promise<RTMOperationResponse>;
  createStreamChannel(channelName: string): RTMStreamChannel;
  updateConfig(config: Pick<RTMConfig, 'logLevel' | 'logUpload' | 'cloudProxy'>): Promise<BaseResponse>;
  addEventListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  removeEventListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  removeAllListeners(eventName?: keyof Events): this;
  on<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  off<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  once<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  emit<Name extends keyof Events>(eventName: Name, ...values: Parameters<Events[Name]>): boolean;
}

/** The vendor's name of the type. */
export type RTMClient = RTM;

export type LoginResponse = BaseResponse;
export type LogoutResponse = BaseResponse;
export type RenewTokenResponse = BaseResponse;
export type SubscribeResponse = RTMOperationResponse;
export type UnsubscribeResponse = RTMOperationResponse;
export type PublishResponse = RTMOperationResponse;
export type GetOnlineUsersOptions = WhoNowOptions;
export type GetOnlineUsersResponse = WhoNowResponse;
export type GetUserChannelsResponse = WhereNowResponse;
export type GetStateResponse = OccupancyDetail & BaseResponse;
export type GetChannelMetadataResponse = OfChannel & StorageData;
export type GetUserMetadataResponse = UserMetadataOperationResponse & StorageData;
export type JoinChannelResponse = RTMOperationResponse;
export type JoinTopicResponse = StreamChannelOperationResponse;

/** An addition: where clients connect that name no server themselves. */
export declare function setServers(servers: string | string[]): void;
export declare const constantsType: Readonly<Record<string, Record<string, string | number>>>;
export declare const VERSION: string;
export declare const BUILD: string;

declare const AgoraRTM: {
  RTM: typeof RTM;
  RTMBaseError: typeof RTMBaseError;
  VERSION: string;
  BUILD: string;
  processId: string;
  constantsType: typeof constantsType;
  setServers: typeof setServers;
  setArea(areas: { areaCodes: string[]; excludedArea?: string }): void;
  setParameter(key: string, value: unknown): void;
  getParameter(key: string): undefined;
};
export default AgoraRTM;

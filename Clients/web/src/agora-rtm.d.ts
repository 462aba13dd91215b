/** The API of agora-rtm 2.x. docs/web-compatibility.md says of each member what it does here. */

import type { GapEvent, UndecryptableEvent } from './index.js';

// MARK: What all share

export type ChannelType = 'MESSAGE' | 'STREAM' | 'USER';
export type ServiceType = 'MESSAGE' | 'STREAM';
export type StateDetail = Record<string, string>;

/** What apps have in variables may be missing: `null` and `undefined` are the same as nothing. */
type Maybe<Options> = { [Name in keyof Options]?: Options[Name] | null } | null;

export interface BaseResponse {
  timestamp: number;
}
export interface ErrorInfo {
  error: boolean;
  reason: string;
  operation: string;
  errorCode: number;
}
export interface IErrorInfo {
  code?: number;
  serverCode?: number;
  originalError?: any;
}
export declare class RTMBaseError extends Error implements ErrorInfo {
  constructor(operation: string, error: IErrorInfo & { reason?: string; message?: string });
  error: boolean;
  reason: string;
  operation: string;
  errorCode: number;
  code: number;
  serverCode?: number;
  originalError?: any;
}

/** The enumerations and unions of the API. The first four exist at run time, too. */
export declare namespace ConstantsType {
  enum MessageType {
    STRING = 'STRING',
    BINARY = 'BINARY',
  }
  enum ChannelTypeEnum {
    MESSAGE = 1,
    STREAM = 2,
    USER = 3,
  }
  enum AreaCode {
    GLOBAL = 'GLOBAL',
    INDIA = 'INDIA',
    JAPAN = 'JAPAN',
    ASIA = 'ASIA',
    EUROPE = 'EUROPE',
    CHINA = 'CHINA',
    NORTH_AMERICA = 'NORTH_AMERICA',
  }
  enum LegacyAreaCode {
    CN = 'CN',
    NA = 'NA',
    EU = 'EU',
    AS = 'AS',
    JP = 'JP',
    IN = 'IN',
    GLOB = 'GLOB',
    OC = 'OC',
    SA = 'SA',
    AF = 'AF',
    KR = 'KR',
    US = 'US',
    OVS = 'OVS',
  }
  type EncryptionMode = 'NONE' | 'AES_128_GCM' | 'AES_256_GCM';
  type StorageType = 'NONE' | 'USER' | 'CHANNEL';
  type StorageEventType = 'NONE' | 'SET' | 'SNAPSHOT' | 'REMOVE' | 'UPDATE';
  type LockEventType = 'NONE' | 'SET' | 'REMOVED' | 'ACQUIRED' | 'RELEASED' | 'SNAPSHOT' | 'EXPIRED';
  type TopicEventType = 'NONE' | 'REMOTE_JOIN' | 'REMOTE_LEAVE' | 'SNAPSHOT';
  type PresenceEventType =
    | 'NONE'
    | 'SNAPSHOT'
    | 'INTERVAL'
    | 'REMOTE_JOIN'
    | 'REMOTE_LEAVE'
    | 'REMOTE_TIMEOUT'
    | 'REMOTE_STATE_CHANGED'
    | 'ERROR_OUT_OF_SERVICE';
  type ConnectionState = 'DISCONNECTED' | 'CONNECTING' | 'RECONNECTING' | 'CONNECTED' | 'FAILED';
  type ConnectionChangeReason =
    | 'CONNECTING'
    | 'LOGIN_SUCCESS'
    | 'REJECTED_BY_SERVER'
    | 'LOST'
    | 'INTERRUPTED'
    | 'LOGOUT'
    | 'SAME_UID_LOGIN'
    | 'TOKEN_EXPIRED'
    | 'PRESENCE_NOT_READY';
}

export interface PrivateConfig {
  serviceType?: ServiceType[];
  accessPointHosts?: string[];
  eventUploadHosts?: string[];
  logUploadHosts?: string[];
  originDomains?: string[];
}
export interface RTMConfig {
  encryptionMode?: ConstantsType.EncryptionMode;
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
  /** An addition: with false no message channel delivers this user's own messages. True by default. */
  echo?: boolean;
}

// MARK: The client

export interface LoginOptions {
  token?: string;
}
export interface RenewTokenOptions {
  channelName?: string;
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
export type LoginResponse = BaseResponse;
export type LogoutResponse = BaseResponse;
export type RenewTokenResponse = BaseResponse;
export type UpdateConfigResponse = BaseResponse;
export type SubscribeResponse = RTMOperationResponse;
export type UnsubscribeResponse = RTMOperationResponse;
export type PublishResponse = RTMOperationResponse;

// MARK: Presence

export interface OccupancyDetail {
  userId: string;
  states: StateDetail;
  statesCount: number;
}
export interface ChannelDetail {
  channelName: string;
  channelType: ChannelType;
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
  channels: ChannelDetail[];
  totalChannel: number;
}
export interface RemoveStateOptions {
  states?: string[];
}
export type GetOnlineUsersOptions = WhoNowOptions;
export type GetOnlineUsersResponse = WhoNowResponse;
export type GetUserChannelsResponse = WhereNowResponse;
export type GetStateResponse = OccupancyDetail & BaseResponse;
export type SetStateResponse = BaseResponse;
export type RemoveStateResponse = BaseResponse;

export declare class RTMPresence {
  private constructor();
  whoNow(channelName: string, channelType: ChannelType, options?: Maybe<WhoNowOptions>): Promise<WhoNowResponse>;
  getOnlineUsers(
    channelName: string,
    channelType: ChannelType,
    options?: Maybe<GetOnlineUsersOptions>,
  ): Promise<GetOnlineUsersResponse>;
  whereNow(userId: string): Promise<WhereNowResponse>;
  getUserChannels(userId: string): Promise<GetUserChannelsResponse>;
  setState(channelName: string, channelType: ChannelType, state: StateDetail): Promise<SetStateResponse>;
  getState(userId: string, channelName: string, channelType: ChannelType): Promise<GetStateResponse>;
  removeState(channelName: string, channelType: ChannelType, options?: Maybe<RemoveStateOptions>): Promise<RemoveStateResponse>;
}

// MARK: Storage

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
export interface GetUserMetadataOptions {
  userId?: string;
}
export interface RemoveChannelMetadataOptions extends MetadataOptions {
  data?: MetadataItem[];
}
export interface SetOrUpdateUserMetadataOptions extends MetadataOptions {
  userId?: string;
}
export interface RemoveUserMetadataOptions extends MetadataOptions {
  userId?: string;
  data?: MetadataItem[];
}
export interface ChannelMetadataOperationResponse extends BaseResponse {
  channelName: string;
  channelType: ChannelType;
}
export interface UserMetadataOperationResponse extends BaseResponse {
  userId: string;
}
type Counted = { totalCount: number };
export type SetChannelMetadataResponse = ChannelMetadataOperationResponse & Counted;
export type UpdateChannelMetadataResponse = ChannelMetadataOperationResponse & Counted;
export type RemoveChannelMetadataResponse = ChannelMetadataOperationResponse & Counted;
export type GetChannelMetadataResponse = ChannelMetadataOperationResponse & StorageData;
export type SetUserMetadataResponse = UserMetadataOperationResponse & Counted;
export type UpdateUserMetadataResponse = UserMetadataOperationResponse & Counted;
export type RemoveUserMetadataResponse = UserMetadataOperationResponse & Counted;
export type GetUserMetadataResponse = UserMetadataOperationResponse & StorageData;
export type SubscribeUserMetaResponse = UserMetadataOperationResponse;
export type UnsubscribeUserMetaResponse = UserMetadataOperationResponse;

export declare class RTMStorage {
  private constructor();
  setChannelMetadata(
    channelName: string,
    channelType: ChannelType,
    data: MetadataItem[],
    options?: Maybe<MetadataOptions>,
  ): Promise<SetChannelMetadataResponse>;
  updateChannelMetadata(
    channelName: string,
    channelType: ChannelType,
    data: MetadataItem[],
    options?: Maybe<MetadataOptions>,
  ): Promise<UpdateChannelMetadataResponse>;
  removeChannelMetadata(
    channelName: string,
    channelType: ChannelType,
    options?: Maybe<RemoveChannelMetadataOptions>,
  ): Promise<RemoveChannelMetadataResponse>;
  getChannelMetadata(channelName: string, channelType: ChannelType): Promise<GetChannelMetadataResponse>;
  setUserMetadata(data: MetadataItem[], options?: Maybe<SetOrUpdateUserMetadataOptions>): Promise<SetUserMetadataResponse>;
  updateUserMetadata(
    data: MetadataItem[],
    options?: Maybe<SetOrUpdateUserMetadataOptions>,
  ): Promise<UpdateUserMetadataResponse>;
  removeUserMetadata(options?: Maybe<RemoveUserMetadataOptions>): Promise<RemoveUserMetadataResponse>;
  getUserMetadata(options?: Maybe<GetUserMetadataOptions>): Promise<GetUserMetadataResponse>;
  subscribeUserMetadata(userId: string): Promise<SubscribeUserMetaResponse>;
  unsubscribeUserMetadata(userId: string): Promise<UnsubscribeUserMetaResponse>;
}

// MARK: Locks

export interface LockDetail {
  lockName: string;
  owner: string;
  ttl: number;
}
export interface SetLockOptions {
  ttl?: number;
}
export interface AcquireLockOptions {
  retry?: boolean;
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
export type SetLockResponse = LockOperationResponse;
export type RemoveLockResponse = LockOperationResponse;
export type AcquireLockResponse = LockOperationResponse;
export type ReleaseLockResponse = LockOperationResponse;
export type RevokeLockResponse = LockOperationResponse;

export declare class RTMLock {
  private constructor();
  setLock(
    channelName: string,
    channelType: ChannelType,
    lockName: string,
    options?: Maybe<SetLockOptions>,
  ): Promise<SetLockResponse>;
  removeLock(channelName: string, channelType: ChannelType, lockName: string): Promise<RemoveLockResponse>;
  acquireLock(
    channelName: string,
    channelType: ChannelType,
    lockName: string,
    options?: Maybe<AcquireLockOptions>,
  ): Promise<AcquireLockResponse>;
  releaseLock(channelName: string, channelType: ChannelType, lockName: string): Promise<ReleaseLockResponse>;
  revokeLock(channelName: string, channelType: ChannelType, lockName: string, owner: string): Promise<RevokeLockResponse>;
  getLock(channelName: string, channelType: ChannelType): Promise<GetLockResponse>;
}

// MARK: History

export type HistoryChannelType = Exclude<ChannelType, 'STREAM'>;
export interface GetHistoryMessageOptions {
  messageCount?: number;
  start?: number;
  end?: number;
}
export interface HistoryMessage {
  message: string | Uint8Array;
  messageType: 'STRING' | 'BINARY';
  customType: string;
  publisher: string;
  timestamp: number;
}
export interface GetMessagesResponse extends BaseResponse {
  messageList: HistoryMessage[];
  count: number;
  newStart: number;
}
export declare class RTMHistory {
  private constructor();
  getMessages(
    channelName: string,
    channelType: HistoryChannelType,
    options?: Maybe<GetHistoryMessageOptions>,
  ): Promise<GetMessagesResponse>;
}

// MARK: Stream channels

export declare namespace RTMStreamChannelStatusCode {
  enum SubscribeTopicErrorCode {
    NO_ERROR = 0,
    PARTIALLY_SUCCESSFUL = 1,
    ALL_FAILED = 2,
    UNKNOWN_ERROR = 3,
    INVALID_PARAMS = 4,
    REMOTE_USER_IS_NOT_PUBLISHED = 5,
    INVALID_REMOTE_USER = 6,
    TIMEOUT = 7,
    ALREADY_SUBSCRIBED_USER = 20001,
    SUB_USER_EXCEED_LIMITATION = 20003,
    NOT_SUBSCRIBED_USER = 20004,
  }
}
export interface JoinOptions {
  token?: string;
  withPresence?: boolean;
  beQuiet?: boolean;
  withMetadata?: boolean;
  withLock?: boolean;
}
export interface joinTopicOptions {
  meta?: any;
  qos?: string;
  priority?: string;
  syncWithMedia?: boolean;
}
export interface PublishTopicMessageOptions {
  customType?: string;
}
export interface SubscribeTopicOptions {
  users?: string[];
}
export interface UnsubscribeTopicOptions {
  users?: string[];
}
export interface StreamChannelOperationResponse extends BaseResponse {
  topicName: string;
}
export interface SubscribedFailedReason {
  user: string;
  topicName: string;
  errorCode?: RTMStreamChannelStatusCode.SubscribeTopicErrorCode;
  reason?: string;
}
export interface SubscribeTopicResponse extends StreamChannelOperationResponse {
  succeedUsers: string[];
  failedUsers: string[];
  failedDetails: SubscribedFailedReason[];
}
export interface GetSubscribedUserListResponse extends StreamChannelOperationResponse {
  subscribed: string[];
}
export type JoinChannelResponse = RTMOperationResponse;
export type LeaveChannelResponse = RTMOperationResponse;
export type JoinTopicResponse = StreamChannelOperationResponse;
export type LeaveTopicResponse = StreamChannelOperationResponse;
export type PublishTopicMessageResponse = StreamChannelOperationResponse;
export type UnsubscribeTopicResponse = BaseResponse;

export declare class RTMStreamChannel {
  private constructor();
  readonly channelName: string;
  join(options?: Maybe<JoinOptions>): Promise<JoinChannelResponse>;
  leave(): Promise<LeaveChannelResponse>;
  renewStreamChannelToken(token: string): Promise<RenewTokenResponse>;
  joinTopic(topicName: string, options?: Maybe<joinTopicOptions>): Promise<JoinTopicResponse>;
  publishTopicMessage(
    topicName: string,
    message: string | Uint8Array,
    options?: Maybe<PublishTopicMessageOptions>,
  ): Promise<PublishTopicMessageResponse>;
  leaveTopic(topicName: string): Promise<LeaveTopicResponse>;
  subscribeTopic(topicName: string, options?: Maybe<SubscribeTopicOptions>): Promise<SubscribeTopicResponse>;
  unsubscribeTopic(topicName: string, options?: Maybe<UnsubscribeTopicOptions>): Promise<UnsubscribeTopicResponse>;
  getSubscribedUserList(topicName: string): GetSubscribedUserListResponse;
}

// MARK: Events

export declare namespace RTMEvents {
  interface UserList {
    users: string[];
    userCount: number;
  }
  type UserState = OccupancyDetail;
  interface IntervalDetail {
    join: UserList;
    leave: UserList;
    timeout: UserList;
    userStateList: UserState[];
  }
  interface PresenceEvent {
    eventType: ConstantsType.PresenceEventType;
    channelType: ChannelType;
    channelName: string;
    publisher: string;
    stateChanged: StateDetail;
    interval: IntervalDetail | null;
    snapshot: UserState[] | null;
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
    storageType: ConstantsType.StorageType;
    eventType: ConstantsType.StorageEventType;
    data: StorageData;
    timestamp: number;
  }
  interface LockEvent {
    channelType: ChannelType;
    channelName: string;
    eventType: ConstantsType.LockEventType;
    lockName: string;
    ttl: number;
    publisher: string;
    snapshot: LockDetail[];
    owner: string;
    timestamp: number;
  }
  interface PublishInfo {
    publisherUserId: string;
    publisherMeta: string;
  }
  interface topicDetail {
    topicName: string;
    publishers: PublishInfo[];
    totalPublisher: number;
  }
  interface TopicEvent {
    eventType: ConstantsType.TopicEventType;
    channelName: string;
    publisher: string;
    topicInfos: topicDetail[];
    totalTopics: number;
    timestamp: number;
  }
  type LinkState = 'IDLE' | 'CONNECTING' | 'CONNECTED' | 'DISCONNECTED' | 'SUSPENDED' | 'FAILED';
  type LinkOperation =
    | 'LOGIN'
    | 'LOGOUT'
    | 'JOIN'
    | 'LEAVE'
    | 'SERVER_REJECT'
    | 'AUTO_RECONNECT'
    | 'RECONNECTED'
    | 'HEARTBEAT_TIMEOUT'
    | 'SERVER_TIMEOUT'
    | 'NETWORK_CHANGE';
  type LinkStateChangeReasonCode =
    | 'UNKNOWN'
    | 'LOGIN'
    | 'LOGIN_SUCCESS'
    | 'LOGIN_TIMEOUT'
    | 'LOGIN_NOT_AUTHORIZED'
    | 'LOGIN_REJECTED'
    | 'RELOGIN'
    | 'LOGOUT'
    | 'AUTO_RECONNECT'
    | 'RECONNECT_TIMEOUT'
    | 'RECONNECT_SUCCESS'
    | 'JOIN'
    | 'JOIN_SUCCESS'
    | 'JOIN_FAILED'
    | 'REJOIN'
    | 'LEAVE'
    | 'INVALID_TOKEN'
    | 'TOKEN_EXPIRED'
    | 'INCONSISTENT_APP_ID'
    | 'INVALID_CHANNEL_NAME'
    | 'INVALID_USER_ID'
    | 'NOT_INITIALIZED'
    | 'RTM_SERVICE_NOT_CONNECTED'
    | 'CHANNEL_INSTANCE_EXCEED_LIMITATION'
    | 'OPERATION_RATE_EXCEED_LIMITATION'
    | 'CHANNEL_IN_ERROR_STATE'
    | 'PRESENCE_NOT_CONNECTED'
    | 'SAME_UID_LOGIN'
    | 'KICKED_OUT_BY_SERVER'
    | 'KEEP_ALIVE_TIMEOUT'
    | 'CONNECTION_ERROR'
    | 'PRESENCE_NOT_READY'
    | 'NETWORK_CHANGE'
    | 'SERVICE_NOT_SUPPORTED'
    | 'STREAM_CHANNEL_NOT_AVAILABLE'
    | 'STORAGE_NOT_AVAILABLE'
    | 'LOCK_NOT_AVAILABLE'
    /** An addition: too many logins in a short time. */
    | 'LOGIN_TOO_FREQUENT';
  interface LinkStateEvent {
    currentState: LinkState;
    previousState: LinkState;
    serviceType: ServiceType;
    operation: LinkOperation;
    reason: string;
    reasonCode: LinkStateChangeReasonCode;
    affectedChannels: string[];
    unrestoredChannels: string[];
    isResumed: boolean;
    timestamp: number;
  }
  interface RTMConnectionStatusChangeEvent {
    state: ConstantsType.ConnectionState;
    reason: ConstantsType.ConnectionChangeReason;
    timestamp: number;
  }
  interface StreamChannelConnectionStatusChangeEvent {
    channelName: string;
    state: 'DISCONNECTED' | 'CONNECTING' | 'CONNECTED';
    reason: string;
    timestamp: number;
  }
  type TokenEventType = 'WILL_EXPIRE' | 'READ_PERMISSION_REVOKED';
  interface AffectedResources {
    messageChannels: string[];
    streamChannels: string[];
    users: string[];
  }
  interface TokenEvent {
    eventType: TokenEventType;
    reason: string;
    affectedResources: AffectedResources;
    timestamp: number;
  }
  interface RTMClientEventMap {
    status: (event: RTMConnectionStatusChangeEvent | StreamChannelConnectionStatusChangeEvent) => void;
    presence: (event: PresenceEvent) => void;
    message: (event: MessageEvent) => void;
    storage: (event: StorageEvent) => void;
    lock: (event: LockEvent) => void;
    topic: (event: TopicEvent) => void;
    tokenPrivilegeWillExpire: (channelName: string) => void;
    token: (event: TokenEvent) => void;
    linkState: (event: LinkStateEvent) => void;
    /** Additions: events of the client below, as `heliograph` has them. */
    gap: (event: GapEvent) => void;
    undecryptable: (event: UndecryptableEvent) => void;
  }
}

type Events = RTMEvents.RTMClientEventMap;
type Listener = (...values: any[]) => void;
/** As Node's EventEmitter, which takes other names and functions than those of the map, too. */
declare class Listeners {
  addEventListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  addEventListener(listeners: Maybe<Events>): this;
  removeEventListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  removeEventListener(listeners: Maybe<Events>): this;
  addListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  addListener(eventName: string | symbol, listener: Listener): this;
  on<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  on(eventName: string | symbol, listener: Listener): this;
  once<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  once(eventName: string | symbol, listener: Listener): this;
  prependListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  prependListener(eventName: string | symbol, listener: Listener): this;
  prependOnceListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  prependOnceListener(eventName: string | symbol, listener: Listener): this;
  removeListener<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  removeListener(eventName: string | symbol, listener: Listener): this;
  off<Name extends keyof Events>(eventName: Name, listener: Events[Name]): this;
  off(eventName: string | symbol, listener: Listener): this;
  removeAllListeners(eventName?: string | symbol | null): this;
  emit<Name extends keyof Events>(eventName: Name, ...values: Parameters<Events[Name]>): boolean;
  emit(eventName: string | symbol, ...values: any[]): boolean;
  listeners(eventName: string | symbol): Listener[];
  rawListeners(eventName: string | symbol): Listener[];
  listenerCount(eventName: string | symbol): number;
  eventNames(): (string | symbol)[];
  setMaxListeners(count: number): this;
  getMaxListeners(): number;
}

export declare class RTM extends Listeners {
  constructor(appId: string, userId: string, rtmConfig?: Maybe<RTMConfig>);
  readonly userId: string;
  readonly presence: RTMPresence;
  readonly storage: RTMStorage;
  readonly lock: RTMLock;
  readonly history: RTMHistory;
  login(options?: Maybe<LoginOptions>): Promise<LoginResponse>;
  logout(): Promise<LogoutResponse>;
  renewToken(token: string, options?: Maybe<RenewTokenOptions>): Promise<RenewTokenResponse>;
  subscribe(channelName: string, options?: Maybe<SubscribeOptions>): Promise<SubscribeResponse>;
  unsubscribe(channelName: string): Promise<UnsubscribeResponse>;
  publish(channelName: string, message: string | Uint8Array, options?: Maybe<PublishOptions>): Promise<PublishResponse>;
  createStreamChannel(channelName: string): RTMStreamChannel;
  updateConfig(config: Pick<RTMConfig, 'logLevel' | 'logUpload' | 'cloudProxy'>): Promise<UpdateConfigResponse>;
}

/** The vendor's name of the client's type. */
export { RTM as RTMClient };

/** An addition: where clients connect that name no server themselves. */
export declare function setServers(servers: string | string[]): void;
export declare const VERSION: string;
export declare const BUILD: string;
export declare const constantsType: typeof ConstantsType;
export declare const processId: string;
type Area = ConstantsType.AreaCode | `${ConstantsType.AreaCode}`;
export declare function setArea(areas: { areaCodes: Area[]; excludedArea?: Area }): void;
export declare function setParameter(key: any, value: any): void;
export declare function getParameter(key: any): any;

export interface IAgoraRTM {
  RTM: typeof RTM;
  RTMBaseError: typeof RTMBaseError;
  VERSION: string;
  BUILD: string;
  processId: string;
  constantsType: typeof ConstantsType;
  setServers: typeof setServers;
  setArea: typeof setArea;
  setParameter: typeof setParameter;
  getParameter: typeof getParameter;
}
declare const AgoraRTM: IAgoraRTM;
export default AgoraRTM;

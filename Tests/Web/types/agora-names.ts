// Compiled, never run: every name that programs import from agora-rtm, by that package's name. Below it, what they write.

import AgoraRTM, {
  ConstantsType, RTMBaseError, RTMClient, RTMHistory, RTMLock, RTMPresence, RTMStorage, RTMStreamChannel,
  RTMStreamChannelStatusCode,
} from 'agora-rtm';
import type {
  AcquireLockOptions, AcquireLockResponse, BaseResponse, ChannelDetail, ChannelMetadataOperationResponse,
  ChannelType, ErrorInfo, GetChannelMetadataResponse, GetHistoryMessageOptions, GetLockResponse,
  GetMessagesResponse, GetOnlineUsersOptions, GetOnlineUsersResponse, GetStateResponse,
  GetSubscribedUserListResponse, GetUserChannelsResponse, GetUserMetadataOptions, GetUserMetadataResponse,
  HistoryChannelType, HistoryMessage, IAgoraRTM, IErrorInfo, JoinChannelResponse, JoinOptions,
  JoinTopicResponse, LeaveChannelResponse, LeaveTopicResponse, LockDetail, LockOperationResponse,
  LoginResponse, LogoutResponse, MetaDataDetail, MetadataItem, MetadataOptions, OccupancyDetail,
  PrivateConfig, PublishOptions, PublishResponse, PublishTopicMessageOptions, PublishTopicMessageResponse,
  RTMConfig, RTMOperationResponse, ReleaseLockResponse, RemoveChannelMetadataOptions,
  RemoveChannelMetadataResponse, RemoveLockResponse, RemoveStateOptions, RemoveStateResponse,
  RemoveUserMetadataOptions, RemoveUserMetadataResponse, RenewTokenOptions, RenewTokenResponse,
  RevokeLockResponse, ServiceType, SetChannelMetadataResponse, SetLockOptions, SetLockResponse,
  SetOrUpdateUserMetadataOptions, SetStateResponse, SetUserMetadataResponse, StateDetail, StorageData,
  StreamChannelOperationResponse, SubscribeOptions, SubscribeResponse, SubscribeTopicOptions,
  SubscribeTopicResponse, SubscribeUserMetaResponse, SubscribedFailedReason, UnsubscribeResponse,
  UnsubscribeTopicOptions, UnsubscribeTopicResponse, UnsubscribeUserMetaResponse,
  UpdateChannelMetadataResponse, UpdateConfigResponse, UpdateUserMetadataResponse,
  UserMetadataOperationResponse, WhereNowResponse, WhoNowOptions, WhoNowResponse, joinTopicOptions,
  RTMEvents,
} from 'agora-rtm';
import type { RTMClient as RTMClientOfFile, RTMEvents as RTMEventsOfFile } from 'agora-rtm/agora-rtm';

export type OfFile = [RTMClientOfFile, RTMEventsOfFile.StorageEvent];
export type Names = [
  AcquireLockOptions, AcquireLockResponse, BaseResponse, ChannelDetail, ChannelMetadataOperationResponse,
  ChannelType, ErrorInfo, GetChannelMetadataResponse, GetHistoryMessageOptions, GetLockResponse,
  GetMessagesResponse, GetOnlineUsersOptions, GetOnlineUsersResponse, GetStateResponse,
  GetSubscribedUserListResponse, GetUserChannelsResponse, GetUserMetadataOptions, GetUserMetadataResponse,
  HistoryChannelType, HistoryMessage, IAgoraRTM, IErrorInfo, JoinChannelResponse, JoinOptions,
  JoinTopicResponse, LeaveChannelResponse, LeaveTopicResponse, LockDetail, LockOperationResponse,
  LoginResponse, LogoutResponse, MetaDataDetail, MetadataItem, MetadataOptions, OccupancyDetail,
  PrivateConfig, PublishOptions, PublishResponse, PublishTopicMessageOptions, PublishTopicMessageResponse,
  RTMConfig, RTMOperationResponse, ReleaseLockResponse, RemoveChannelMetadataOptions,
  RemoveChannelMetadataResponse, RemoveLockResponse, RemoveStateOptions, RemoveStateResponse,
  RemoveUserMetadataOptions, RemoveUserMetadataResponse, RenewTokenOptions, RenewTokenResponse,
  RevokeLockResponse, ServiceType, SetChannelMetadataResponse, SetLockOptions, SetLockResponse,
  SetOrUpdateUserMetadataOptions, SetStateResponse, SetUserMetadataResponse, StateDetail, StorageData,
  StreamChannelOperationResponse, SubscribeOptions, SubscribeResponse, SubscribeTopicOptions,
  SubscribeTopicResponse, SubscribeUserMetaResponse, SubscribedFailedReason, UnsubscribeResponse,
  UnsubscribeTopicOptions, UnsubscribeTopicResponse, UnsubscribeUserMetaResponse,
  UpdateChannelMetadataResponse, UpdateConfigResponse, UpdateUserMetadataResponse,
  UserMetadataOperationResponse, WhereNowResponse, WhoNowOptions, WhoNowResponse, joinTopicOptions,
  RTMBaseError, RTMClient, RTMHistory, RTMLock, RTMPresence, RTMStorage, RTMStreamChannel,
  RTMStreamChannelStatusCode.SubscribeTopicErrorCode,
];
export type Events = [
  RTMEvents.AffectedResources, RTMEvents.IntervalDetail, RTMEvents.LinkOperation, RTMEvents.LinkState,
  RTMEvents.LinkStateChangeReasonCode, RTMEvents.LinkStateEvent, RTMEvents.LockEvent,
  RTMEvents.MessageEvent, RTMEvents.PresenceEvent, RTMEvents.PublishInfo, RTMEvents.RTMClientEventMap,
  RTMEvents.RTMConnectionStatusChangeEvent, RTMEvents.StorageEvent,
  RTMEvents.StreamChannelConnectionStatusChangeEvent, RTMEvents.TokenEvent, RTMEvents.TopicEvent,
  RTMEvents.UserList, RTMEvents.UserState, RTMEvents.topicDetail,
];
export type Constants = [
  ConstantsType.AreaCode, ConstantsType.ChannelTypeEnum, ConstantsType.ConnectionChangeReason,
  ConstantsType.ConnectionState, ConstantsType.EncryptionMode, ConstantsType.LegacyAreaCode,
  ConstantsType.LockEventType, ConstantsType.MessageType, ConstantsType.PresenceEventType,
  ConstantsType.StorageEventType, ConstantsType.StorageType, ConstantsType.TopicEventType,
];

export class Room {
  private client: RTMClient | null = null;
  private states: RTMEvents.LinkState[] = [];

  async enter(appId: string, userId: string, token: string | null, channel: string): Promise<void> {
    const config: RTMConfig = { presenceTimeout: 30, logLevel: 'debug', useStringUserId: true };
    const client = new AgoraRTM.RTM(appId, userId, config);
    this.client = client;
    client.addEventListener('message', this.onMessage);
    client.addEventListener({ message: this.onMessage, presence: ({ snapshot }) => console.log(snapshot?.length) });
    client.addEventListener('linkState', ({ currentState, reasonCode }) => {
      this.states.push(currentState);
      if (reasonCode === 'SAME_UID_LOGIN' || reasonCode === 'TOKEN_EXPIRED') this.leave();
    });
    client.addEventListener('status', (event) => {
      if ('channelName' in event) console.log(event.channelName);
      else if (event.state === 'FAILED') console.log(event.reason);
    });
    client.addEventListener('token', ({ eventType, affectedResources }: RTMEvents.TokenEvent) => {
      if (eventType === 'WILL_EXPIRE') console.log(affectedResources.messageChannels);
    });
    client.on('presence', (event: { publisher: string }) => console.log(event.publisher));
    client.on('of the app', (value: number) => console.log(value));
    await client.login({ token });
    await client.login(null);
    const options: SubscribeOptions = { withMessage: true, withPresence: true };
    await client.subscribe(channel, options);
    const { occupants }: WhoNowResponse = await client.presence.getOnlineUsers(channel, 'MESSAGE', null);
    console.log(occupants.map(({ userId: user }: OccupancyDetail) => user));
    AgoraRTM.setArea({ areaCodes: [AgoraRTM.constantsType.AreaCode.GLOBAL] });
    console.log(AgoraRTM.VERSION, AgoraRTM.BUILD, AgoraRTM.processId);
  }

  private onMessage = (event: RTMEvents.MessageEvent): void => {
    const text = typeof event.message === 'string' ? event.message : new TextDecoder().decode(event.message);
    console.log(text, event.messageType === 'STRING', event.channelType === 'USER');
  };

  async leave(): Promise<void> {
    try {
      await this.client?.logout();
    } catch (error) {
      const { operation, reason, errorCode } = error as ErrorInfo;
      console.log(operation, reason, errorCode, error instanceof RTMBaseError);
    }
    this.client?.removeAllListeners();
    // @ts-expect-error there is no such state
    this.states.push('GONE');
  }
}

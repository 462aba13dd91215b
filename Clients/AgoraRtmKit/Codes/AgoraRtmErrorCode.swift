import RTMClient

// This is a table, so it is as long as the list of codes. Tests hold that it has all codes of the wire.

/// What went wrong with a call. The raw values are the numbers of the vendor's error table.
public enum AgoraRtmErrorCode: Int, Sendable, Hashable, CaseIterable {
    /// The call succeeded.
    case ok = 0
    /// The client object is not initialised.
    case notInitialized = -10001
    /// The user is not logged in: it never was, its session has ended, or it has logged out.
    case notLogin = -10002
    /// The app id is invalid, or the service is not enabled for it.
    case invalidAppId = -10003
    /// The delegate or handler is invalid.
    case invalidEventHandler = -10004
    /// The token is invalid.
    case invalidToken = -10005
    /// The user id is empty or has characters that are not allowed.
    case invalidUserId = -10006
    /// The start of the client or service failed; make a new client.
    case initServiceFailed = -10007
    /// The channel name is empty or has characters that are not allowed.
    case invalidChannelName = -10008
    /// The token has expired.
    case tokenExpired = -10009
    /// The server has no capacity for another login. Trying again later may help.
    case loginNoServerResources = -10010
    /// The login was not answered in time (see `reconnectTimeout`).
    case loginTimeout = -10011
    /// The server refused the login, for example because the user is banned.
    case loginRejected = -10012
    /// The login ended for good, because the same user has logged in elsewhere.
    case loginAborted = -10013
    /// A parameter is invalid.
    case invalidParameter = -10014
    /// The token or the project gives no permission to log in.
    case loginNotAuthorized = -10015
    /// The app ids of client, login or join differ.
    case loginInconsistentAppId = -10016
    /// The same request is already under way.
    case duplicateOperation = -10017
    /// The object was used after `destroy()`.
    case instanceAlreadyReleased = -10018
    /// The channel type is not allowed for this call.
    case invalidChannelType = -10019
    /// The mode, key or salt of the encryption is invalid; the salt has 32 bytes.
    case invalidEncryptionParameter = -10020
    /// Calls come too often (for metadata: more than 10 per second).
    case operationRateExceedLimitation = -10021
    /// The service is not among those of the private configuration.
    case serviceNotSupport = -10022
    /// The login was replaced by a newer login, or ended by a logout.
    case loginCanceled = -10023
    /// The private configuration is incomplete: it needs service types and hosts.
    case invalidPrivateConfig = -10024
    /// There is no connection to the server.
    case notConnected = -10025
    /// The renewal of the token was not answered in time.
    case renewTokenTimeout = -10026
    /// The task that waited for the `async` form of a call was cancelled. The vendor has no such code.
    case cancelled = -10099
    /// The stream channel was not joined.
    case channelNotJoined = -11001
    /// The message channel was not subscribed.
    case channelNotSubscribed = -11002
    /// More than 64 publishers of one topic would be subscribed.
    case channelExceedTopicUserLimitation = -11003
    /// A channel that is shared with a call was released. Heliograph never sends this.
    case channelReused = -11004
    /// Too many channels were created, joined or subscribed.
    case channelInstanceExceedLimitation = -11005
    /// The channel is in an error state; create it anew or subscribe again.
    case channelInErrorState = -11006
    /// The join failed.
    case channelJoinFailed = -11007
    /// The topic name is empty or has characters that are not allowed.
    case channelInvalidTopicName = -11008
    /// The message is invalid.
    case channelInvalidMessage = -11009
    /// The payload is too long: a message may have 32 KB, a topic message 1 KB.
    case channelMessageLengthExceedLimitation = -11010
    /// The user list is empty or invalid.
    case channelInvalidUserList = -11011
    /// The service of stream channels is not available.
    case channelNotAvailable = -11012
    /// The topic was not subscribed.
    case channelTopicNotSubscribed = -11013
    /// Too many topics were joined or subscribed.
    case channelExceedTopicLimitation = -11014
    /// Joining the topic failed.
    case channelJoinTopicFailed = -11015
    /// The topic was not joined.
    case channelTopicNotJoined = -11016
    /// The topic does not exist.
    case channelTopicNotExist = -11017
    /// The meta text of the topic is invalid or has more than 256 bytes.
    case channelInvalidTopicMeta = -11018
    /// The subscribe was not answered in time.
    case channelSubscribeTimeout = -11019
    /// Subscribes to the same channel come too often: more than 2 in 5 seconds.
    case channelSubscribeTooFrequent = -11020
    /// The subscribe failed.
    case channelSubscribeFailed = -11021
    /// The unsubscribe failed.
    case channelUnsubscribeFailed = -11022
    /// The message could not be encrypted.
    case channelEncryptMessageFailed = -11023
    /// The publish failed.
    case channelPublishMessageFailed = -11024
    /// Publishes come too often: more than 60 messages or 200 topic messages per second.
    case channelPublishMessageTooFrequent = -11025
    /// The publish was not answered in time.
    case channelPublishMessageTimeout = -11026
    /// The channel has no connection.
    case channelNotConnected = -11027
    /// The leave failed.
    case channelLeaveFailed = -11028
    /// The custom type has more than 32 characters.
    case channelCustomTypeLengthOverflow = -11029
    /// The custom type has characters that are not allowed.
    case channelInvalidCustomType = -11030
    /// The message is neither text nor binary data.
    case channelUnsupportedMessageType = -11031
    /// The presence snapshot didn't arrive within 5 seconds.
    case channelPresenceNotReady = -11032
    /// The receiver is offline.
    case channelReceiverOffline = -11033
    /// The join was replaced by a newer join, or ended by a leave.
    case channelJoinCanceled = -11034
    /// The receiver is offline; the message was stored in the history.
    case channelReceiverOfflineButMessageStoreSucceeded = -11035
    /// The receiver is offline, and storing the message failed.
    case channelReceiverOfflineAndMessageStoreFailed = -11036
    /// The message was delivered, but storing it failed.
    case channelMessageDeliveredButStoreFailed = -11037
    /// There is no permission to subscribe.
    case channelSubscribePermissionDenied = -11038
    /// There is no permission to publish.
    case channelPublishPermissionDenied = -11039
    /// A newer subscribe of the channel replaced this one. No call of this version reports it.
    case channelSubscribeCanceled = -11040
    /// The storage operation failed.
    case storageOperationFailed = -12001
    /// The metadata set would have too many items.
    case storageMetadataItemExceedLimitation = -12002
    /// A metadata item is invalid.
    case storageInvalidMetadataItem = -12003
    /// An argument of the storage call is invalid.
    case storageInvalidArgument = -12004
    /// A revision is invalid.
    case storageInvalidRevision = -12005
    /// The metadata set would have more than 16 KB.
    case storageMetadataLengthOverflow = -12006
    /// The lock name is invalid.
    case storageInvalidLockName = -12007
    /// The caller does not own the named lock.
    case storageLockNotAcquired = -12008
    /// A key is invalid.
    case storageInvalidKey = -12009
    /// A value is invalid.
    case storageInvalidValue = -12010
    /// A key has more than 32 characters.
    case storageKeyLengthOverflow = -12011
    /// A value has more than 16 KB.
    case storageValueLengthOverflow = -12012
    /// A key occurs twice in one call.
    case storageDuplicateKey = -12013
    /// The revision is outdated, or the item doesn't exist: the comparison failed.
    case storageOutdatedRevision = -12014
    /// There is no such subscription.
    case storageNotSubscribe = -12015
    /// The metadata object is invalid.
    case storageInvalidMetadataInstance = -12016
    /// The client would be subscribed to the metadata of too many users.
    case storageSubscribeUserExceedLimitation = -12017
    /// Storage did not answer in time.
    case storageOperationTimeout = -12018
    /// The storage service is not available.
    case storageNotAvailable = -12019
    /// There is no permission for the storage call.
    case storagePermissionDenied = -12020
    /// There is no connection for the presence call.
    case presenceNotConnected = -13001
    /// Presence can't be written.
    case presenceNotWritable = -13002
    /// An argument of the presence call is invalid.
    case presenceInvalidArgument = -13003
    /// More than 100 states would be kept for channels that aren't subscribed yet.
    case presenceCacheTooManyStates = -13004
    /// The user would have more than 32 states.
    case presenceStateCountOverflow = -13005
    /// A state key is invalid.
    case presenceInvalidStateKey = -13006
    /// A state value is invalid.
    case presenceInvalidStateValue = -13007
    /// A state key is too long.
    case presenceStateKeySizeOverflow = -13008
    /// A state value is too long.
    case presenceStateValueSizeOverflow = -13009
    /// A state key occurs twice in one call.
    case presenceStateDuplicateKey = -13010
    /// The user is not in the channel.
    case presenceUserNotExist = -13011
    /// Presence did not answer in time.
    case presenceOperationTimeout = -13012
    /// The presence call failed.
    case presenceOperationFailed = -13013
    /// Presence is not active for the channel. No call of this version reports it.
    case presenceInactive = -13014
    /// A call of presence that waited was given up. No call of this version reports it.
    case presencePendingRequestCancelled = -13015
    /// Too many calls of presence wait. No call of this version reports it.
    case presencePendingRequestExceedLimitation = -13016
    /// The lock operation failed.
    case lockOperationFailed = -14001
    /// The lock operation was not answered in time.
    case lockOperationTimeout = -14002
    /// Another operation of this client on this lock is under way.
    case lockOperationPerforming = -14003
    /// The lock exists already.
    case lockAlreadyExist = -14004
    /// The lock name is invalid; it has 1 to 64 characters.
    case lockInvalidName = -14005
    /// The caller does not own the lock.
    case lockNotAcquired = -14006
    /// The lock is held by another user, and the call asked not to wait.
    case lockAcquireFailed = -14007
    /// There is no such lock.
    case lockNotExist = -14008
    /// The lock service is not available.
    case lockNotAvailable = -14009
    /// The history query failed.
    case historyOperationFailed = -15001
    /// The start or end of the query is invalid.
    case historyInvalidTimestamp = -15002
    /// The history query was not answered in time.
    case historyOperationTimeout = -15003
    /// The caller may not read this history.
    case historyOperationNotPermitted = -15004
    /// History is switched off for the app, or the service is not available.
    case historyNotAvailable = -15005
    /// There is no permission for the history call.
    case historyPermissionDenied = -15006
}

extension AgoraRtmErrorCode {
    init(_ code: ErrorCode) { self = AgoraRtmErrorCode(rawValue: code.rawValue) ?? .notInitialized }
}

/// What went wrong with a call, by the number the public API gives it (behaviour.md, appendix A).
///
/// -10001… concern the session, -11001… channels and messages, -12001… storage, -13001… presence, -14001…
/// locks, -15001… history. The same numbers travel on the wire (`protocol/schema/client/error.proto`).
public enum ErrorCode: Int, Sendable, Hashable, CaseIterable {
    /// Success.
    case ok = 0
    /// Client object not initialised.
    case notInitialized = -10001
    /// Not logged in (never, timed out, or logged out).
    case notLogin = -10002
    /// App ID bad or RTM not enabled for it.
    case invalidAppId = -10003
    /// Delegate/handler invalid.
    case invalidEventHandler = -10004
    /// Token bad.
    case invalidToken = -10005
    /// User ID empty or illegal.
    case invalidUserId = -10006
    /// SDK/service start-up failed; make a new client.
    case initServiceFailed = -10007
    /// Channel name empty or illegal.
    case invalidChannelName = -10008
    /// Token expired.
    case tokenExpired = -10009
    /// Server short of resources.
    case loginNoServerResources = -10010
    /// Login timed out (see reconnectTimeout).
    case loginTimeout = -10011
    /// Server refused login (not enabled, banned).
    case loginRejected = -10012
    /// Login aborted, not recoverable / same user already in.
    case loginAborted = -10013
    /// Parameter invalid.
    case invalidParameter = -10014
    /// Project has no RTM permission.
    case loginNotAuthorized = -10015
    /// App ID differs between init, login, join.
    case loginInconsistentAppId = -10016
    /// The same request is already pending.
    case duplicateOperation = -10017
    /// Object used after destroy().
    case instanceAlreadyReleased = -10018
    /// Channel type not allowed here.
    case invalidChannelType = -10019
    /// Encryption mode/key/salt inconsistent (salt must be 32 bytes).
    case invalidEncryptionParameter = -10020
    /// Calls too frequent (metadata: 10/s).
    case operationRateExceedLimitation = -10021
    /// Service not in privateConfig.serviceType.
    case serviceNotSupport = -10022
    /// Login replaced by a newer login, or by logout.
    case loginCanceled = -10023
    /// PrivateConfig incomplete (needs serviceType and hosts).
    case invalidPrivateConfig = -10024
    /// Link to server not up.
    case notConnected = -10025
    /// RenewToken timed out (since 2.2.3).
    case renewTokenTimeout = -10026
    /// Stream channel not joined.
    case channelNotJoined = -11001
    /// Message channel not subscribed.
    case channelNotSubscribed = -11002
    /// More than 64 publishers subscribed in one topic.
    case channelExceedTopicUserLimitation = -11003
    /// Channel shared with RTC was released.
    case channelReused = -11004
    /// Too many channels created/joined/subscribed.
    case channelInstanceExceedLimitation = -11005
    /// Channel in error state; recreate or resubscribe.
    case channelInErrorState = -11006
    /// Join failed.
    case channelJoinFailed = -11007
    /// Topic name empty or illegal.
    case channelInvalidTopicName = -11008
    /// Message invalid.
    case channelInvalidMessage = -11009
    /// Payload too long (32 KB message, 1 KB topic).
    case channelMessageLengthExceedLimitation = -11010
    /// User list empty or bad.
    case channelInvalidUserList = -11011
    /// Stream channel service not available.
    case channelNotAvailable = -11012
    /// Topic not subscribed.
    case channelTopicNotSubscribed = -11013
    /// Too many topics.
    case channelExceedTopicLimitation = -11014
    /// Join topic failed.
    case channelJoinTopicFailed = -11015
    /// Topic not joined.
    case channelTopicNotJoined = -11016
    /// Topic does not exist.
    case channelTopicNotExist = -11017
    /// Topic meta bad or over 256 bytes.
    case channelInvalidTopicMeta = -11018
    /// Subscribe timed out.
    case channelSubscribeTimeout = -11019
    /// Subscribe too frequent (same channel, over 2 in 5 s).
    case channelSubscribeTooFrequent = -11020
    /// Subscribe failed.
    case channelSubscribeFailed = -11021
    /// Unsubscribe failed.
    case channelUnsubscribeFailed = -11022
    /// Encrypting the message failed.
    case channelEncryptMessageFailed = -11023
    /// Publish failed.
    case channelPublishMessageFailed = -11024
    /// Publish too frequent (60/s message, 200/s topic).
    case channelPublishMessageTooFrequent = -11025
    /// Publish timed out.
    case channelPublishMessageTimeout = -11026
    /// Channel link down.
    case channelNotConnected = -11027
    /// Leave failed.
    case channelLeaveFailed = -11028
    /// CustomType over 32 characters.
    case channelCustomTypeLengthOverflow = -11029
    /// CustomType has illegal characters.
    case channelInvalidCustomType = -11030
    /// Message type not supported (only String, Data).
    case channelUnsupportedMessageType = -11031
    /// Presence not ready (no snapshot within 5 s).
    case channelPresenceNotReady = -11032
    /// Target user offline.
    case channelReceiverOffline = -11033
    /// Join replaced by newer join / leave.
    case channelJoinCanceled = -11034
    /// Target user offline, message kept in history.
    case channelReceiverOfflineButMessageStoreSucceeded = -11035
    /// Target user offline and storing failed.
    case channelReceiverOfflineAndMessageStoreFailed = -11036
    /// Delivered, but storing failed.
    case channelMessageDeliveredButStoreFailed = -11037
    /// No permission to subscribe.
    case channelSubscribePermissionDenied = -11038
    /// No permission to publish.
    case channelPublishPermissionDenied = -11039
    /// Storage operation failed.
    case storageOperationFailed = -12001
    /// Too many metadata items.
    case storageMetadataItemExceedLimitation = -12002
    /// Metadata item invalid.
    case storageInvalidMetadataItem = -12003
    /// Argument invalid.
    case storageInvalidArgument = -12004
    /// Revision value invalid.
    case storageInvalidRevision = -12005
    /// Metadata set too big (16 KB).
    case storageMetadataLengthOverflow = -12006
    /// Lock name invalid.
    case storageInvalidLockName = -12007
    /// Caller does not hold the named lock.
    case storageLockNotAcquired = -12008
    /// Key invalid.
    case storageInvalidKey = -12009
    /// Value invalid.
    case storageInvalidValue = -12010
    /// Key too long (32 characters).
    case storageKeyLengthOverflow = -12011
    /// Value too long (16 KB item).
    case storageValueLengthOverflow = -12012
    /// Key given twice in one call.
    case storageDuplicateKey = -12013
    /// Revision out of date (CAS failed).
    case storageOutdatedRevision = -12014
    /// Not subscribed.
    case storageNotSubscribe = -12015
    /// Metadata object invalid / nil.
    case storageInvalidMetadataInstance = -12016
    /// Too many user-metadata subscriptions.
    case storageSubscribeUserExceedLimitation = -12017
    /// Storage timed out.
    case storageOperationTimeout = -12018
    /// Storage service not available.
    case storageNotAvailable = -12019
    /// No permission.
    case storagePermissionDenied = -12020
    /// Not connected.
    case presenceNotConnected = -13001
    /// Presence not writable.
    case presenceNotWritable = -13002
    /// Argument invalid.
    case presenceInvalidArgument = -13003
    /// Over 100 states cached before joining.
    case presenceCacheTooManyStates = -13004
    /// Over 32 key/value pairs.
    case presenceStateCountOverflow = -13005
    /// State key invalid.
    case presenceInvalidStateKey = -13006
    /// State value invalid.
    case presenceInvalidStateValue = -13007
    /// State key too long.
    case presenceStateKeySizeOverflow = -13008
    /// State value too long.
    case presenceStateValueSizeOverflow = -13009
    /// State key given twice.
    case presenceStateDuplicateKey = -13010
    /// User not there.
    case presenceUserNotExist = -13011
    /// Presence timed out.
    case presenceOperationTimeout = -13012
    /// Presence failed.
    case presenceOperationFailed = -13013
    /// Lock operation failed.
    case lockOperationFailed = -14001
    /// Lock operation timed out.
    case lockOperationTimeout = -14002
    /// An operation on this lock is running.
    case lockOperationPerforming = -14003
    /// Lock already set.
    case lockAlreadyExist = -14004
    /// Lock name invalid (64 characters).
    case lockInvalidName = -14005
    /// Lock is not held (by caller).
    case lockNotAcquired = -14006
    /// Acquire failed (held by another, retry = false).
    case lockAcquireFailed = -14007
    /// No such lock.
    case lockNotExist = -14008
    /// Lock service not available.
    case lockNotAvailable = -14009
    /// History query failed.
    case historyOperationFailed = -15001
    /// Start/end invalid.
    case historyInvalidTimestamp = -15002
    /// History query timed out.
    case historyOperationTimeout = -15003
    /// History not enabled for the project / caller.
    case historyOperationNotPermitted = -15004
    /// History service not available.
    case historyNotAvailable = -15005
    /// No permission.
    case historyPermissionDenied = -15006
}

extension ErrorCode {
    /// Whether the same call may succeed later without being changed.
    public var isRetryable: Bool {
        switch self {
        case .loginNoServerResources, .loginTimeout, .operationRateExceedLimitation, .notConnected,
            .renewTokenTimeout, .channelSubscribeTimeout, .channelSubscribeTooFrequent,
            .channelSubscribeFailed,
            .channelUnsubscribeFailed, .channelPublishMessageFailed, .channelPublishMessageTooFrequent,
            .channelPublishMessageTimeout, .channelNotConnected, .channelPresenceNotReady,
            .channelReceiverOffline, .storageOperationTimeout, .storageNotAvailable, .presenceNotConnected,
            .presenceOperationTimeout, .presenceOperationFailed, .lockOperationTimeout, .lockAcquireFailed,
            .lockNotAvailable, .historyOperationTimeout, .historyNotAvailable:
            true
        default:
            false
        }
    }
}

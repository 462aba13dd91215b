import RTMClient
import Testing

@testable import AgoraRtmKit

/// The numbers are a part of the contract: apps store them and compare them with other platforms.
@Suite("Enums")
struct EnumTests {
    @Test("channel and storage types have the vendor's numbers")
    func channelTypes() {
        let channelTypes: [AgoraRtmChannelType] = [.none, .message, .stream, .user]
        #expect(channelTypes.map(\.rawValue) == [0, 1, 2, 3])
        let storageTypes: [AgoraRtmStorageType] = [.none, .user, .channel]
        #expect(storageTypes.map(\.rawValue) == [0, 1, 2])
    }

    @Test("event types have the vendor's numbers")
    func eventTypes() {
        let storage: [AgoraRtmStorageEventType] = [.none, .snapshot, .set, .update, .remove]
        #expect(storage.map(\.rawValue) == Array(0...4))
        let presence: [AgoraRtmPresenceEventType] = [
            .none, .snapshot, .interval, .remoteJoinChannel, .remoteLeaveChannel, .remoteConnectionTimeout,
            .remoteStateChanged, .errorOutOfService,
        ]
        #expect(presence.map(\.rawValue) == Array(0...7))
        let lock: [AgoraRtmLockEventType] = [
            .none, .snapshot, .lockSet, .lockRemoved, .lockAcquired, .lockReleased, .lockExpired,
        ]
        #expect(lock.map(\.rawValue) == Array(0...6))
        let topic: [AgoraRtmTopicEventType] = [.none, .snapshot, .remoteJoinTopic, .remoteLeaveTopic]
        #expect(topic.map(\.rawValue) == Array(0...3))
        let token: [AgoraRtmTokenEventTokenType] = [.willExpire, .readPermissionRevoked]
        #expect(token.map(\.rawValue) == [1, 2])
    }

    @Test("link states, operations and reasons have the vendor's numbers")
    func link() {
        let states: [AgoraRtmLinkState] = [
            .idle, .connecting, .connected, .disconnected, .suspended, .failed,
        ]
        #expect(states.map(\.rawValue) == Array(0...5))
        let operations: [AgoraRtmLinkOperation] = [
            .login, .logout, .join, .leave, .serverReject, .autoReconnect, .reconnected, .heartbeatTimeout,
            .serverTimeout, .networkChange,
        ]
        #expect(operations.map(\.rawValue) == Array(0...9))
        let reasons: [AgoraRtmLinkStateChangeReason] = [
            .unknown, .login, .loginSuccess, .loginTimeout, .loginNotAuthorized, .loginRejected, .relogin,
            .logout, .autoReconnect, .reconnectTimeout, .reconnectSuccess, .join, .joinSuccess, .joinFailed,
            .rejoin, .leave, .invalidToken, .tokenExpired, .inconsistentAppId, .invalidChannelName,
            .invalidUserId, .notInitialized, .rtmServiceNotConnected, .channelInstanceExceedLimitation,
            .operationRateExceedLimitation, .channelInErrorState, .presenceNotConnected, .sameUidLogin,
            .kickedOutByServer, .keepAliveTimeout, .connectionError, .presenceNotReady, .networkChange,
            .serviceNotSupported, .streamChannelNotAvailable, .storageNotAvailable, .lockNotAvailable,
            .loginTooFrequent,
        ]
        #expect(reasons.map(\.rawValue) == Array(0...37))
        #expect(LinkState.allCases.allSatisfy { AgoraRtmLinkState($0).rawValue == $0.rawValue })
        #expect(LinkOperation.allCases.allSatisfy { AgoraRtmLinkOperation($0).rawValue == $0.rawValue })
        #expect(
            LinkStateReason.allCases.allSatisfy { AgoraRtmLinkStateChangeReason($0).rawValue == $0.rawValue })
        // The types of topics are the client's own: the vendor's apps never see them.
        let types: [ChannelType] = [.none, .message, .stream, .user]
        #expect(types.allSatisfy { AgoraRtmChannelType($0).kind == $0 })
        #expect([ChannelType.topics, .topic].allSatisfy { AgoraRtmChannelType($0) == .none })
    }

    @Test("enums of the configuration have the vendor's numbers")
    func configuration() {
        #expect(AgoraRtmProtocolType.tcpUdp.rawValue == 0)
        #expect(AgoraRtmProtocolType.tcpOnly.rawValue == 1)
        let proxies: [AgoraRtmProxyType] = [.none, .http, .cloudTcp]
        #expect(proxies.map(\.rawValue) == [0, 1, 2])
        let modes: [AgoraRtmEncryptionMode] = [.none, .AES128GCM, .AES256GCM]
        #expect(modes.map(\.rawValue) == [0, 1, 2])
        let levels: [AgoraRtmLogLevel] = [.none, .info, .warn, .error, .fatal]
        #expect(levels.map(\.rawValue) == [0, 1, 2, 4, 8])
    }

    @Test("area codes and service types are sets of the vendor's bits")
    func configurationSets() {
        let areas: [AgoraRtmAreaCode] = [.CN, .NA, .EU, .AS, .JP, .IN, .GLOB]
        #expect(areas.map(\.rawValue) == [1, 2, 4, 8, 0x10, 0x20, 0xFFFF_FFFF])
        #expect(([.CN, .NA] as AgoraRtmAreaCode).rawValue == 3)
        #expect(AgoraRtmAreaCode.GLOB.isSuperset(of: [.CN, .IN]))
        let services: [AgoraRtmServiceType] = [.none, .message, .stream, [.message, .stream]]
        #expect(services.map(\.rawValue) == [0, 1, 2, 3])
    }

    @Test("subscribing and joining have different feature bits (M-1)")
    func features() {
        let subscribing: [AgoraRtmSubscribeChannelFeature] = [
            .none, .presence, .metadata, .message, .lock, .beQuiet,
        ]
        #expect(subscribing.map(\.rawValue) == [0, 1, 2, 4, 8, 16])
        let joining: [AgoraRtmJoinChannelFeature] = [.none, .message, .presence, .metadata, .lock, .beQuiet]
        #expect(joining.map(\.rawValue) == [0, 0, 1, 2, 4, 8])
    }

    @Test("qualities and priorities of topics have the vendor's numbers")
    func topics() {
        #expect(AgoraRtmMessageQos.unordered.rawValue == 0)
        #expect(AgoraRtmMessageQos.ordered.rawValue == 1)
        let priorities: [AgoraRtmMessagePriority] = [.highest, .high, .normal, .low]
        #expect(priorities.map(\.rawValue) == [0, 1, 4, 8])
    }

    @Test("enums of earlier versions have the vendor's numbers")
    func earlier() {
        let states: [AgoraRtmClientConnectionState] = [
            .disconnected, .connecting, .connected, .reconnecting, .failed,
        ]
        #expect(states.map(\.rawValue) == Array(1...5))
        #expect(AgoraRtmClientConnectionChangeReason.changedConnecting.rawValue == 0)
        #expect(AgoraRtmClientConnectionChangeReason.changedInconsistentAppId.rawValue == 24)
        #expect((0...24).allSatisfy { AgoraRtmClientConnectionChangeReason(rawValue: $0) != nil })
        #expect(AgoraRtmClientConnectionChangeReason.changedLoginSuccess.rawValue == 10001)
        #expect(AgoraRtmClientConnectionChangeReason.changedPresenceNotReady.rawValue == 10003)
        #expect(AgoraRtmPresenceType.selfJoinChannel.rawValue == 5)
    }

    @Test("error codes have the vendor's numbers")
    func errorCodes() {
        #expect(AgoraRtmErrorCode.ok.rawValue == 0)
        #expect(AgoraRtmErrorCode(rawValue: -10002) == .notLogin)
        #expect(AgoraRtmErrorCode(rawValue: -10018) == .instanceAlreadyReleased)
        #expect(AgoraRtmErrorCode(rawValue: -11010) == .channelMessageLengthExceedLimitation)
        #expect(AgoraRtmErrorCode(rawValue: -11033) == .channelReceiverOffline)
        let families = [
            10001...10026, 11001...11040, 12001...12020, 13001...13016, 14001...14009, 15001...15006,
        ]
        for number in families.joined() { #expect(AgoraRtmErrorCode(rawValue: -number) != nil, "-\(number)") }
        for code in ErrorCode.allCases {
            #expect(AgoraRtmErrorCode(code).rawValue == code.rawValue)
            #expect("\(AgoraRtmErrorCode(code))" == "\(code)")
        }
    }

    @Test("YES and NO are booleans")
    func objectiveCWords() {
        #expect(YES)
        #expect(!NO)
    }
}

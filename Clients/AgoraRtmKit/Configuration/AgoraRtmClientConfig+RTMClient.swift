import RTMClient
import RTMModel

extension AgoraRtmClientConfig {
    /// The range of `reconnectTimeout` in seconds, if it isn't 0 (L-47).
    private static let reconnectTimeoutRange: ClosedRange<UInt32> = 15...3600
    /// An app that awaits each publish was slowed by the way to the vendor's servers, so it may rely on that
    /// none is refused. One that publishes regardless is refused above the rate.
    private static let pacing = PublishPacing(waitMax: .seconds(1), waitingMax: 16)

    /// Translates this configuration for the client below, which clamps the heartbeat and presence times
    /// itself.
    ///
    /// - Throws: `.invalidUserId` (-10006) for a user id that is not a number (L-3), `.invalidParameter`
    ///   (-10014) for an account at a relay, `.invalidEncryptionParameter` (-10020) if mode, key and salt of
    ///   the encryption don't fit together, `.invalidPrivateConfig` (-10024) for an incomplete
    ///   `privateConfig`, `.initServiceFailed` (-10007) if the log file can't be written.
    func clientConfiguration() throws(RTMError) -> RTMClient.Configuration {
        if !useStringUserId { try checkNumericUserId() }
        let encryptionKeys = try encryptionConfig?.keys() ?? []
        let accessPoints = try accessPoints()
        var configuration = RTMClient.Configuration(
            servers: accessPoints.servers, appID: appId, userID: userId)
        configuration.tls = accessPoints.tls
        configuration.proxy = try proxyConfig?.proxy()
        configuration.secondPath = secondPath
        configuration.heartbeatInterval = .seconds(heartbeatInterval)
        configuration.presenceTimeout = .seconds(presenceTimeout)
        if reconnectTimeout > 0 {
            let range = Self.reconnectTimeoutRange
            configuration.reconnectTimeout = .seconds(
                min(max(reconnectTimeout, range.lowerBound), range.upperBound))
        }
        configuration.pacing = Self.pacing
        configuration.encryptionKeys = encryptionKeys
        if let logger = try logConfig?.logger() { configuration.logger = logger }
        return configuration
    }

    /// The services that the client may use; without a `privateConfig` all of them.
    var services: AgoraRtmServiceType { privateConfig?.serviceType ?? [.message, .stream] }

    private func accessPoints() throws(RTMError) -> AccessPoints {
        guard let privateConfig else { return try defaultAccessPoints() }
        guard !privateConfig.serviceType.isEmpty else {
            throw RTMError(.invalidPrivateConfig, "privateConfig.serviceType is empty", operation: "init")
        }
        return try AccessPoints(
            privateConfig.accessPointHosts, in: areaCode, caFile: privateConfig.caFile)
    }

    private func defaultAccessPoints() throws(RTMError) -> AccessPoints {
        let found = try DefaultServers.accessPoints(
            environment: ProcessInfo.processInfo.environment,
            information: Bundle.main.object(forInfoDictionaryKey: DefaultServers.entry), in: areaCode)
        guard let found else {
            throw RTMError(
                .invalidPrivateConfig,
                "nothing says where the servers are: set privateConfig with accessPointHosts such as "
                    + "127.0.0.1:7710, the environment variable \(DefaultServers.variable), or "
                    + "\(DefaultServers.entry) in Info.plist",
                operation: "init")
        }
        return found
    }

    private func checkNumericUserId() throws(RTMError) {
        let isDecimal = userId.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, let number = UInt32(userId), number > 0 else {
            throw RTMError(
                .invalidUserId,
                "useStringUserId is false, and the user id is not a number from 1 to 4294967295 in decimal",
                operation: "init")
        }
    }
}

extension AgoraRtmEncryptionConfig {
    /// The one key of the client, or none without a mode.
    ///
    /// - Throws: `.invalidEncryptionParameter` (-10020) for a mode without key or salt, a salt that doesn't
    ///   have 32 bytes, and a key or salt without a mode: then somebody forgot to name one, and everything
    ///   would be sent in the clear (E-1, L-49).
    fileprivate func keys() throws(RTMError) -> [EncryptionKey] {
        guard let mode = encryptionMode.keyMode else {
            guard encryptionKey == nil, encryptionSalt == nil else {
                throw RTMError(
                    .invalidEncryptionParameter,
                    "there is an encryption key or salt, but the mode is none", operation: "init")
            }
            return []
        }
        return [try EncryptionKey(encryptionKey ?? "", salt: encryptionSalt ?? Data(), mode: mode)]
    }
}

extension AgoraRtmEncryptionMode {
    fileprivate var keyMode: EncryptionKey.Mode? {
        switch self {
        case .none: nil
        case .AES128GCM: .aes128GCM
        case .AES256GCM: .aes256GCM
        }
    }
}

import NIOConcurrencyHelpers
import RTMClient
import RTMModel

/// A stream channel, which users join and which has topics (C-1).
/// ``AgoraRtmClientKit/createStreamChannel(_:)`` returns it. The object keeps its client alive.
///
/// Every call has two forms that do the same, see ``AgoraRtmClientKit``. What is joined and subscribed
/// survives losses of the link; a leave forgets it (C-4).
public final class AgoraRtmStreamChannel: NSObject, Sendable {
    let kit: AgoraRtmClientKit
    private let channelName: String
    private let isDestroyed = NIOLockedValueBox(false)

    init(_ kit: AgoraRtmClientKit, _ channelName: String) {
        self.kit = kit
        self.channelName = channelName
    }

    /// The name of the channel.
    public func getChannelName() -> String { channelName }

    // MARK: Joining

    /// Joins the channel.
    ///
    /// - Parameter completionBlock: gets `.invalidToken` (-10005), `.tokenExpired` (-10009) or
    ///   `.loginInconsistentAppId` (-10016) for a bad token, `.channelJoinFailed` (-11007) for a token that
    ///   is for something else, for too many channels (L-25) or users (L-26), `.duplicateOperation` (-10017)
    ///   if the channel is joined, `.channelJoinCanceled` (-11034) if a newer join or a leave has replaced
    ///   this one, `.notLogin` (-10002), `.notConnected` (-10025), or `.channelPresenceNotReady` (-11032):
    ///   then the channel is joined all the same, and presence and topics begin with a snapshot as soon as
    ///   they are available.
    @preconcurrency
    public func join(
        _ option: AgoraRtmJoinChannelOption, completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin("join", needs: .stream, completionBlock, join(option))
    }

    /// See ``join(_:completion:)``.
    @discardableResult
    public func join(
        _ option: AgoraRtmJoinChannelOption
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("join", needs: .stream, join(option))
    }

    private func join(_ option: AgoraRtmJoinChannelOption) -> AgoraRtmClientKit.Call<Void> {
        let token = option.token.flatMap { $0.isEmpty ? nil : $0 }
        let features = option.features.subscriptionFeatures
        return call { [self] client, channel throws(RTMError) in
            show { $0.join(channelName, at: $1) }
            let missing = try await joined(channel.name, token, features, by: client)
            for feature in [SubscriptionFeatures.presence, .metadata, .lock] where missing.contains(feature) {
                show { $0.lacks(feature, channelName, at: $1) }
            }
            guard !missing.contains(.presence) else {
                throw RTMError(
                    .channelPresenceNotReady, "the channel is joined, but presence is not available yet")
            }
        }
    }

    /// - Returns: what can't be had for the moment.
    private func joined(
        _ name: String, _ token: String?, _ features: SubscriptionFeatures, by client: RTMClient
    ) async throws(RTMError) -> SubscriptionFeatures {
        do throws(RTMError) {
            let handle = try await client.join(name, token: token, features: features)
            show { $0.joined(channelName, at: $1) }
            return handle.unavailableFeatures
        } catch {
            // What is joined stays joined, and a newer join continues.
            if error.code != .duplicateOperation, error.code != .channelJoinCanceled {
                show { $0.joinFailed(channelName, error, at: $1) }
            }
            throw error
        }
    }

    /// Replaces the token with which the channel was joined, before it expires. A refused token changes
    /// nothing: the membership continues until the end of the old token (S-52).
    ///
    /// - Parameter completionBlock: gets `.invalidToken` (-10005), `.tokenExpired` (-10009),
    ///   `.loginInconsistentAppId` (-10016), `.channelJoinFailed` (-11007) for a token that is for something
    ///   else, `.channelNotJoined` (-11001), `.operationRateExceedLimitation` (-10021), `.renewTokenTimeout`
    ///   (-10026).
    @preconcurrency
    public func renewToken(_ token: String, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        kit.begin("renewToken", needs: .stream, completionBlock, renewing(token))
    }

    /// See ``renewToken(_:completion:)``.
    @discardableResult
    public func renewToken(_ token: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("renewToken", needs: .stream, renewing(token))
    }

    private func renewing(_ token: String) -> AgoraRtmClientKit.Call<Void> {
        call { _, channel throws(RTMError) in try await channel.renewToken(token) }
    }

    /// Leaves the channel, and its topics with it. Others learn that the topics are over, then that this user
    /// has left.
    ///
    /// - Parameter completionBlock: gets `.channelNotJoined` (-11001), `.channelLeaveFailed` (-11028),
    ///   `.notLogin` (-10002).
    @preconcurrency
    public func leave(_ completionBlock: AgoraRtmOperationBlock? = nil) {
        kit.begin("leave", needs: .stream, completionBlock, leaving)
    }

    /// See ``leave(_:)``.
    @discardableResult
    public func leave() async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("leave", needs: .stream, leaving)
    }

    private var leaving: AgoraRtmClientKit.Call<Void> {
        call { [self] _, channel throws(RTMError) in
            try await channel.leave()
            show { $0.left(channelName, at: $1) }
        }
    }

    /// Takes the private parameters of other deployments, a JSON object, as the client does.
    @discardableResult
    public func setParameters(_ parameters: String) -> AgoraRtmErrorCode {
        isDestroyed.withLockedValue { $0 } ? .instanceAlreadyReleased : kit.setParameters(parameters)
    }

    /// Leaves the channel if it is joined. Every later call of this object gets `.instanceAlreadyReleased`
    /// (-10018).
    @discardableResult
    public func destroy() -> AgoraRtmErrorCode {
        let wasDestroyed = isDestroyed.withLockedValue { isDestroyed in
            defer { isDestroyed = true }
            return isDestroyed
        }
        guard !wasDestroyed, !kit.isReleased else { return .instanceAlreadyReleased }
        let name = channelName
        kit.begin("destroy", nil) { client in try? await client.streamChannel(name).leave() }
        kit.streams.destroyed(name)
        return .ok
    }

    // MARK: -

    /// A call of this channel.
    func call<Response>(
        _ body: @escaping @Sendable (RTMClient, StreamChannel) async throws(RTMError) -> Response
    ) -> AgoraRtmClientKit.Call<Response> {
        let isDestroyed = isDestroyed.withLockedValue { $0 }
        let name = channelName
        return { client throws(RTMError) in
            guard !isDestroyed else {
                throw RTMError(
                    .instanceAlreadyReleased, "stream channel '\(name)' was used after destroy()")
            }
            return try await body(client, client.streamChannel(name))
        }
    }

    private func show(_ change: (inout StreamLinkTable, UInt64) -> LinkStateEvent?) {
        if let event = kit.streams.change(change) { kit.show(event) }
    }
}

extension AgoraRtmJoinChannelFeature {
    /// The bits have other values than those of a subscription (M-1).
    fileprivate var subscriptionFeatures: SubscriptionFeatures {
        var features: SubscriptionFeatures = []
        if contains(.presence) { features.insert(.presence) }
        if contains(.metadata) { features.insert(.metadata) }
        if contains(.lock) { features.insert(.lock) }
        if contains(.beQuiet) { features.insert(.quiet) }
        return features
    }
}

extension AgoraRtmClientKit {
    /// Makes the object of a stream channel; nothing is sent. The same name gives the same object as long as
    /// that isn't destroyed (C-1).
    ///
    /// - Throws: ``AgoraRtmErrorInfo`` with `.invalidChannelName` (-10008),
    ///   `.channelInstanceExceedLimitation` (-11005) for more than 100 (L-25), `.serviceNotSupport` (-10022)
    ///   if `privateConfig.serviceType` leaves stream channels out, or `.instanceAlreadyReleased` (-10018)
    ///   after `destroy()`.
    public func createStreamChannel(_ channelName: String) throws -> AgoraRtmStreamChannel {
        do throws(RTMError) {
            guard !isReleased else {
                throw RTMError(.instanceAlreadyReleased, "the client was used after destroy()")
            }
            guard !lacks(.stream) else {
                throw RTMError(
                    .serviceNotSupport, "stream channels are left out of privateConfig.serviceType")
            }
            try NameRule.channel.check(channelName.utf8)
            return try streams.channel(channelName) { AgoraRtmStreamChannel(self, channelName) }
        } catch {
            var error = error
            error.operation = "createStreamChannel"
            throw AgoraRtmErrorInfo(error)
        }
    }
}

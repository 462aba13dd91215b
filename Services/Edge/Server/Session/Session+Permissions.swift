import RTMAccessToken
import RTMModel
import RTMWire

/// What the session's token allows. A token without permissions restricts nothing, and the session's own user
/// is always allowed.
extension Session {
    /// Whether the session may read a message or stream channel. The name has been checked before.
    func checkMayRead(
        _ channel: WireText, _ resource: TokenPermissions.Resource = .messageChannels
    ) throws(RTMError) {
        guard let grant, !grant.allows(.read, to: resource, named: channel.bytes) else { return }
        throw RTMError(
            .channelSubscribePermissionDenied,
            "the token doesn't allow to subscribe to channel \"\(channel.string)\"")
    }

    /// Whether the session may publish to a message channel, a user or, for a topic, a stream channel. The
    /// name has been checked before.
    func checkMayWrite(_ type: ChannelType, _ name: WireText) throws(RTMError) {
        let resource: TokenPermissions.Resource =
            switch type {
            case .user: .users
            case .topic: .streamChannels
            case .message, .stream, .topics, .none: .messageChannels
            }
        guard let grant, !grant.allows(.write, to: resource, named: name.bytes), !isOwn(resource, name) else {
            return
        }
        let noun = type == .user ? "user" : "channel"
        throw RTMError(
            .channelPublishPermissionDenied,
            "the token doesn't allow to publish to \(noun) \"\(name.string)\"")
    }

    /// Whether the session may read or change what belongs to a channel or a user. The name has been checked
    /// before.
    func checkMay(
        _ access: TokenPermissions.Access, _ resource: TokenPermissions.Resource, _ name: WireText,
        else code: ErrorCode
    ) throws(RTMError) {
        guard let grant, !grant.allows(access, to: resource, named: name.bytes), !isOwn(resource, name) else {
            return
        }
        let verb = access == .read ? "ask for" : "change"
        let noun = resource == .users ? "user" : "channel"
        throw RTMError(code, "the token doesn't allow to \(verb) anything of \(noun) \"\(name.string)\"")
    }
}

extension Session {
    /// Whether the session may publish in a stream channel. Where the operator asks for it, the token of the
    /// join needs the privilege. An app that needs no tokens restricts no user.
    ///
    /// - Parameter now: UTC, in milliseconds since 1970.
    /// - Returns: why it may not; nil if it may.
    func obstacleToTopics(of channel: WireText, now: () -> UInt64) -> String? {
        guard application.policies.topics == .granted, application.tokens != nil else { return nil }
        guard joinTokens?.allowPublishing(in: channel.string, now: now()) != true else { return nil }
        return "the token that joined stream channel \"\(channel.string)\" doesn't allow to publish there"
    }

    private func isOwn(_ resource: TokenPermissions.Resource, _ name: WireText) -> Bool {
        resource == .users && userID.utf8.elementsEqual(name.bytes)
    }

    /// Whether the operator's policy lets the session change what belongs to others.
    private func checkPolicy(
        _ call: ClientCall, _ resource: TokenPermissions.Resource
    ) throws(RTMError) {
        guard let policy = application.policies.policy(for: call), policy == .granted,
            !isOwn(resource, call.target)
        else { return }
        guard grant?.lists(.write, to: resource, named: call.target.bytes) != true else { return }
        let what = resource == .users ? "the metadata of another user" : "the locks of others"
        throw RTMError(
            call.kind.notAllowed,
            "this server lets only tokens that list \"\(call.target.string)\" change \(what)")
    }
}

// MARK: - Calls that are passed on

extension Session {
    /// Whether the call may be passed on: the name of its channel or user is valid (L-1, L-4), a channel of
    /// its type has what is asked for (M-35), and the token allows it.
    func check(_ call: ClientCall) throws(RTMError) {
        let resource = try Self.checkTarget(of: call)
        // An empty name means the session's own user, whose metadata needs no permission.
        guard !call.target.isEmpty else { return }
        try checkMay(call.kind.isQuery ? .read : .write, resource, call.target, else: call.notAllowed)
        try checkPolicy(call, resource)
    }

    private static func checkTarget(of call: ClientCall) throws(RTMError) -> TokenPermissions.Resource {
        switch (call.kind, call.channelType) {
        case (.whereNow, _), (.getHistory, .user):
            try NameRule.user.check(call.target.bytes)
            return .users
        case (.writeMetadata, .some(.none)), (.getMetadata, .some(.none)):
            if !call.target.isEmpty { try NameRule.user.check(call.target.bytes) }
            return .users
        case (_, .message):
            try NameRule.channel.check(call.target.bytes)
            return .messageChannels
        case (let kind, .stream) where kind != .getHistory:
            try NameRule.channel.check(call.target.bytes)
            return .streamChannels
        case (.whoNow, .topics), (.getState, .topics), (.setState, .topics), (.removeState, .topics):
            try NameRule.channel.check(call.target.bytes)
            return .streamChannels
        default:
            throw RTMError(.invalidChannelType, "a channel of this type has no \(call.kind.service)")
        }
    }
}

extension ClientCall {
    fileprivate var notAllowed: ErrorCode {
        channelType == .topics && !kind.isQuery ? .channelJoinTopicFailed : kind.notAllowed
    }
}

extension ClientCall.Kind {
    /// Presence and locks have no code of their own for a missing permission. Who may not read a channel may
    /// not ask for its users either.
    fileprivate var notAllowed: ErrorCode {
        switch service {
        case .presence: isQuery ? .channelSubscribePermissionDenied : .presenceNotWritable
        case .locks: .lockOperationFailed
        case .metadata: .storagePermissionDenied
        case .history: .historyPermissionDenied
        }
    }
}

/// Who may change what belongs to other users, and publish in stream channels. Pure: the operator decides.
struct ForeignPolicies: Sendable, Hashable {
    enum Policy: String, Sendable, Hashable, CaseIterable {
        /// Every user who is logged in, unless the token restricts it.
        case everybody
        /// Only users whose token lists it.
        case granted
    }

    /// Writing the metadata of another user (D-16).
    var userMetadata = Policy.everybody
    /// Revoking and removing locks (K-3, K-9).
    var locks = Policy.everybody
    /// Publishing in stream channels.
    var topics = Policy.everybody

    /// Nil for a call that changes nothing of others.
    func policy(for call: ClientCall) -> Policy? {
        switch call.kind {
        case .writeMetadata where call.channelType == ChannelType.none: userMetadata
        case .revokeLock, .removeLock: locks
        default: nil
        }
    }
}

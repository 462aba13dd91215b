package import RTMAccessToken
package import RTMModel
package import RTMWire

/// Whoever acts as one user of an app: a session at an edge, or the holder of a user's token at a gateway.
/// What one of them may do the other may, so both ask here. It is decided by three things: what the token
/// lists, what the operator reserves for tokens that list it (D-16, K-9), and which stream channels
/// the user has joined (D-15, K-18).
///
/// Pure.
package protocol RightsHolder {
    var userID: String { get }
    /// What the token gives; nil where the app id is the credential.
    var grant: TokenGrant? { get }
    var policies: ForeignPolicies { get }
}

/// A token without permissions restricts nothing, and one's own user is always allowed. Names have
/// been checked before.
extension RightsHolder {
    /// Whether a message or stream channel may be read.
    package func checkMayRead(
        _ channel: WireText, _ resource: TokenPermissions.Resource = .messageChannels
    ) throws(RTMError) {
        guard let grant, !grant.allows(.read, to: resource, named: channel.bytes) else { return }
        throw RTMError(
            .channelSubscribePermissionDenied,
            "the token doesn't allow to subscribe to channel \"\(channel.string)\"")
    }

    /// Whether something may be published to a message channel, a user or, for a topic, a stream channel.
    package func checkMayWrite(_ type: ChannelType, _ name: WireText) throws(RTMError) {
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

    /// Whether what belongs to a channel or a user may be read or changed.
    package func checkMay(
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

    private func isOwn(_ resource: TokenPermissions.Resource, _ name: WireText) -> Bool {
        resource == .users && userID.utf8.elementsEqual(name.bytes)
    }

    /// Whether the operator's policy permits a change of what belongs to others.
    private func checkPolicy(
        _ call: ClientCall, _ resource: TokenPermissions.Resource
    ) throws(RTMError) {
        guard let policy = policies.policy(for: call), policy == .granted, !isOwn(resource, call.target)
        else { return }
        guard grant?.lists(.write, to: resource, named: call.target.bytes) != true else { return }
        let what = resource == .users ? "the metadata of another user" : "the locks of others"
        throw RTMError(
            call.kind.notAllowed,
            "this server lets only tokens that list \"\(call.target.string)\" change \(what)")
    }
}

// MARK: - Calls that are passed on

extension RightsHolder {
    /// Whether the call may be passed on: the name of its channel or user is valid (L-1, L-4), a channel of
    /// its type has what is asked for (M-35), the token and the operator allow it, and the stream channel
    /// that it is about is joined.
    ///
    /// - Parameter isJoined: whether the user has joined the stream channel of this name.
    package func check(
        _ call: ClientCall, isJoined: (WireText) -> Bool
    ) throws(RTMError) {
        let resource = try call.checkTarget()
        // An empty name means one's own user, whose metadata needs no permission.
        guard !call.target.isEmpty else { return }
        try checkMay(call.kind.isQuery ? .read : .write, resource, call.target, else: call.notAllowed)
        try checkPolicy(call, resource)
        try call.checkJoined(isJoined)
    }
}

extension ClientCall {
    /// Returns what the call is about.
    fileprivate func checkTarget() throws(RTMError) -> TokenPermissions.Resource {
        switch (kind, channelType) {
        case (.whereNow, _), (.getHistory, .user):
            try NameRule.user.check(target.bytes)
            return .users
        case (.writeMetadata, .some(.none)), (.getMetadata, .some(.none)):
            if !target.isEmpty { try NameRule.user.check(target.bytes) }
            return .users
        case (_, .message):
            try NameRule.channel.check(target.bytes)
            return .messageChannels
        case (let kind, .stream) where kind != .getHistory:
            try NameRule.channel.check(target.bytes)
            return .streamChannels
        case (.whoNow, .topics), (.getState, .topics), (.setState, .topics), (.removeState, .topics):
            try NameRule.channel.check(target.bytes)
            return .streamChannels
        default:
            throw RTMError(.invalidChannelType, "a channel of this type has no \(kind.service)")
        }
    }

    /// What is stored of a stream channel is for those who have joined it: its metadata (D-15) and its locks
    /// (K-18). Who owns a lock may always release it (K-8). Who is there may be asked in any channel (P-30).
    fileprivate func checkJoined(_ isJoined: (WireText) -> Bool) throws(RTMError) {
        let code: ErrorCode
        switch kind.service {
        case .metadata: code = .storageNotSubscribe
        case .locks where kind != .releaseLock: code = .channelNotJoined
        case .locks, .presence, .history: return
        }
        guard channelType == .stream, !isJoined(target) else { return }
        throw RTMError(code, "stream channel \"\(target.string)\" is not joined")
    }

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
package struct ForeignPolicies: Sendable, Hashable {
    package enum Policy: String, Sendable, Hashable, CaseIterable {
        /// Every user who is logged in, unless the token restricts it.
        case everybody
        /// Only users whose token lists it.
        case granted
    }

    /// Writing the metadata of another user (D-16).
    package var userMetadata: Policy
    /// Revoking and removing locks (K-3, K-9).
    package var locks: Policy
    /// Publishing in stream channels.
    package var topics: Policy

    package init(
        userMetadata: Policy = .everybody, locks: Policy = .everybody, topics: Policy = .everybody
    ) {
        (self.userMetadata, self.locks, self.topics) = (userMetadata, locks, topics)
    }

    /// Nil for a call that changes nothing of others.
    fileprivate func policy(for call: ClientCall) -> Policy? {
        switch call.kind {
        case .writeMetadata where call.channelType == ChannelType.none: userMetadata
        case .revokeLock, .removeLock: locks
        default: nil
        }
    }
}

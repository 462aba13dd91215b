import RTMModel
import RTMWire

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

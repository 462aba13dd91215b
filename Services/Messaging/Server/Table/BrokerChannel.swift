import RTMModel
import RTMServiceKit

/// What a broker keeps of one channel: where its entries are, and which links want them.
///
/// Every session has two of these at least, so their memory counts: what is small lies side by side.
struct BrokerChannel {
    /// Who has a channel exclusively, or had it last. Of two owners the one with the greater number has it,
    /// in whatever order they come back.
    struct Ownership {
        var number: UInt64
        /// The owner's number; 0 if it is unknown, or if the owner has logged out.
        var owner: UInt64
        /// Nil while the owner's link is away.
        var interest: Broker.Interest?
        /// Whether the owner was online when this node took over, and hasn't come to it yet.
        var isAwaited = false
    }

    /// Nil while the slot is free.
    var key: ChannelKey?
    var chain: ChannelChain
    private let appNumber: UInt32
    var interests = ShortList<Broker.Interest>()
    /// When the last interest left, in milliseconds. The subscribers behind it may come back.
    var leftAt: UInt64 = 0
    var ownership: Ownership?
    /// By owner: how far its login attempts have counted.
    var logins = HighWaterMarks()
    var sources = AppendSources()
    /// When a sweep last recorded it, in milliseconds.
    var recordedAt: UInt64 = 0

    init(_ key: ChannelKey?, of app: Int, _ chain: ChannelChain) {
        self.key = key
        appNumber = UInt32(app)
        self.chain = chain
    }

    /// The number of the app among those of the table.
    var app: Int { Int(appNumber) }

    /// Refuses an owner who may not have the channel anew.
    mutating func admit(_ owner: UInt64, _ attempt: UInt64, returns: Bool) throws(RTMError) {
        guard attempt == 0 || logins.admits(owner, attempt) else {
            throw RTMError(.loginAborted, "the same client has logged in again meanwhile")
        }
        guard !returns || !isOwned(byOtherThan: owner) else {
            throw RTMError(.loginAborted, "the user has logged in elsewhere meanwhile")
        }
    }

    /// Whether somebody else had the channel last. That stays true while the other owner is away, and ends
    /// with its logout.
    private func isOwned(byOtherThan owner: UInt64) -> Bool {
        guard owner != 0, let last = ownership?.owner else { return false }
        return last != 0 && last != owner
    }
}

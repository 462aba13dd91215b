import RTMModel
import RTMServiceKit

/// What a broker keeps of one channel: where its entries are, and which links want them.
///
/// Every session has two of these at least, so their memory counts: what is small lies side by side.
struct BrokerChannel {
    /// Who has a channel exclusively, or had it last. Of two holders the one with the greater number has it,
    /// in whatever order they come back.
    struct Claim {
        var number: UInt64
        /// The holder's number; 0 if it is unknown, or if the holder has logged out.
        var holder: UInt64
        /// Nil while the holder's link is away.
        var interest: Broker.Interest?
        /// Whether the holder was online when this node took over, and hasn't come to it yet.
        var isAwaited = false
    }

    /// Nil while the slot is free.
    var key: ChannelKey?
    var chain: ChannelChain
    private let appNumber: UInt32
    var interests = ShortList<Broker.Interest>()
    /// When the last interest left, in milliseconds. The subscribers behind it may come back.
    var leftAt: UInt64 = 0
    var claim: Claim?
    /// By holder: how far its login attempts have counted.
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

    /// Refuses a holder who may not have the channel anew.
    mutating func admit(_ holder: UInt64, _ attempt: UInt64, returns: Bool) throws(RTMError) {
        guard attempt == 0 || logins.admits(holder, attempt) else {
            throw RTMError(.loginAborted, "the same client has logged in again meanwhile")
        }
        guard !returns || !isHeld(byOtherThan: holder) else {
            throw RTMError(.loginAborted, "the user has logged in elsewhere meanwhile")
        }
    }

    /// Whether somebody else had the channel last. That stays true while the other holder is away, and ends
    /// with its logout.
    private func isHeld(byOtherThan holder: UInt64) -> Bool {
        guard holder != 0, let last = claim?.holder else { return false }
        return last != 0 && last != holder
    }
}

import RTMModel

/// What a log's tail doesn't have any more, as far as a reader may miss it. A reader misses nothing if no
/// entry is lost behind its position that its features select and that another user published.
///
/// For each feature the newest lost entry is known, and the newest one that isn't of the same user. That
/// answers for every reader, and has 64 bytes however much is lost.
struct LostEntries {
    private struct Newest {
        /// 0 if nothing is lost.
        var offset: UInt64 = 0
        /// How far before it the newest lost entry lies that somebody else published. If that is very far, it
        /// is said to lie nearer, so that a reader is rather told too much.
        var behind: UInt32 = 0
        /// Who doesn't receive the entry because it is the user's own; 0 if everybody does.
        var user: UInt32 = 0

        mutating func add(_ offset: UInt64, of user: UInt32) {
            let distance = offset - self.offset + (user == self.user ? UInt64(behind) : 0)
            self = Newest(offset: offset, behind: UInt32(clamping: distance), user: user)
        }

        func offset(except user: UInt32) -> UInt64 {
            user != 0 && user == self.user ? offset - UInt64(behind) : offset
        }
    }

    private var presence = Newest()
    private var metadata = Newest()
    private var message = Newest()
    private var lock = Newest()

    /// - Parameters:
    ///   - feature: one that an entry can have.
    ///   - user: who doesn't receive the entry; 0 = everybody does.
    mutating func add(_ offset: UInt64, _ feature: SubscriptionFeatures, of user: UInt32) {
        switch feature {
        case .presence: presence.add(offset, of: user)
        case .metadata: metadata.add(offset, of: user)
        case .lock: lock.add(offset, of: user)
        default: message.add(offset, of: user)
        }
    }

    /// The features that select entries which are lost to a reader at this offset.
    ///
    /// - Parameter user: the reader, whose own entries aren't for it; 0 for nobody in particular.
    func features(after offset: UInt64, except user: UInt32) -> SubscriptionFeatures {
        var features: SubscriptionFeatures = []
        if presence.offset(except: user) > offset { features.insert(.presence) }
        if metadata.offset(except: user) > offset { features.insert(.metadata) }
        if message.offset(except: user) > offset { features.insert(.message) }
        if lock.offset(except: user) > offset { features.insert(.lock) }
        return features
    }
}

extension SubscriptionFeatures {
    /// Whether an entry can have it: it is one feature that selects entries.
    var isOfEntry: Bool { rawValue.nonzeroBitCount == 1 && Self.ofEntries.contains(self) }

    static let ofEntries: SubscriptionFeatures = [.presence, .metadata, .message, .lock]
}

import RTMModel

/// What a log's tail doesn't have any more, as far as a reader may miss it. A reader misses nothing if no
/// entry is lost behind its position that its features select and that another user published.
///
/// For each feature the newest lost entry is known, and the newest one that isn't of the same user. That
/// answers for every reader, and has 64 bytes however much is lost. Most logs have lost nothing and need no
/// memory for it.
struct LostEntries {
    private struct Newest {
        /// 0 if nothing is lost.
        var offset: UInt64 = 0
        /// How far before it the newest lost entry lies that another user published. If that is very far, it
        /// counts as nearer, so that a reader gets a gap rather than losing entries silently.
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

    /// The features that an entry can have, each at its index.
    static let features: [SubscriptionFeatures] = [.message, .presence, .metadata, .lock]

    /// By `index(of:)` of the feature; empty if nothing is lost.
    private var newest: [Newest] = []

    /// - Parameters:
    ///   - feature: one that an entry can have.
    ///   - user: who doesn't receive the entry; 0 = everybody does.
    mutating func add(_ offset: UInt64, _ feature: SubscriptionFeatures, of user: UInt32) {
        if newest.isEmpty { newest = Array(repeating: Newest(), count: Self.features.count) }
        newest[Self.index(of: feature)].add(offset, of: user)
    }

    static func index(of feature: SubscriptionFeatures) -> Int {
        switch feature {
        case .presence: 1
        case .metadata: 2
        case .lock: 3
        default: 0
        }
    }

    /// 0 if nothing is lost.
    var newestOffset: UInt64 { newest.reduce(0) { max($0, $1.offset) } }

    /// The newest lost entry that this feature selects; 0 if there is none.
    func newestOffset(of feature: SubscriptionFeatures) -> UInt64 {
        newest.isEmpty ? 0 : newest[Self.index(of: feature)].offset
    }

    /// The features that select entries which are lost to a reader at this offset.
    ///
    /// - Parameter user: the reader, whose own entries aren't for it; 0 for nobody in particular.
    func features(after offset: UInt64, except user: UInt32) -> SubscriptionFeatures {
        var features: SubscriptionFeatures = []
        for (feature, newest) in zip(Self.features, newest) where newest.offset(except: user) > offset {
            features.insert(feature)
        }
        return features
    }
}

extension SubscriptionFeatures {
    /// Whether an entry can have it: it is one feature that selects entries.
    var isOfEntry: Bool { rawValue.nonzeroBitCount == 1 && Self.ofEntries.contains(self) }

    static let ofEntries: SubscriptionFeatures = [.presence, .metadata, .message, .lock]
}

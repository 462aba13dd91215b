import RTMModel

/// How much an app has of the things that have a quota (L-42). Pure.
package struct AppUsage: Sendable, Hashable {
    enum Kind: Sendable, Hashable, CaseIterable {
        /// The metadata sets of channels, and of users, that are not empty.
        case channelSets, userSets
        case locks
        /// What the metadata of all its channels and users takes.
        case metadataBytes
    }

    /// Quotas per app; nil means no limit.
    struct Quotas: Sendable, Hashable {
        var channelSets: Int?
        var userSets: Int?
        var locks: Int?
        var historyBytes: Int?
        var metadataBytes: Int?
        /// Beyond it the oldest events go before their time.
        var eventBytes: Int?
    }

    package var channelSets = 0
    package var userSets = 0
    package var locks = 0
    /// Bytes of stored messages.
    package var historyBytes = 0
    /// Bytes of the metadata of channels and users.
    package var metadataBytes = 0

    package init(
        channelSets: Int = 0, userSets: Int = 0, locks: Int = 0, historyBytes: Int = 0, metadataBytes: Int = 0
    ) {
        self.channelSets = channelSets
        self.userSets = userSets
        self.locks = locks
        self.historyBytes = historyBytes
        self.metadataBytes = metadataBytes
    }

    /// Why a message of so many bytes isn't stored; nil if there is room. Old messages expire, and then there
    /// is room again.
    func refusal(ofHistory bytes: Int, _ quotas: Quotas) -> RTMError? {
        guard let quota = quotas.historyBytes, historyBytes + bytes > quota else { return nil }
        return RTMError(
            .historyOperationFailed,
            "the stored messages of the app have \(historyBytes) bytes, \(quota) are allowed",
            retryAfter: .seconds(60), limit: .init(name: "history bytes of an app", value: UInt64(quota)))
    }

    /// What a change adds to the counts. An app that has more than a quota that was lowered can still change
    /// and give back what it has.
    func difference(_ change: Int, _ kind: Kind, _ quotas: Quotas) throws(RTMError) -> AppUsage {
        let (path, quota, code, what) = Self.row(kind, quotas)
        let next = max(0, self[keyPath: path] + change)
        if let quota, change > 0, next > quota {
            throw RTMError(
                code, "the app would have \(next) \(what), \(quota) are allowed",
                limit: .init(name: "\(what) of an app", value: UInt64(quota)))
        }
        var difference = AppUsage()
        difference[keyPath: path] = next - self[keyPath: path]
        return difference
    }

    mutating func add(_ difference: AppUsage) {
        channelSets += difference.channelSets
        userSets += difference.userSets
        locks += difference.locks
        historyBytes += difference.historyBytes
        metadataBytes += difference.metadataBytes
    }

    private static func row(
        _ kind: Kind, _ quotas: Quotas
    ) -> (WritableKeyPath<AppUsage, Int>, Int?, ErrorCode, String) {
        switch kind {
        case .channelSets:
            (\.channelSets, quotas.channelSets, .storageOperationFailed, "channels with metadata")
        case .userSets: (\.userSets, quotas.userSets, .storageOperationFailed, "users with metadata")
        case .locks: (\.locks, quotas.locks, .lockOperationFailed, "locks")
        case .metadataBytes:
            (\.metadataBytes, quotas.metadataBytes, .storageOperationFailed, "bytes of metadata")
        }
    }
}

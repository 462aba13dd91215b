import RTMClient

extension Transcript {
    /// The whole set, one item per line.
    func line(for event: MetadataEvent) -> String {
        let name: String =
            switch event.target {
            case .channel(let name, _): name
            case .user(let id): id
            }
        let revision = "major revision \(event.metadata.majorRevision)"
        let cause = event.author.map { "\(revision), written by \($0)" } ?? revision
        let head =
            time(event.timestampMilliseconds) + " " + palette.quiet(name.visible) + " metadata "
            + palette.quiet("(\(cause.visible))")
        return ([head] + event.metadata.items.map { "    " + $0.sentence }).joined(separator: "\n")
    }

    /// A change on one line. If it concerns several locks, each has a line of its own.
    func line(for event: LockEvent) -> String {
        let head = time(event.timestampMilliseconds) + " " + palette.quiet(event.channelName.visible)
        switch event.kind {
        case .snapshot where event.locks.isEmpty: return head + " no locks"
        case .snapshot: return head + " locks" + event.locks.map { "\n    " + $0.sentence }.joined()
        case .set: return head + " lock created: " + names(event)
        case .removed: return head + " lock deleted: " + names(event)
        case .acquired: return head + " lock acquired: " + names(event, "by")
        case .released: return head + " lock released: " + names(event, "by")
        case .expired: return head + " lock lost while the connection was away: " + names(event)
        }
    }

    private func names(_ event: LockEvent, _ word: String? = nil) -> String {
        event.locks.map { lock in
            guard let word, let owner = lock.owner else { return lock.name.visible }
            return "\(lock.name.visible) \(word) \(palette.name(owner.visible))"
        }.joined(separator: ", ")
    }
}

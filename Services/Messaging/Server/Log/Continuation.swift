import RTMModel
import RTMWire

/// What a reader wants to see of a channel.
struct ReadScope {
    var features: SubscriptionFeatures = .all
    /// The reader, if its own entries aren't for it; 0 for nobody in particular.
    var user: UInt32 = 0
    /// Limit: entries, and bytes of their frames, that a reader who comes back gets.
    var countMax: Int
    var bytesMax: Int

    /// Limit: entries that are looked at for one reader, with those that aren't for it.
    var stepsMax: Int { 1_024 + 4 * countMax }

    /// Whether it is very likely one of the reader's own that isn't for it: the name in the frame is sure.
    func leavesOut(_ entry: EntryRecord) -> Bool {
        user != 0 && entry.owner == user && features.leavesOutOwn(entry.feature)
    }
}

/// What a reader that has seen everything up to a position receives next.
struct Continuation {
    /// Set if entries that the reader may miss, or the log they were in, are gone: the reader continues
    /// after this position.
    let skippedTo: StreamPosition?
    /// Whether the log ends before the reader's position, because it is an earlier state of the log.
    var wentBack = false
    /// The features that select what is lost.
    let lost: SubscriptionFeatures
    /// What follows of the features that the reader wants, in order, with its own entries.
    let entries: [EntryPlace]
}

extension ChannelChain {
    /// - Parameter partitionHead: the newest position of the channel's partition.
    func continuation(
        after position: StreamPosition, _ scope: ReadScope, in tail: EntryTail, partitionHead: StreamPosition
    ) -> Continuation {
        let epoch = partitionHead.epoch
        // Nothing of another epoch is known to the reader, so it begins with the oldest entry that is left.
        guard position.epoch == epoch else {
            let rest = walk(after: 0, scope, in: tail)
            return Continuation(
                skippedTo: StreamPosition(epoch: epoch, offset: rest.start), lost: .ofEntries,
                entries: rest.entries)
        }
        guard position.offset <= partitionHead.offset else {
            return Continuation(
                skippedTo: StreamPosition(epoch: epoch, offset: head), wentBack: true, lost: .ofEntries,
                entries: [])
        }
        let present = features(after: position.offset).intersection(scope.features)
        // Nothing that the reader wants has come, so there is nothing to look for.
        if present.isEmpty, unknownUntil <= position.offset {
            return Continuation(skippedTo: nil, lost: [], entries: [])
        }
        let rest = walk(after: position.offset, scope, in: tail)
        let missing = missing(after: position.offset, scope, present, isWhole: rest.isWhole)
        return Continuation(
            skippedTo: missing.isEmpty ? nil : StreamPosition(epoch: epoch, offset: rest.start),
            lost: missing, entries: rest.entries)
    }

    /// The features that the reader wants and that select entries which it doesn't get.
    private func missing(
        after offset: UInt64, _ scope: ReadScope, _ present: SubscriptionFeatures, isWhole: Bool
    ) -> SubscriptionFeatures {
        if unknownUntil > offset { return scope.features.intersection(.ofEntries) }
        if !isWhole { return present }
        var missing = lost.features(after: offset, except: scope.user)
        if !scope.features.leavesOutOwn(.message), lost.newestOffset(of: .message) > offset {
            missing.insert(.message)
        }
        return missing.intersection(scope.features)
    }

    private struct Walk {
        /// In order.
        var entries: [EntryPlace] = []
        /// Behind this offset the reader misses nothing.
        var start: UInt64
        /// Whether it ended where it should, or where the tail ends, and not at a limit.
        var isWhole = true
    }

    /// Goes back from the newest entry to an offset.
    private func walk(after offset: UInt64, _ scope: ReadScope, in tail: EntryTail) -> Walk {
        var walk = Walk(start: head)
        var place = newest
        var (count, bytes, steps) = (0, 0, 0)
        while tail.holds(place) {
            let entry = tail.record(at: place)
            guard entry.offset > offset else { break }
            steps += 1
            if steps > scope.stepsMax {
                walk.isWhole = false
                break
            }
            if scope.features.contains(entry.feature) {
                if !scope.leavesOut(entry) { (count, bytes) = (count + 1, bytes + Int(entry.length)) }
                guard count <= scope.countMax, bytes <= scope.bytesMax else {
                    walk.isWhole = false
                    break
                }
                walk.entries.append(place)
            }
            walk.start = entry.offset - 1
            place = entry.previous
        }
        walk.entries.reverse()
        return walk
    }
}

import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// What `EdgeLoop` does with the answers of messaging and with what the index says.
extension EdgeHistory {
    mutating func attached(_ interest: UInt64, _ response: AttachResponse) {
        let known = interests[interest].flatMap { index.place(of: $0) }.flatMap { index.position(at: $0) }
        guard let attached = index.attached(interest, response) else { return }
        let key = index.key(at: attached.place)
        look()
        for viewer in viewers.values { known.map { expect(viewer, on: key, upTo: $0) } }
        if let position = attached.gap {
            index.sendToAll(
                Record(channel: key, position: position, isGap: true).frame, at: attached.place)
            look()
        }
        for pending in attached.waiting { proceed(pending, at: attached.place) }
    }

    mutating func attachFailed(_ interest: UInt64) {
        guard let (place, refused) = index.attachFailed(interest) else { return }
        for pending in refused {
            // A subscriber that was to come in again stays what it was.
            guard pending.isReturn || pending.isAnswered, index.isCurrent(pending, at: place) else {
                giveUp(pending, at: place)
                continue
            }
            var pending = pending
            pending.isPrepared = true
            if pending.after == index.position(at: place) {
                goLive(pending, at: place)
            } else {
                index.waitForNextAttach(answeredFromWhereItStands(pending, at: place), at: place)
            }
        }
    }

    private func answeredFromWhereItStands(_ pending: PendingSubscribe, at place: Int) -> PendingSubscribe {
        guard !pending.isAnswered, let after = pending.after,
            let viewer = viewers[pending.session.id.rawValue]
        else { return pending }
        viewer.begins(index.key(at: place), pending.features, at: after, isLive: false)
        var pending = pending
        pending.isAnswered = true
        return pending
    }

    /// Presence and storage are asked; how long that takes, nobody knows.
    mutating func proceed(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place) else { return giveUp(pending, at: place) }
        if pending.isPrepared { return begin(pending, at: place) }
        var pending = pending
        pending.isPrepared = true
        pending.after = pending.after ?? index.position(at: place)
        openPreparations[nextNumber()] = (pending, place)
    }

    /// Both have answered one of them, with a snapshot or not.
    mutating func prepareAny() {
        guard let id = openPreparations.keys.sorted().randomElement(using: &random),
            let (pending, place) = openPreparations.removeValue(forKey: id)
        else { return }
        events.preparations += 1
        begin(pending, at: place)
    }

    mutating func begin(_ pending: PendingSubscribe, at place: Int) {
        guard index.isCurrent(pending, at: place), let viewer = viewers[pending.session.id.rawValue] else {
            return giveUp(pending, at: place)
        }
        if let after = pending.after, after != index.position(at: place) {
            switch index.waitUntilAttached(pending, at: place) {
            case .attach(let request): attach(request)
            case .wait: break
            case .proceed, nil:
                read(CatchUp(viewer: viewer, pending: pending, place: place, after: after))
            }
        } else {
            goLive(pending, at: place)
        }
    }

    mutating func goLive(
        _ pending: PendingSubscribe, at place: Int, behind page: StreamPosition? = nil
    ) {
        let key = index.key(at: place)
        let position = index.admit(pending, at: place)
        look()
        guard let position, let viewer = viewers[pending.session.id.rawValue] else {
            Issue.record("\(what): admitted without a position")
            return
        }
        if let page { #expect(position == page, "\(what): the session doesn't go live where its page ended") }
        viewer.begins(key, pending.features, at: position, isLive: true)
        events.admissions += 1
    }

    mutating func giveUp(_ pending: PendingSubscribe, at place: Int) {
        let key = index.key(at: place)
        if index.isCurrent(pending, at: place) { viewers[pending.session.id.rawValue]?.ends(key) }
        detach(index.abandon(pending, at: place))
        events.refusals += 1
    }

    mutating func read(_ catchUp: CatchUp) {
        let id = nextNumber()
        openReads[id] = catchUp
        messaging.call(
            .read(
                id: id,
                FakeMessaging.Read(
                    channel: index.key(at: catchUp.place), after: catchUp.after, session: catchUp.viewer.id,
                    features: catchUp.pending.features, entriesMax: .random(in: 1...3, using: &random))))
    }

    mutating func readFailed(_ catchUp: CatchUp) {
        // Who has seen a part of what it missed reads on, later.
        guard catchUp.pending.isAnswered || catchUp.pending.isReturn,
            index.isCurrent(catchUp.pending, at: catchUp.place)
        else { return giveUp(catchUp.pending, at: catchUp.place) }
        var pending = catchUp.pending
        pending.after = catchUp.after
        openPreparations[nextNumber()] = (
            answeredFromWhereItStands(pending, at: catchUp.place), catchUp.place
        )
    }

    mutating func read(_ catchUp: CatchUp, _ page: FakeMessaging.Page) {
        let (viewer, place) = (catchUp.viewer, catchUp.place)
        var pending = catchUp.pending
        guard index.isCurrent(pending, at: place) else { return giveUp(pending, at: place) }
        if page.gap { return goLive(pending, at: place) }
        let key = index.key(at: place)
        if !pending.isAnswered { viewer.begins(key, pending.features, at: catchUp.after, isLive: false) }
        pending.isAnswered = true
        for offset in page.offsets {
            let position = StreamPosition(epoch: page.position.epoch, offset: offset)
            pending.session.send(Record(channel: key, position: position).frame)
            catchUpEntries += 1
        }
        look()
        viewer.expectNothingMissed(key, upTo: page.position, messaging.archive)
        if page.more {
            read(
                CatchUp(viewer: viewer, pending: pending, place: place, after: page.position))
        } else {
            events.catchUps += 1
            goLive(pending, at: place, behind: page.position)
        }
    }
}

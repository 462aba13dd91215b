import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// The memory of one event loop for pages that its sessions have asked for: answers to queries, pages of what
/// was missed, and snapshots. It is taken before a page is asked for, because whatever was asked for
/// comes, and given back when the client has read the page or won't get it. The apps and their users share
/// it, so those who don't read take nothing from the users of another app.
///
/// Who finds no memory waits for it, each app and each user in turn, and is refused after a while.
final class PageTurns {
    /// Limit: how long a page waits for memory.
    static let waitMax = TimeAmount.seconds(5)
    /// Limit: the smallest memory of a loop, of which a user alone may have a third.
    static let bytesMin = 16 << 20
    /// How often those who wait are looked at.
    private static let interval = TimeAmount.milliseconds(20)

    private struct Waiting {
        let session: Session
        let bytesMax: Int
        let deadline: NIODeadline
        let begin: (Result<SharedMemory.Share, RTMError>) -> Void
    }

    private let memory: SharedMemory
    private let eventLoop: any EventLoop
    private var waiting = FairQueue<Waiting>(.init(perCaller: 256, perApp: 16_384, total: 65_536))
    private var isScheduled = false

    /// - Parameter bytesMax: what may wait for the clients of the loop.
    init(bytesMax: Int, on eventLoop: any EventLoop) {
        memory = SharedMemory("edge.outbound.totalBytesMax", bytesMax: max(bytesMax, Self.bytesMin))
        self.eventLoop = eventLoop
    }

    /// How much is taken.
    var bytes: Int { memory.bytes }

    /// The refusal of who has waited for too long.
    var refusal: RTMError { memory.refusal }

    /// Takes memory for a page; nil if there is none, or if others of the app wait for some.
    ///
    /// - Parameter userID: empty for what users of the app share.
    func take(_ bytesMax: Int, of appID: String, by userID: String) -> SharedMemory.Share? {
        guard !waiting.hasWaiting(of: appID) else { return nil }
        return memory.share(of: appID, by: userID, bytes: bytesMax)
    }

    /// Begins a page with its memory, now or later, or refuses it.
    func ask(
        _ bytesMax: Int, for session: Session,
        _ begin: @escaping (Result<SharedMemory.Share, RTMError>) -> Void
    ) {
        guard let share = take(bytesMax, of: session.appID, by: session.userID) else {
            return wait(bytesMax, for: session, begin)
        }
        begin(.success(share))
    }

    /// As `ask`, for what has found no memory.
    func wait(
        _ bytesMax: Int, for session: Session,
        _ begin: @escaping (Result<SharedMemory.Share, RTMError>) -> Void
    ) {
        let page = Waiting(
            session: session, bytesMax: bytesMax, deadline: eventLoop.now + Self.waitMax, begin: begin)
        guard waiting.put(page, of: session.appID, by: session.userID) == nil else {
            return begin(.failure(refusal))
        }
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.interval) {
            self.isScheduled = false
            self.beginWaiting()
            self.schedule()
        }
    }

    private func beginWaiting() {
        let now = eventLoop.now
        var share: SharedMemory.Share?
        while let page = waiting.popFirst(where: { page in
            guard !page.session.isEnded, page.deadline > now else { return true }
            share = memory.share(of: page.session.appID, by: page.session.userID, bytes: page.bytesMax)
            return share != nil
        }) {
            page.begin(share.take().map { .success($0) } ?? .failure(refusal))
        }
    }
}

extension ClientCall.Kind {
    /// About how long the answer to a query may be. Pages of history and of users end at a number of bytes.
    var answerBytesMax: Int {
        switch self {
        case .getHistory: 300 * 1024
        case .getMetadata: 256 * 1024
        case .whoNow, .whereNow, .getState: 64 * 1024
        case .getLocks: 16 * 1024
        case .setState, .removeState, .writeMetadata, .setLock, .removeLock, .acquireLock, .releaseLock,
            .revokeLock:
            0
        }
    }
}

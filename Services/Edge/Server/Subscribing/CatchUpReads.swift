import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Reads what subscribers lack: pages of what they missed, and snapshots that came while the client was
/// behind. A session has one read under way, and the next one waits until its client has read what was sent
/// before. So nothing is read that a client can't take.
final class CatchUpReads {
    private let eventLoop: any EventLoop
    private let sessions: Sessions
    private let messaging: MessagingClient
    private let snapshots: SnapshotReads
    private let memory: PageTurns
    weak var subscribing: Subscribing?
    /// The snapshots that are being read, with the number of answers that have yet to come.
    private var collections: [SubscribeID: (session: SessionKey, answers: Int)] = [:]
    /// The pages that messaging has not answered for yet.
    private var pages = RequestContexts<PendingPage>()

    /// Limit: bytes of a page.
    private static let pageBytesMax = 300 * 1024

    /// What has to be remembered of a page until it is there.
    struct PendingPage {
        let query: PageQuery
        let share: SharedMemory.Share
    }

    init(
        eventLoop: any EventLoop, sessions: Sessions, messaging: MessagingClient,
        snapshots: SnapshotReads, memory: PageTurns
    ) {
        self.eventLoop = eventLoop
        self.sessions = sessions
        self.messaging = messaging
        self.snapshots = snapshots
        self.memory = memory
    }

    func begin(_ read: CatchUpRead) {
        guard let session = sessions[read.session], session.catchUpQueue.begin(read) else { return }
        send(read, for: session)
    }

    private func send(_ read: CatchUpRead, for session: Session) {
        switch read {
        case .page(let query):
            memory.ask(Self.pageBytesMax, for: session) { [self] outcome in
                switch outcome {
                case .success(let share): self.read(query, for: session, share)
                case .failure(let error): subscribing?.pageRefused(query, error)
                }
            }
        case .snapshots(let query):
            collections[query.id] = (
                session.key, (query.wantsRoster ? 1 : 0) + (query.stored.isEmpty ? 0 : 1)
            )
            snapshots.collect(query, for: session)
        }
    }

    private func read(_ query: PageQuery, for session: Session, _ share: SharedMemory.Share) {
        let request = ReadRequest(
            channel: query.channel, after: query.after,
            exceptPublisher: query.showsOwn ? "" : session.userID, features: query.features)
        messaging.read(request, context: pages.insert(PendingPage(query: query, share: share)))
    }

    /// The page that messaging has answered.
    func answered(_ context: Int) -> PendingPage { pages.remove(context) }

    /// Presence or storage has answered, and the subscribe has taken the answer.
    func snapshotArrived(_ id: SubscribeID) {
        guard let collection = collections[id] else { return }
        guard collection.answers == 1 else {
            collections[id]?.answers -= 1
            return
        }
        collections[id] = nil
        ended(of: collection.session)
    }

    /// The next subscribe of the session reads in a later turn: reads that all fail must not pile up.
    func ended(of key: SessionKey) {
        guard let session = sessions[key], let next = session.catchUpQueue.ended() else { return }
        eventLoop.assumeIsolated().execute { self.sendWhenWritable(next, for: session) }
    }

    /// What comes while the client is behind would have to be read again.
    private func sendWhenWritable(_ read: CatchUpRead, for session: Session) {
        guard !session.isEnded, !session.isWritable else { return send(read, for: session) }
        session.connection?.whenWritable { self.send(read, for: session) }
    }
}

extension CatchUpRead {
    fileprivate var session: SessionKey {
        switch self {
        case .page(let query): query.session
        case .snapshots(let query): query.session
        }
    }
}

/// What a subscribe of a session reads when no other read of the session is under way.
enum CatchUpRead {
    /// A page of what it missed.
    case page(PageQuery)
    /// Snapshots that are big, or that came while the client was behind.
    case snapshots(SnapshotQuery)
}

/// Which subscribe of a session may read now. One reads at a time, because the pages and snapshots of many
/// subscribes at once would lie in memory until the client reads. Pure.
struct CatchUpQueue {
    private var waiting: [CatchUpRead] = []
    private var isTaken = false

    /// Returns whether the read may begin now. Otherwise it waits in the queue.
    mutating func begin(_ read: CatchUpRead) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        waiting.append(read)
        return false
    }

    /// A read has ended. Returns the next one, which may begin now.
    mutating func ended() -> CatchUpRead? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        isTaken = false
        return nil
    }
}

extension PageQuery {
    /// The frames of a page that the subscriber may see: in a topic those of the publishers that it wants
    /// (C-8).
    func wanted(_ frames: WireText) -> ByteBuffer {
        guard channel.type == .topic else { return ByteBuffer(bytes: frames.bytes) }
        let publishers = Set(publishers)
        var wanted = ByteBuffer()
        var rest = frames.bytes
        while !rest.isEmpty {
            let next = FrameReader.dropFirst(1, of: rest)
            guard next.count < rest.count else { break }
            let frame = UnsafeRawBufferPointer(rebasing: rest.prefix(rest.count - next.count))
            if let publisher = PublicationPublisher.first(in: frame), publishers.contains(publisher.string) {
                wanted.writeBytes(frame)
            }
            rest = next
        }
        return wanted
    }
}

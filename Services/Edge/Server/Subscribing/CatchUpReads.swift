import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Reads what subscribers lack: pages of what they missed, and snapshots for which there was no room. A
/// session has one read under way, and the next one waits until its client has read what was sent before. So
/// nothing is read that a client can't take.
final class CatchUpReads {
    private let eventLoop: any EventLoop
    private let sessions: Sessions
    private let messaging: MessagingClient<ServiceEvents>
    private let snapshots: SnapshotReads
    /// The snapshots that are being read, with the number of answers that have yet to come.
    private var collections: [SubscribeID: (session: SessionKey, answers: Int)] = [:]

    init(
        eventLoop: any EventLoop, sessions: Sessions, messaging: MessagingClient<ServiceEvents>,
        snapshots: SnapshotReads
    ) {
        self.eventLoop = eventLoop
        self.sessions = sessions
        self.messaging = messaging
        self.snapshots = snapshots
    }

    func begin(_ read: CatchUpRead) {
        guard let session = sessions[read.session], session.catchUpTurn.begin(read) else { return }
        send(read, for: session)
    }

    private func send(_ read: CatchUpRead, for session: Session) {
        switch read {
        case .page(let read):
            let question = read.question
            let request = ReadRequest(
                channel: question.channel, after: question.after,
                exceptPublisher: question.showsOwn ? "" : session.userID, features: question.features)
            messaging.read(request, context: read)
        case .snapshots(let id, let questions):
            collections[id] = (
                session.key, (questions.wantsRoster ? 1 : 0) + (questions.stored.isEmpty ? 0 : 1)
            )
            snapshots.ask(id, questions, for: session)
        }
    }

    /// Presence or storage has answered, and the subscribe has taken the answer.
    func snapshotCame(_ id: SubscribeID) {
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
        guard let session = sessions[key], let next = session.catchUpTurn.ended() else { return }
        eventLoop.assumeIsolated().execute { self.sendWhenRoom(next, for: session) }
    }

    /// What comes without room for it would have to be read again.
    private func sendWhenRoom(_ read: CatchUpRead, for session: Session) {
        guard !session.isEnded, !session.hasRoom else { return send(read, for: session) }
        session.connection?.whenRoom { self.send(read, for: session) }
    }
}

extension CatchUpRead {
    fileprivate var session: SessionKey {
        switch self {
        case .page(let read): read.question.session
        case .snapshots(_, let questions): questions.session
        }
    }
}

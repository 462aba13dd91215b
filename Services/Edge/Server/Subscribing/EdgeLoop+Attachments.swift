import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// How the channels of a loop stand with messaging: attached, lost, taken up again.
extension EdgeLoop {
    func messagingAttached(_ interest: UInt64, _ outcome: Result<AttachResponse, ServiceLinkRequestFailure>) {
        switch outcome {
        case .success(let response):
            guard let attached = index.attached(interest, response) else { return }
            if let position = attached.gap {
                // Messaging lost what lay between: whoever is subscribed is told, nobody is left to guess.
                let gap = Gap(index.key(at: attached.place), position)
                index.sendToAll(ServerFrame(gap).frame, at: attached.place)
                metrics.gap()
                // Who came and went may have been told in what is lost.
                for session in index.sessions(at: attached.place, with: .presence) {
                    lease.lacksSnapshot(session, at: attached.place)
                }
            }
            for pending in attached.waiting { proceed(pending, at: attached.place) }
            reattachNext()
        case .failure(.refused(let error)) where error.code == .loginAborted:
            messagingSuperseded(interest, by: 0)
            // A login that is refused so is still waiting for its inbox.
            if let (place, refused) = index.attachFailed(interest) {
                for pending in refused { giveUp(pending, at: place, error) }
            }
            reattachNext()
        case .failure(let failure):
            guard let (place, refused) = index.attachFailed(interest) else { return }
            for pending in refused { attachFailed(pending, at: place, failure) }
            reattachLater()
        }
    }

    /// The user has logged in elsewhere: the newer session stays, this one ends (S-10, S-11). When it is the
    /// same client that has come back over another connection, nobody is told (S-12b).
    func messagingSuperseded(_ interest: UInt64, by holder: UInt64) {
        guard let session = index.owner(of: interest) else { return }
        guard holder == 0 || holder != session.instance else {
            session.connection?.replaced()
            return
        }
        session.connection?.disconnect(
            Disconnect(.superseded, "user \"\(session.userID)\" has logged in elsewhere"))
    }

    /// Takes channels up again that lost their attachment: some at once, each answer brings on the next, so
    /// that the link's queue stays short however many there are.
    func reattach(limit: Int) {
        guard messaging.isUp else { return }
        for request in index.reattach(limit: limit) { messaging.attach(request) }
    }

    /// Every answer brings on one more, a refusal because of a newer session too: otherwise as many of those
    /// as are under way at once would leave the rest detached.
    private func reattachNext() {
        if index.hasDetached { reattach(limit: 1) }
    }

    /// Messaging is there but refused or kept silent: try again after a while.
    private func reattachLater() {
        guard messaging.isUp, index.hasDetached else { return }
        eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) {
            self.reattach(limit: self.configuration.limits.reattachBatch)
        }
    }
}

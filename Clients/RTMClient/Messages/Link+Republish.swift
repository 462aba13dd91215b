import RTMModel
import RTMProtocol

// Publishes that are sent once more: after a lost connection, and when the server had lost its messaging
// service before the answer. Their sequence lets the server publish each of them once, and in order.
extension Link {
    /// What the lost connection left without an answer, in order and before anything new. The server
    /// publishes only what it hasn't published before, and answers the rest as the first time.
    func publishAgain() {
        for (id, publish) in requests.publishes {
            let age = now - publish.sentAt
            guard age < configuration.timing.resumeWindow else {
                requests.take(id)
                publish.call.fail(
                    RTMError(
                        .channelPublishMessageTimeout,
                        "the connection was away for too long to ask; whether the message was published is "
                            + "unknown"))
                continue
            }
            sendAgain(id, publish, age: age)
        }
    }

    private func sendAgain(_ id: UInt64, _ publish: RequestTable.UnansweredPublish, age: Duration) {
        requests.resume(id)
        var request = publish.request
        request.again = true
        request.ageMs = UInt32(clamping: Int(age / .milliseconds(1)) + 1)
        request.epoch = publish.epoch
        send(id) { $0.publish = request }
    }

    /// Whether a refused publish is sent again after a while: its server could not reach messaging, or lost
    /// it before the answer, and says when that may be over. New ones wait behind it, so that nothing
    /// overtakes it; what is under way already the server refuses in the same manner. The time of the call
    /// runs on.
    func willPublishAgain(_ id: UInt64, _ error: Rtm_Client_Error) -> Bool {
        guard error.code == .errorChannelPublishMessageFailed, error.retryAfterMs > 0,
            requests.postpone(id, RTMError(error, unknownCode: .channelPublishMessageFailed))
        else { return false }
        connection?.holdsPublishes = true
        if connection?.publishAgainAt == nil {
            let next = now + .milliseconds(error.retryAfterMs)
            connection?.publishAgainAt = next
            armTimer(by: next)
        }
        return true
    }

    func publishRefusedIfDue() {
        guard let due = connection?.publishAgainAt, now >= due else { return }
        connection?.publishAgainAt = nil
        for (id, publish) in requests.publishes {
            guard case .refused = publish.waiting else { continue }
            sendAgain(id, publish, age: now - publish.sentAt)
        }
    }

    /// A publish has its answer, or nobody waits for it: when it was the last, those behind it are sent.
    func publishHeld() {
        guard connection?.holdsPublishes == true, requests.sentPublishes == 0 else { return }
        connection?.holdsPublishes = false
        for (id, publish) in requests.publishes {
            requests.resume(id)
            send(id) { $0.publish = publish.request }
        }
    }

    /// Nobody waits for it any more. When its time is over, the server's last answer says more than that.
    func giveUp(_ publish: RequestTable.UnansweredPublish, _ error: RTMError) {
        defer { publishHeld() }
        guard case .refused(var refusal) = publish.waiting, error.code == Operation.publish.codes.timedOut
        else { return publish.call.fail(error) }
        refusal.reason +=
            ", for \(configuration.requestTimeout); whether the message was published is unknown"
        publish.call.fail(refusal)
    }
}

import RTMClient

// Who comes and goes, for a person: `-- alice is here`.
extension Transcript {
    func line(for event: PresenceEvent) -> String? {
        sentence(for: event).map { time(event.timestampMilliseconds) + " " + remark($0) }
    }

    private func sentence(for event: PresenceEvent) -> String? {
        let place = showsChannel ? " in \(event.channelName)" : ""
        switch event.change {
        case .snapshot(let users): return sentence(forUsers: users, place)
        case .interval(let interval): return sentence(for: interval).map { $0 + place }
        case .joined(let user, let states):
            return "\(user) is here\(place)" + (states.isEmpty ? "" : ": \(states.text)")
        case .left(let user): return "\(user) left\(place)"
        case .timedOut(let user): return "\(user) lost the connection\(place)"
        case .statesChanged(let user): return "\(user.userID)\(place): \(user.states.text)"
        case .outage(.notAskedFor): return nil
        case .outage(.unavailable):
            return "the server doesn't know at the moment who is\(place.isEmpty ? " here" : place)"
        }
    }

    /// - Parameter place: where they are, as in ` in lobby`.
    func sentence(forUsers users: [UserState], _ place: String = "") -> String {
        "here\(place): " + names(users)
    }

    /// Limit: names that are listed; the others are counted.
    private static let namesMax = 20

    private func names(_ users: [UserState]) -> String {
        guard !users.isEmpty else { return "nobody" }
        let listed = users.prefix(Self.namesMax).map { user in
            user.states.isEmpty ? user.userID : "\(user.userID) (\(user.states.text))"
        }
        let rest = users.count - listed.count
        return listed.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private func sentence(for interval: PresenceInterval) -> String? {
        let parts = [
            count(interval.joined, "came"), count(interval.left, "left"),
            count(interval.timedOut, "lost the connection"),
            interval.states.isEmpty ? nil : "\(interval.states.count) states changed",
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private func count(_ users: [String], _ verb: String) -> String? {
        switch users.count {
        case 0: nil
        case 1...3: users.joined(separator: ", ") + " " + verb
        default: "\(users.count) users \(verb)"
        }
    }
}

extension [String: String] {
    /// `key=value` pairs in the order of the keys.
    var text: String {
        isEmpty
            ? "no states" : sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

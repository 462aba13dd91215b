// Values of states and of metadata items. They travel as texts, so what is sealed is written in base64.

import Foundation
import RTMModel

extension Encryption {
    // MARK: States

    func seal(_ states: [String: String], in channel: UserChannel) throws(RTMError) -> [String: String] {
        var sealed: [String: String] = [:]
        for (key, value) in states {
            let place = ContentPlace(.state, channel.type, channel.name, publisher: userID, item: key)
            sealed[key] = try seal(.text(value), at: place, for: .setState).base64EncodedString()
        }
        return sealed
    }

    func open(_ users: [UserState], in channel: UserChannel) -> [UserState] {
        var failures = FailureTally()
        let opened = users.map { open($0, in: channel, &failures) }
        for event in failures.events(.state, channel.type, channel.name) { report(event) }
        return opened
    }

    func open(_ user: UserState, in channel: UserChannel) -> UserState {
        open([user], in: channel).first ?? user
    }

    /// Opens the states that an event shows.
    func open(_ change: PresenceNews.Change, in channel: UserChannel) -> PresenceNews.Change {
        switch change {
        case .states(let change): return .states(open([change], in: channel).first ?? change)
        case .interval(var interval):
            interval.states = open(interval.states, in: channel)
            return .interval(interval)
        case .joined, .left, .timedOut: return change
        }
    }

    private func open(
        _ changes: [PresenceNews.StateChange], in channel: UserChannel
    ) -> [PresenceNews.StateChange] {
        let users = open(changes.map { UserState(userID: $0.userID, states: $0.items) }, in: channel)
        return zip(changes, users).map { change, user in
            var change = change
            change.items = user.states
            return change
        }
    }

    private func open(
        _ user: UserState, in channel: UserChannel, _ failures: inout FailureTally
    ) -> UserState {
        var opened = user
        for (key, value) in user.states {
            let place = ContentPlace(.state, channel.type, channel.name, publisher: user.userID, item: key)
            switch openText(Data(base64Encoded: value), at: place) {
            case .success(let text): opened.states[key] = text
            case .failure(let failure):
                opened.states[key] = ""
                failures.add(failure, user.userID)
            }
        }
        return opened
    }

    // MARK: Metadata

    /// Seals what a write sets. A reader may not learn from the server who wrote an item (D-11), so the
    /// writer's name travels with the value. It is authenticated like every publisher.
    func seal(_ write: MetadataWrite) throws(RTMError) -> MetadataWrite {
        guard write.kind == .set || write.kind == .update else { return write }
        var sealed = write
        for index in write.items.indices {
            let item = write.items[index]
            let place = ContentPlace(write.target, author: userID, key: item.key)
            let value = try seal(.text(item.value), at: place, for: write.operation)
            sealed.items[index].value = AuthoredContent(author: userID, sealed: value).text
        }
        return sealed
    }

    func open(_ metadata: RTMMetadata, of target: MetadataTarget) -> RTMMetadata {
        var failures = FailureTally()
        var opened = metadata
        for index in metadata.items.indices {
            switch open(metadata.items[index], of: target) {
            case .success(let value): opened.items[index].value = value
            case .failure(let failure):
                opened.items[index].value = ""
                opened.items[index].decryptionFailure = failure
                failures.add(failure, nil)
            }
        }
        for event in failures.events(.metadata, target.channelType, target.name) { report(event) }
        return opened
    }

    private func open(_ item: MetadataItem, of target: MetadataTarget) -> Result<String, DecryptionFailure> {
        guard let content = AuthoredContent(item.value) else {
            return .failure(DecryptionFailure(.notEncrypted))
        }
        let place = ContentPlace(target, author: content.author, key: item.key)
        return openText(content.sealed, at: place).flatMap { value in
            // The server may name no author, but not another one.
            guard let author = item.author, author != content.author else { return .success(value) }
            return .failure(DecryptionFailure(.notAuthentic))
        }
    }
}

extension ContentPlace {
    fileprivate init(_ target: MetadataTarget, author: String, key: String) {
        self.init(.metadata, target.channelType, target.name, publisher: author, item: key)
    }
}

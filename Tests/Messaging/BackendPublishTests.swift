import NIOCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("What a backend publishes may depend on what the channel has") struct BackendPublishTests {
    private let lobby = ChannelKey.message("lobby")

    private func newest(_ position: StreamPosition) -> PublishCondition { PublishCondition(newest: position) }

    private func version(_ number: UInt64, _ epoch: String = "") -> PublishCondition {
        PublishCondition(version: number, versionEpoch: epoch)
    }

    @Test("W-26: of those that expect the same newest message, one is published, and the others learn it")
    func compareAndSet() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let none = StreamPosition(epoch: 7, offset: 0)
        let first = try broker.publish("1", to: lobby, if: newest(none), now: 1)
        #expect(first.outcome == .published && first.position.epoch == 7)
        let late = try broker.publish("2", to: lobby, if: newest(none), now: 2)
        #expect(late.outcome == .outdatedPosition && late.position == first.position)
        #expect(try broker.read(lobby, after: none, now: 3).entries.count == 1)
        let second = try broker.publish("2", to: lobby, if: newest(late.position), now: 3)
        #expect(second.outcome == .published && second.position.offset == first.position.offset + 1)
        // Another channel of the partition has no newer message for that.
        let other = try broker.publish("1", to: .message("other"), if: newest(none), now: 4)
        #expect(other.outcome == .published)
        // The same offset in another log is another message.
        let elsewhere = StreamPosition(epoch: 6, offset: second.position.offset)
        #expect(
            try broker.publish("3", to: lobby, if: newest(elsewhere), now: 5).outcome == .outdatedPosition)
    }

    @Test("W-26: events of presence, metadata and locks don't count as newer messages")
    func events() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let first = try broker.publish("1", to: lobby, if: nil, now: 1)
        _ = try broker.append(
            to: lobby, by: "anna", session: 5, feature: .presence, source: 3, sequence: 1, now: 2)
        #expect(try broker.publish("2", to: lobby, if: newest(first.position), now: 3).outcome == .published)
    }

    @Test("W-26: a message that has left the tail, or a forgotten channel, is still the newest one")
    func forgotten() throws {
        var broker = Broker(limits: .limits(ageMax: 1_000, idleMax: 1_000), firstEpoch: 7)
        let first = try broker.publish("1", to: lobby, if: nil, now: 1)
        for now in stride(from: UInt64(10_000), through: 100_000, by: 10_000) { broker.sweep(100, now: now) }
        #expect(broker.channelCount == 0)
        let none = StreamPosition(epoch: 7, offset: 0)
        let late = try broker.publish("2", to: lobby, if: newest(none), now: 100_001)
        #expect(late.outcome == .outdatedPosition && late.position == first.position)
        #expect(
            try broker.publish("2", to: lobby, if: newest(first.position), now: 100_002).outcome == .published
        )
    }

    @Test("W-27: a state that isn't newer than the last one is refused, unless it has another epoch")
    func versions() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        #expect(try broker.publish("5", to: lobby, if: version(5), now: 1).outcome == .published)
        // A message without a version is none of the states.
        #expect(try broker.publish("x", to: lobby, if: nil, now: 2).outcome == .published)
        for number in [4, 5] as [UInt64] {
            let refused = try broker.publish("\(number)", to: lobby, if: version(number), now: 3)
            #expect(refused.outcome == .outdatedVersion && refused.version == 5)
        }
        #expect(try broker.publish("6", to: lobby, if: version(6), now: 4).outcome == .published)
        #expect(try broker.publish("1", to: lobby, if: version(1, "b"), now: 5).outcome == .published)
        let refused = try broker.publish("1", to: lobby, if: version(1, "b"), now: 6)
        #expect(refused.outcome == .outdatedVersion && refused.versionEpoch == "b")
        #expect(try broker.publish("1", to: .message("other"), if: version(1), now: 7).outcome == .published)
    }

    @Test("W-24: a repetition gets the first answer, whatever was published since, and is marked")
    func repeated() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let origin = PublishOrigin(instance: 5, sequence: 1, againAfter: 0)
        let expected = PublishCondition(newest: StreamPosition(epoch: 7, offset: 0), version: 1)
        let first = try broker.publish("1", to: lobby, if: expected, origin: origin, now: 1)
        #expect(first.outcome == .published && first.rememberedMilliseconds == 120_000)
        _ = try broker.publish("2", to: lobby, if: version(9), now: 2)
        let again = try broker.publish("1", to: lobby, if: expected, origin: origin, now: 3)
        #expect(again.outcome == .repeated && again.position == first.position)
        #expect(again.timestampMilliseconds == first.timestampMilliseconds)
        #expect(try broker.publish("3", to: lobby, if: nil, now: 4).rememberedMilliseconds == 0)
    }

    @Test("W-24: a client that names the instance of a backend's key has not published under it")
    func clientUnderAKey() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let origin = PublishOrigin(instance: 5, sequence: 9, againAfter: 0)
        _ = try broker.publish("garbage", to: lobby, by: "anna", session: 3, origin: origin, now: 1)
        let paid = try broker.publish("paid", to: lobby, if: nil, origin: origin, now: 2)
        #expect(paid.outcome == .published)
    }

    @Test("W-24: a key is found, and a new key is new, however many messages a busy channel has since")
    func busyChannel() throws {
        var broker = Broker(limits: .limits(tailBytesMax: 64 << 20), firstEpoch: 7)
        func origin(_ key: UInt64) -> PublishOrigin {
            PublishOrigin(instance: key, sequence: 1, againAfter: 0)
        }
        let first = try broker.publish("1", to: lobby, if: nil, origin: origin(1), now: 1)
        for _ in 0..<100 { _ = try broker.publish("m", times: 100, to: lobby, now: 2) }
        let second = try broker.publish("1", to: lobby, if: nil, origin: origin(2), now: 3)
        #expect(second.outcome == .published)
        let again = try broker.publish("1", to: lobby, if: nil, origin: origin(1), now: 4)
        #expect(again.outcome == .repeated && again.position == first.position)
        var next = try Broker(reading: broker.checkpoint(now: 5), now: 6)
        let later = try next.publish("1", to: lobby, if: nil, origin: origin(1), now: 7)
        #expect(later.outcome == .repeated && later.position == first.position)
    }

    @Test(
        "W-24: another content under the same key is refused, also by the next leader",
        arguments: [false, true])
    func otherContent(isCheckpoint: Bool) throws {
        func origin(_ hash: UInt64) -> PublishOrigin {
            PublishOrigin(instance: 5, sequence: hash, againAfter: 0)
        }
        // The hashes in both orders, and two of which an entry of the log has the same half.
        for (hash, other) in [(7, 9), (9, 7), (7, 7 + (1 << 40))] as [(UInt64, UInt64)] {
            var first = Broker(limits: .limits(), firstEpoch: 7)
            first.keepJournal(settlingFor: 0, now: 1)
            let published = try first.publish("1", to: lobby, if: nil, origin: origin(hash), now: 1)
            #expect(published.outcome == .published)
            let refused = try first.publish("1", to: lobby, if: nil, origin: origin(other), now: 2)
            #expect(refused.outcome == .otherContent)
            var batches = [first.takeJournal()]
            if isCheckpoint {
                var cursor = CheckpointCursor()
                batches = [first.checkpointPage(&cursor, now: 5).bytes]
            }
            var second = try Broker(reading: batches, now: 60_000)
            let late = try second.publish("1", to: lobby, if: nil, origin: origin(other), now: 60_000)
            #expect(late.outcome == .otherContent)
            let again = try second.publish("1", to: lobby, if: nil, origin: origin(hash), now: 60_000)
            #expect(again.outcome == .repeated && again.position == published.position)
            // In another channel, the key is another one.
            let elsewhere = try second.publish(
                "1", to: .message("other"), if: nil, origin: origin(other), now: 60_001)
            #expect(elsewhere.outcome == .published)
        }
    }

    @Test(
        "W-26, W-27: the next leader compares with what the last one knew",
        arguments: [false, true])
    func successor(isCheckpoint: Bool) throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        let published = try first.publish("5", to: lobby, if: version(5, "a"), now: 2)
        var batches = [first.takeJournal()]
        if isCheckpoint {
            var cursor = CheckpointCursor()
            batches = [first.checkpointPage(&cursor, now: 5).bytes]
        }
        var second = try Broker(reading: batches, now: 100)
        let refused = try second.publish("5", to: lobby, if: version(5, "a"), now: 101)
        #expect(refused.outcome == .outdatedVersion && refused.version == 5 && refused.versionEpoch == "a")
        let none = StreamPosition(epoch: 7, offset: 0)
        let late = try second.publish("6", to: lobby, if: newest(none), now: 102)
        #expect(late.outcome == .outdatedPosition && late.position == published.position)
        #expect(
            try second.publish("6", to: lobby, if: newest(published.position), now: 103).outcome == .published
        )
    }

    @Test("W-27: a version is recorded again, so a journal that is cut off at its old end has it")
    func cutOff() throws {
        var first = Broker(limits: .limits(), firstEpoch: 7)
        first.keepJournal(settlingFor: 0, now: 1)
        _ = try first.attach(.init(link: 1, id: 1), to: lobby, after: nil, now: 1)
        _ = try first.publish("5", to: lobby, if: version(5), now: 2)
        // This is cut off.
        _ = first.takeJournal()
        first.journalHeads(now: 1_000)
        for now in stride(from: UInt64(20_000), through: 60_000, by: 20_000) {
            _ = try first.publish("x", to: lobby, if: nil, now: now)
            first.sweep(10, now: now)
        }
        var second = try Broker(reading: [first.takeJournal()], now: 60_001)
        #expect(try second.publish("5", to: lobby, if: version(5), now: 60_002).outcome == .outdatedVersion)
    }

    @Test("a version is forgotten with its channel, and another channel in its slot hasn't got it")
    func forgottenVersion() throws {
        var broker = Broker(limits: .limits(ageMax: 1_000, idleMax: 1_000), firstEpoch: 7)
        _ = try broker.publish("5", to: lobby, if: version(5), now: 1)
        for now in stride(from: UInt64(10_000), through: 100_000, by: 10_000) { broker.sweep(100, now: now) }
        #expect(broker.channels.versions.isEmpty)
        #expect(
            try broker.publish("1", to: .message("other"), if: version(1), now: 100_001).outcome == .published
        )
    }

    @Test("a message that finds no receiver counts as no state")
    func offline() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        #expect(throws: RTMError.self) {
            try broker.publish("1", to: .user("anna"), if: version(1), needsReceiver: true, now: 1)
        }
        _ = try broker.attach(.init(link: 1, id: 1), to: .user("anna"), after: nil, ownership: 0, now: 2)
        #expect(
            try broker.publish("1", to: .user("anna"), if: version(1), needsReceiver: true, now: 3).outcome
                == .published)
    }
}

@Suite("Lists of channels and of users who are online") struct ChannelScanTests {
    /// All rows, page by page.
    private func names(
        _ broker: Broker, _ type: ChannelType, _ prefix: String = "", limit: UInt32 = 2
    ) throws -> [String] {
        var (names, after) = ([String](), "")
        while true {
            let request = ListRequest(
                appID: "app", type: type, prefix: prefix, after: after, limit: limit)
            let page = try broker.page(request)
            names += page.channels.map(\.name)
            guard page.hasMore else { return names }
            after = try #require(page.channels.last?.name)
        }
    }

    @Test("W-28: every channel of the app and type once, in the order of names, whatever the size of a page")
    func pages() throws {
        var broker = Broker(limits: .limits(channelsMax: 10_000, partitionCount: 16), firstEpoch: 7)
        let all = (0..<5_000).map { "c\($0)" }
        for name in all.shuffled() { _ = try broker.publish("x", to: .message(name), now: 1) }
        _ = try broker.publish("x", to: .message("elsewhere", of: "other"), now: 1)
        _ = try broker.publish("x", to: .message("_system"), now: 1)
        #expect(try names(broker, .message, limit: 1_000) == all.sorted())
        #expect(try names(broker, .message, limit: 333) == all.sorted())
        #expect(try names(broker, .message, "c49", limit: 7) == all.filter { $0.hasPrefix("c49") }.sorted())
        #expect(try names(broker, .message, "d").isEmpty)
        let page = try broker.page(ListRequest(appID: "app", type: .message, prefix: "c1", limit: 1))
        #expect(page.total == 1_111 && page.hasMore && page.channels.map(\.name) == ["c1"])
        #expect(page.channels[0].newest.offset > 0 && page.channels[0].timestampMilliseconds == 2)
        #expect(try broker.page(ListRequest(appID: "nobody", type: .message, limit: 1)).total == 0)
    }

    @Test("W-28: of users those whose inbox somebody holds")
    func users() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        for (number, name) in ["anna", "bert", "carl"].enumerated() {
            _ = try broker.attach(
                .init(link: 1, id: UInt64(number)), to: .user(name), after: nil, ownership: 0, now: 1)
        }
        broker.detach(.init(link: 1, id: 1), now: 2)
        #expect(try names(broker, .user) == ["anna", "carl"])
        #expect(broker.listing(.user("bert"), now: 3).channels.isEmpty)
        #expect(broker.listing(.user("anna"), now: 3).channels.count == 1)
    }

    @Test("a page has 1 to 1,000 rows")
    func limits() {
        for limit in [0, 1_001] as [UInt32] {
            #expect(throws: RTMError.self) {
                try ChannelScan(ListRequest(appID: "app", type: .message, limit: limit))
            }
        }
    }

    @Test("one channel has a place also when it isn't in memory")
    func one() throws {
        var broker = Broker(limits: .limits(), firstEpoch: 7)
        let nothing = broker.listing(.message("a"), now: 1).channels
        #expect(nothing.map(\.newest) == [StreamPosition(epoch: 7, offset: 0)])
        #expect(nothing.map(\.timestampMilliseconds) == [0])
        let published = try broker.publish("x", to: .message("a"), if: nil, now: 2)
        #expect(broker.listing(.message("a"), now: 3).channels.map(\.newest) == [published.position])
    }
}

extension Broker {
    /// Publishes a text as a backend does.
    fileprivate mutating func publish(
        _ text: String, to key: ChannelKey, if condition: PublishCondition?, needsReceiver: Bool = false,
        origin: PublishOrigin = .none, now: UInt64
    ) throws(RTMError) -> BackendPublishResponse {
        let result: Result<BackendPublishResponse, RTMError> = key.withView { channel in
            text.withWireText { text in
                Result { () throws(RTMError) in
                    try publish(
                        PublishRequest(
                            appID: channel.appID, channelType: channel.type, channel: channel.name,
                            publisher: text, publisherSession: 0, needsReceiver: needsReceiver,
                            origin: origin,
                            messages: .messages([MessageView(type: .text, payload: text, customType: text)])),
                        if: condition, now: now
                    ).response
                }
            }
        }
        return try result.get()
    }

    /// A broker that continues with what another one has journaled.
    fileprivate init(reading batches: [ByteBuffer], now: UInt64) throws {
        var replay = JournalReplay(limits: .limits(), firstEpoch: 7)
        for batch in batches {
            try batch.withUnsafeReadableBytes { bytes in
                try Result { () throws(JournalFault) in try replay.read(bytes) }.get()
            }
        }
        self.init(continuing: replay, now: now)
    }

    fileprivate func page(_ request: ListRequest) throws -> ListResponse {
        var scan = try ChannelScan(request)
        while true {
            if let answer = scan.look(in: channels, settlesAt: settlesAt, now: 10) { return answer }
        }
    }
}

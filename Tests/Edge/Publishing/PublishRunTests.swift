import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("A run of publishes")
struct PublishRunTests {
    private let run = PublishRun()
    private let publisher = Caller.test(1)

    @Test("follows: the same session and channel, and the next request id")
    func follows() {
        begin(requestID: 7, channel: "lobby")
        #expect(continues(8, "lobby"))
        run.append(message("b"))
        #expect(continues(9, "lobby"))
        #expect(!continues(8, "lobby"))
        #expect(!continues(10, "lobby"))
        #expect(!continues(9, "lobbi"))
        #expect(!continues(9, "lobb"))
        #expect(!continues(9, "lobby", type: .user))
        #expect(!continues(9, "lobby", storeInHistory: true))
        #expect(!continues(9, "lobby", by: .test(2)))
    }

    @Test("the log gets the instance and the first sequence; a run has no hole between its sequences")
    func sequences() {
        begin(requestID: 7, channel: "lobby", sequence: 40)
        #expect(continues(8, "lobby", sequence: 41))
        #expect(!continues(8, "lobby", sequence: 42))
        #expect(!continues(8, "lobby", sequence: 0))
        run.take { _, request in
            #expect(request.origin == PublishOrigin(instance: 0xA11CE, sequence: 40))
        }
    }

    @Test("what is sent again stands alone, before and behind others")
    func again() {
        begin(requestID: 7, channel: "lobby", sequence: 40)
        #expect(!continues(8, "lobby", sequence: 41, againAfter: 5))
        run.take { _, _ in }
        begin(requestID: 8, channel: "lobby", sequence: 41, againAfter: 5)
        #expect(!continues(9, "lobby", sequence: 42))
        run.take { _, request in
            #expect(
                request.origin == PublishOrigin(instance: 0xA11CE, sequence: 41, againAfter: 5))
        }
    }

    @Test("M-25: a message that another origin counts keeps that origin, and stands in no run of others")
    func origin() {
        begin(requestID: 7, channel: "lobby", origin: 9, sequence: 40)
        #expect(continues(8, "lobby", origin: 9, sequence: 41))
        #expect(!continues(8, "lobby", origin: 8, sequence: 41))
        #expect(!continues(8, "lobby", sequence: 41))
        run.take { _, request in #expect(request.origin == PublishOrigin(instance: 9, sequence: 40)) }
        begin(requestID: 7, channel: "lobby", sequence: 40)
        #expect(!continues(8, "lobby", origin: 9, sequence: 41))
    }

    @Test("an empty run is continued by nothing, and gives nothing")
    func empty() {
        #expect(!continues(0, ""))
        let isTaken = run.take { _, _ in Issue.record("there was nothing to take") }
        #expect(!isTaken)
    }

    @Test("M-21: what is taken has the messages in order, and names the session that doesn't receive them")
    func take() throws {
        begin(requestID: 7, channel: "lobby")
        run.append(message("b"))
        run.append(message("c"))
        let isTaken = run.take { requestID, request in
            #expect(requestID == 7)
            #expect(request.appID.string == "app" && request.publisher.string == publisher.userID)
            #expect(request.channelType == .message && request.channel.string == "lobby")
            #expect(request.publisherSession == publisher.session.rawValue && !request.needsReceiver)
            #expect(request.messages.texts == ["a", "b", "c"])
        }
        #expect(isTaken)
        #expect(!continues(10, "lobby"))
        begin(requestID: 20, channel: "hall")
        run.take { requestID, request in
            #expect(requestID == 20 && request.channel.string == "hall")
            #expect(request.messages.texts == ["a"])
        }
    }

    @Test("M-33: an inbox's owner sees his own message, and somebody has to be there")
    func inbox() {
        begin(requestID: 1, channel: "bob", type: .user)
        run.take { _, request in
            #expect(request.channelType == .user && request.publisherSession == 0 && request.needsReceiver)
        }
    }

    @Test("is full after so many messages or bytes, and the wire carries all of them")
    func full() {
        begin(requestID: 1, channel: "lobby")
        var count = 1
        while !run.isFull {
            run.append(message("x"))
            count += 1
        }
        run.take { _, request in #expect(request.messages.texts.count == count) }
        #expect(count == 256)
        begin(requestID: 1, channel: "lobby")
        count = 1
        while !run.isFull {
            run.append(message(String(repeating: "x", count: 30_000)))
            count += 1
        }
        #expect(count == 4)
    }

    // MARK: -

    private func begin(requestID: UInt64, channel: String, type: ChannelType = .message) {
        begin(requestID: requestID, channel: channel, type: type, sequence: 0)
    }

    private func begin(
        requestID: UInt64, channel: String, type: ChannelType = .message, origin: UInt64 = 0,
        sequence: UInt64, againAfter: UInt32? = nil
    ) {
        channel.withWireText { name in
            run.begin(
                publisher, requestID, type,
                ClientRequest.Publish(
                    channelType: type, channel: name, message: message("a"), storeInHistory: false,
                    origin: origin, sequence: sequence, againAfter: againAfter))
        }
        run.append(message("a"))
    }

    private func continues(
        _ requestID: UInt64, _ channel: String, type: ChannelType = .message, storeInHistory: Bool = false,
        by other: Caller? = nil, origin: UInt64 = 0, sequence: UInt64 = 0, againAfter: UInt32? = nil
    ) -> Bool {
        channel.withWireText { name in
            let request = ClientRequest.Publish(
                channelType: type, channel: name, message: message("x"), storeInHistory: storeInHistory,
                origin: origin, sequence: sequence, againAfter: againAfter)
            return run.continues((other ?? publisher).session, request, requestID)
        }
    }

    private func message(_ text: StaticString) -> MessageView {
        view(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Never given back: a handful in a test.
    private func message(_ text: String) -> MessageView {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        copy.copyBytes(from: text.utf8)
        return view(UnsafeRawBufferPointer(copy))
    }

    private func view(_ bytes: UnsafeRawBufferPointer) -> MessageView {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        return MessageView(type: .text, payload: WireText(bytes), customType: WireText(none))
    }
}

extension Caller {
    fileprivate static func test(_ id: UInt64) -> Caller {
        Caller(
            appID: "app", userID: "user-\(id)", session: SessionID(rawValue: id), instance: 0xA11CE)
    }
}

extension MessageRun {
    fileprivate var texts: [String] { map(\.payload.string) }
}

import NIOCore
import RTMModel
import RTMPublishHook
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("A message that is on hold for a hook")
struct HeldPublishTests {
    private let start = NIODeadline.uptimeNanoseconds(1)

    private func held(_ message: MessageType, againAfter: UInt32?) -> HeldPublish {
        let session = Session(
            key: SessionKey(id: SessionID(rawValue: 7), slot: 0),
            application: Application(id: "app", subscriptionsMax: 1, rates: .unlimited), userID: "ada",
            instance: 0xA11CE, heartbeatInterval: 10, connection: RecordingConnection())
        return "stage/chat".withWireText { channel in
            "héllo".withWireText { payload in
                "note".withWireText { customType in
                    HeldPublish(
                        ClientRequest.Publish(
                            channelType: .topic, channel: channel,
                            message: MessageView(
                                type: message, payload: payload, customType: customType, priority: .highest),
                            storeInHistory: false, sequence: 40, againAfter: againAfter, epoch: 3), 11,
                        .topic,
                        of: session, now: start)
                }
            }
        }
    }

    @Test("continues as it came, and is older by the time that it was on hold")
    func asItCame() {
        let message = held(.text, againAfter: 50)
        #expect(message.isAgain && message.key == ChannelKey(appID: "app", type: .topic, name: "stage/chat"))
        message.withRequest(nil, now: start + .milliseconds(300)) { request in
            #expect(request.channelType == .topic && request.channel.string == "stage/chat")
            #expect(request.message.type == .text && request.message.payload.string == "héllo")
            #expect(request.message.customType.string == "note" && request.message.priority == .highest)
            #expect(request.origin == 0 && request.sequence == 40 && request.epoch == 3)
            #expect(request.againAfter == 350)
        }
        held(.binary, againAfter: nil).withRequest(nil, now: start + .seconds(1)) { request in
            #expect(request.message.type == .binary && request.againAfter == nil)
        }
    }

    @Test("continues with what the hook has made of it, and as the message that it was")
    func changed() {
        let content = PublishHookMessage(isText: false, payload: [1, 255], customType: "")
        held(.text, againAfter: nil).withRequest(content, now: start) { request in
            #expect(request.message.type == .binary && Array(request.message.payload.bytes) == [1, 255])
            #expect(request.message.customType.isEmpty && request.message.priority == .highest)
            #expect(request.sequence == 40)
        }
    }

    @Test("W-70: the hook is asked about what the publisher has sent, by its origin")
    func question() {
        let question = held(.text, againAfter: 50).question
        #expect(question.publisher == "ada" && question.message.payload == Array("héllo".utf8))
        #expect(question.origin == 0xA11CE && question.sequence == 40 && question.message.isText)
        #expect(question.body == held(.text, againAfter: nil).question.body)
    }
}

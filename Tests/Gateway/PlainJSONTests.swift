import Foundation
import HTTPTypes
import HummingbirdCore
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("Messages in JSON: the fast reader and the writer, beside Foundation's")
struct PlainJSONTests {
    private static let all = #"""
        {"channel": "lobby", "user": "anna", "message": "a \"b\"\n\t\\\/ ä 😀", "data": "AAEC", "customType": "t",
         "publisher": "p", "store": true, "ifOffset": 0, "ifEpoch": 9999999999999999999,
         "version": 12, "versionEpoch": ""}
        """#

    private func plain(_ json: String) -> MessageRoutes.Message? {
        try? MessageRoutes.Message.plain(Array(json.utf8))
    }

    private func strict(_ json: some Sequence<UInt8>) -> MessageRoutes.Message? {
        try? Request.decodeStrictly(MessageRoutes.Message.self, from: Array(json))
    }

    @Test(
        "what is written as usual is read fast, and as Foundation reads it",
        arguments: [
            all, "{}", " { } ", #"{"channel":"a"}"#, "\r\n{\t\"store\" : false }\n", #"{"message": ""}"#,
            #"{"data": ""}"#, #"{"version": 0}"#, #"{"message": "\/"}"#,
        ])
    func usual(json: String) {
        let message = plain(json)
        #expect(message != nil && message == strict(json.utf8))
    }

    @Test(
        "what is unusual is left to Foundation, whether it is right or wrong",
        arguments: [
            "", " ", "[]", "{", "}", "{}}", "{} {}", "{,}", #"{"channel": "a",}"#, #"{"channel" "a"}"#,
            #"{"channel": "a" "user": "b"}"#, #"{"channel": "a", "channel": "a"}"#, #"{"chanel": "a"}"#,
            #"{"channel": null}"#, #"{"channel": 1}"#, #"{"channel": "a}"#, #"{"channel": "\u0061"}"#,
            #"{"channel": "\x"}"#, #"{"channel": "\"#, "{\"channel\": \"a\nb\"}", #"{"store": True}"#,
            #"{"store": tru}"#, #"{"store": "true"}"#, #"{"version": 01}"#, #"{"version": -1}"#,
            #"{"version": 1.0}"#, #"{"version": 1e3}"#, #"{"version": 18446744073709551616}"#,
            #"{"version": }"#, #"{"data": "!"}"#, #"{"data": "AAE"}"#, "\u{FEFF}{}", #"{channel: "a"}"#,
        ])
    func unusual(json: String) { #expect(plain(json) == nil) }

    @Test("bytes that are no UTF-8 are not read")
    func encoding() throws {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3]] {
            let json = Array(#"{"channel": ""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(try MessageRoutes.Message.plain(json) == nil)
        }
        #expect(
            try MessageRoutes.Message.plain(Array("{}".data(using: .utf16LittleEndian) ?? Data())) == nil)
    }

    @Test("whatever is changed in a body, the fast reader reads nothing that Foundation reads differently")
    func changed() {
        var random = SeededGenerator(seed: 1)
        let pieces = Array(#"{}[]",:\u0 1nt"#.utf8) + [0, 0x0A, 0x7F, 0x80, 0xC3, 0xFF]
        var read = 0
        for _ in 0..<20_000 {
            var json = Array(Self.all.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = json.indices.randomElement(using: &random) ?? 0
                let piece = pieces.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<3, using: &random) {
                case 0: json[place] = piece
                case 1: json.insert(piece, at: place)
                default: json.remove(at: place)
                }
            }
            guard let message = try? MessageRoutes.Message.plain(json) else { continue }
            read += 1
            #expect(message == strict(json), "\(String(decoding: json, as: UTF8.self))")
        }
        #expect(read > 1_000, "so that something was compared")
    }

    @Test("a batch is read fast, with its messages in their order")
    func batch() {
        let json = #"{"messages": [{"channel": "a", "message": "1"}, {}, {"user": "b"}]}"#
        let batch = try? MessageRoutes.Batch.plain(Array(json.utf8))
        #expect(batch?.messages.elements.map(\.channel) == ["a", nil, nil])
        #expect(batch == (try? Request.decodeStrictly(MessageRoutes.Batch.self, from: Array(json.utf8))))
        for wrong in ["{}", #"{"messages": [{},]}"#, #"{"messages": [], "messages": []}"#, #"{"a": []}"#] {
            #expect((try? MessageRoutes.Batch.plain(Array(wrong.utf8))) == nil)
        }
    }

    @Test("what is written is JSON, with its members in the order of their names")
    func written() throws {
        let texts = ["", "a/b", "\"\\\"", "\n\u{1}\u{1F}\u{7F}", "ä 😀"]
        var outcomes = texts.map { MessageRoutes.Outcome(channel: $0) }
        outcomes[0].error = APIError(.badRequest, "wrong", "a \"reason\"")
        outcomes[1].published = MessageRoutes.Published(
            BackendPublishResponse(
                outcome: .repeated, position: StreamPosition(epoch: .max, offset: 0),
                timestampMilliseconds: 1_700_000_000_000, rememberedMilliseconds: 120_000))
        outcomes[1].user = "u"
        let bytes = JSONWriter(MessageRoutes.Outcomes(results: outcomes)).bytes
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(bytes)) as? [String: [[String: Any]]])
        let results = try #require(object["results"])
        #expect(results.map { $0["channel"] as? String } == texts)
        #expect((results[0]["error"] as? [String: Any])?["reason"] as? String == "a \"reason\"")
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text.contains(
                #"{"channel":"a/b","epoch":18446744073709551615,"offset":0,"rememberedFor":120,"replayed":true,"#
                    + #""timestamp":1700000000000,"user":"u"}"#), "\(text)")
    }

    @Test("a body of broadcast is read as Foundation reads it")
    func broadcast() throws {
        let json =
            #"{"channels": ["a", "b"], "message": "m", "store": true, "version": 3, "versionEpoch": "e"}"#
        let body = try MessageRoutes.Broadcast.plain(Array(json.utf8))
        let strict = try Request.decodeStrictly(MessageRoutes.Broadcast.self, from: Array(json.utf8))
        #expect(body?.channels.all == ["a", "b"] && body == strict)
        for wrong in [#"{"message": "m"}"#, #"{"channels": ["a"], "x": 1}"#, #"{"channels": [1]}"#] {
            #expect(try MessageRoutes.Broadcast.plain(Array(wrong.utf8)) == nil)
        }
    }

    /// Lists with one element too many, and nothing of JSON behind it: it isn't read.
    private static let long = [
        #"{"channels": [\#(String(repeating: #""","#, count: 1_001))"#,
        #"{"messages": [\#(String(repeating: "{},", count: 1_001))"#,
    ]

    @Test("a list is refused where its limit is reached, and the rest of the body isn't read")
    func longList() {
        let isBroadcast = #expect(throws: APIError.self) {
            _ = try MessageRoutes.Broadcast.plain(Array(Self.long[0].utf8))
        }
        let isBatch = #expect(throws: APIError.self) {
            _ = try MessageRoutes.Batch.plain(Array(Self.long[1].utf8))
        }
        #expect(isBroadcast?.body.name == "tooManyMessages" && isBatch?.body.name == "tooManyMessages")
    }

    @Test("a long list that is left to Foundation is refused before its elements are read")
    func longUnusualList() {
        let names = Array(repeating: #""\u0061""#, count: 1_001).joined(separator: ",")
        let messages = Array(repeating: #"{"channel": null}"#, count: 1_001).joined(separator: ",")
        let broadcast = #expect(throws: APIError.self) {
            try Request.decode(
                MessageRoutes.Broadcast.self, from: Array(#"{"channels": [\#(names)]}"#.utf8))
        }
        let batch = #expect(throws: APIError.self) {
            try Request.decode(MessageRoutes.Batch.self, from: Array(#"{"messages": [\#(messages)]}"#.utf8))
        }
        #expect(broadcast?.body.name == "tooManyMessages" && batch?.body.name == "tooManyMessages")
    }
}

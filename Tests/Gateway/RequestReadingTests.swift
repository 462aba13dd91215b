import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOPosix
import RTMAppConfiguration
import RTMModel
import RTMServiceLink
import RTMTestSupport
import Testing

@testable import RTMGatewayServer

@Suite("Bodies, queries and paths: what is read, and what is refused with its place")
struct RequestReadingTests {
    private func refusal(_ json: String, upTo bytesMax: Int = 1_000) async -> APIError? {
        let request = Request(
            head: .init(method: .post, scheme: nil, authority: nil, path: "/"),
            body: .init(buffer: ByteBuffer(string: json)))
        do {
            _ = try await request.body(MessageRoutes.Batch.self, upTo: bytesMax)
            return nil
        } catch {
            return error as? APIError
        }
    }

    private func client(_ user: String) -> APIClient {
        APIClient(UserRights(userID: user, grant: nil, policies: ForeignPolicies()), app: "dev")
    }

    @Test("a body is read with all its keys")
    func body() async { #expect(await refusal(#"{"messages": [{"channel": "a", "message": "b"}]}"#) == nil) }

    @Test(
        "a wrong body is refused with the place of what is wrong",
        arguments: [
            ("", "the body is not JSON"), ("[]", "the body has to be an object"),
            ("{}", #""messages" is missing"#),
            (#"{"messages": null}"#, #""messages" is null, and has to be a list"#),
            (#"{"messages": 1}"#, #""messages" has to be a list"#),
            (#"{"messages": [], "mesages": 1}"#, #"there is no key "mesages"; there are "messages""#),
            (#"{"messages": [{"channel": 1}]}"#, #""messages[0].channel" has to be a text"#),
            (#"{"messages": [{}, {"chanel": "a"}]}"#, #""messages[1].chanel""#),
            (#"{"messages": [{"data": "!"}]}"#, #""messages[0].data" is not Base64"#),
            (#"{"messages": [{"store": "yes"}]}"#, #""messages[0].store" has to be true or false"#),
            (#"{"messages": [{"channel": "a", "message": "\ud83d"}]}"#, #"half a character, \ud83d"#),
            (#"{"messages": [{"channel": "a", "message": "\\\ude00!"}]}"#, #"half a character, \ude00"#),
            (#"{"messages": [{"version": -1, "message": "\\ud83d"}]}"#, #""messages[0].version" is -1"#),
            (#"{"messages": [{"version": 1.5}]}"#, #""messages[0].version" is 1.5"#),
            ("\u{FEFF}{]", "byte order mark"), (String(repeating: "[", count: 900), "more than 512 levels"),
            (#"{"messages": [{"version": 1e400}]}"#, "beyond 10^308"),
        ])
    func wrongBody(json: String, reason: String) async throws {
        let refused = try #require(await refusal(json))
        #expect(refused.status == .badRequest && refused.body.name == "invalidBody")
        #expect(refused.body.reason.contains(reason), "\(refused.body.reason)")
    }

    @Test("a body that is longer than allowed is refused with 413")
    func longBody() async {
        let json = #"{"messages": []}"#
        #expect(await refusal(json, upTo: json.utf8.count) == nil)
        #expect(await refusal(json, upTo: json.utf8.count - 1)?.status == .contentTooLarge)
    }

    @Test("short work is done on the event loop, and long work holds up no loop")
    func place() async throws {
        let loop = LoopExecutor(eventLoop: MultiThreadedEventLoopGroup.singleton.next())
        let work = LongWork(atOnceMax: 1)
        let client = client("anna")
        for (bytes, isOnLoop) in [(1_000, true), (40_000, false)] {
            let place = try await withTaskExecutorPreference(loop) {
                try await work.run(bytes: bytes, for: client) {
                    MultiThreadedEventLoopGroup.currentEventLoop != nil
                }
            }
            #expect(place == isOnLoop)
        }
    }

    @Test("long work waits for its turn, and is done however much of it there is")
    func turns() async throws {
        let work = LongWork(atOnceMax: 1)
        let running = Shared(0)
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await work.run(bytes: 40_000, for: client("\(number % 3)")) {
                        #expect(
                            running.withLock {
                                $0 += 1
                                return $0
                            } == 1)
                        running.withLock { $0 -= 1 }
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(done == 100)
    }

    @Test("a caller takes a third of the memory for bodies, is refused beyond it, and gives it back")
    func memory() throws {
        let memory = SharedMemory("bodies", bytesMax: 1_200)
        let share = memory.share(of: client("anna"))
        try share.grow(by: 400)
        let refused = #expect(throws: RTMError.self) { try share.grow(by: 1) }
        #expect(refused?.code == .operationRateExceedLimitation && refused?.retryAfter == .seconds(1))
        #expect(refused?.limit == .init(name: "bodies", value: 1_200))
        try memory.share(of: client("ben")).grow(by: 100)
        share.settle(0)
        try share.grow(by: 400)
    }

    @Test(
        "a query is decoded as forms are",
        arguments: [
            ("a=b", "b"), ("a=%41", "A"), ("a=1+2", "1 2"), ("a=1%2B2", "1+2"), ("a=", ""), ("a", ""),
            ("a=b=c", "b=c"), ("a=%C3%A4", "ä"), ("%61=b", "b"), ("&a=b&", "b"),
        ])
    func query(text: String, value: String) throws { #expect(try Query(text, ["a"])["a"] == value) }

    @Test(
        "a query that can't be decoded, an unknown name and a repeated one are refused",
        arguments: ["a=%", "a=%zz", "a=%FF", "b=1", "a=1&a=1", "A=1"])
    func wrongQuery(text: String) {
        do {
            _ = try Query(text, ["a"])
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.status == .badRequest && error.body.name == "invalidQuery")
        }
    }

    @Test("numbers are whole and in range, and flags are true or false")
    func values() throws {
        let query = try Query(
            "n=7&x=-1&y=1e3&z=99999999999999999999&f=true&g=1", ["n", "x", "y", "z", "f", "g"])
        #expect(try query.number("n", default: UInt32(1)) == 7 && query.number("m", default: UInt64(1)) == 1)
        for name in ["x", "y", "z"] {
            #expect(throws: APIError.self) { try query.number(name, default: UInt64(0)) }
        }
        #expect(try query.flag("f") && !query.flag("none"))
        #expect(throws: APIError.self) { try query.flag("g") }
    }

    @Test("a path that is there with another method names its methods, and any other has none")
    func paths() {
        let paths = PathTable()
        paths.take([
            ("/v1/{app}/locks/{lock}", .put), ("/v1/{app}/locks/{lock}", .delete), ("/v1/keys", .get),
        ])
        #expect(Set(paths.methods(at: "/v1/dev/locks/a")) == [.put, .delete])
        #expect(paths.methods(at: "/v1/keys/") == [.get, .head])
        #expect(paths.methods(at: "/v1/dev/locks").isEmpty && paths.methods(at: "/").isEmpty)
    }
}

import Foundation
import NIOHTTP1
import RTMAccessToken
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Synchronization
import Testing

/// Every block of code in docs/http, run against real servers. A block of output behind one says what it
/// prints, with "…" for anything.
@Suite(.serialized, .ends(withinMinutes: 4)) struct GatewayPageTests {
    private struct Block {
        let language: String
        let text: String
        /// What it prints, where the page says so.
        var output: String?
    }

    private static let folder = ForeignClient.root.appending(path: "docs/http")

    private static func blocks(of page: String) throws -> [Block] {
        var blocks: [Block] = []
        var open: (language: String, lines: [String])?
        for line in try text(of: page).split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("```") else {
                open?.lines.append(String(line))
                continue
            }
            guard let block = open else {
                open = (String(line.dropFirst(3)), [])
                continue
            }
            open = nil
            let text = block.lines.joined(separator: "\n")
            if block.language == "text", let last = blocks.indices.last, blocks[last].output == nil {
                blocks[last].output = text
            } else {
                blocks.append(Block(language: block.language, text: text))
            }
        }
        return blocks
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOf: folder.appending(path: page), encoding: .utf8)
    }

    /// The interpreter of a language, with what it is told before the name of a file.
    private static let interpreters = [
        "sh": ["bash", "-euo", "pipefail"], "python": ["python3"], "js": ["node"],
    ]

    private static var hasNode: Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/node")
        }
    }

    /// Where the programs of a page run: what they find there, and whom they call.
    private struct Desk {
        let folder: URL
        /// A gateway, or what stands in for one.
        let address: String
        let key: String
        var variables: [String: String] = [:]

        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }

        /// - Returns: the exit status, and what was printed to either stream.
        func run(_ block: Block, then more: String = "") async throws -> (Int32, String, String) {
            let interpreter = try #require(GatewayPageTests.interpreters[block.language])
            let name = "program." + (block.language == "js" ? "mjs" : block.language)
            let text = (block.text + "\n" + more).replacing("127.0.0.1:7750", with: address)
                .replacing("rtmk_…", with: key).replacing("/v1/chat/", with: "/v1/\(SampleApp.id)/")
            try write(text, to: name)
            let process = ChildProcess()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = interpreter + [name]
            process.currentDirectoryURL = folder
            let inherited = ProcessInfo.processInfo.environment
            process.environment = inherited.merging(variables) { $1 }.merging([
                "PATH": "\(ServiceProcess.executables.path):\(inherited["PATH"] ?? "")",
                "RTM_GATEWAY": "http://\(address)", "RTM_API_KEY": key, "HOME": folder.path,
            ]) { $1 }
            process.standardInput = FileHandle.nullDevice
            func file(_ name: String) throws -> FileHandle {
                try write("", to: name)
                return try FileHandle(forWritingTo: folder.appending(path: name))
            }
            process.standardOutput = try file("output")
            process.standardError = try file("errors")
            try process.run()
            try await eventually("a program of the page ends", within: .seconds(60)) { !process.isRunning }
            func read(_ name: String) throws -> String {
                try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            }
            return (process.terminationStatus, try read("output"), try read("errors"))
        }
    }

    private func withDesk(
        _ address: String, key: String, _ body: (Desk) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(Desk(folder: folder, address: address, key: key))
    }

    /// Runs a block as it stands, and compares what it prints.
    private func check(_ block: Block, of page: String, _ desk: Desk) async throws {
        switch block.language {
        case "js" where !Self.hasNode: return
        case "sh", "python", "js":
            let (status, output, errors) = try await desk.run(block)
            #expect(status == 0, "\(page): \(block.text)\n\(output)\n\(errors)")
            #expect(!output.contains(#"{"error""#) || block.output != nil, "\(page): \(output)")
            if let expected = block.output {
                #expect(
                    Self.matches(output, expected), "\(page) says \(expected)\nand it is \(output)\(errors)")
            }
        case "json": _ = try JSONSerialization.jsonObject(with: Data(block.text.utf8))
        case "yaml":
            let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
            try desk.write(block.text.replacing("whsec_…", with: secret), to: "rtm.yaml")
            let command = "rtm-gateway --config rtm.yaml --check-config"
            let services = " --messaging 127.0.0.1:1 --presence 127.0.0.1:1 --storage 127.0.0.1:1"
            let (status, output, errors) = try await desk.run(Block(language: "sh", text: command + services))
            #expect(status == 0, "\(page): \(output)\(errors)")
        // Tests/Gateway/Webhooks/SwiftReceiver.swift
        case "swift": break
        default: Issue.record("\(page) has a block of '\(block.language)', which no test runs")
        }
    }

    /// Whether a text has the pieces between "…", from its beginning to its end.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        let pieces = pattern.trimmingCharacters(in: .whitespacesAndNewlines).components(separatedBy: "…")
        var rest = text.trimmingCharacters(in: .whitespacesAndNewlines)[...]
        guard let first = pieces.first, let last = pieces.last, rest.hasPrefix(first), rest.hasSuffix(last)
        else { return false }
        guard pieces.count > 1 else { return rest == first }
        for piece in pieces where !piece.isEmpty {
            guard let found = rest.firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    @Test("the output of a program is compared with what the page says")
    func matching() {
        #expect(Self.matches("a 12 b\n", "a … b") && Self.matches("ab", "ab"))
        #expect(!Self.matches("a 12 b", "a …c") && !Self.matches("abc", "ab") && !Self.matches("", "…a"))
    }

    @Test("each page is one that a test runs")
    func pages() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(
            names.filter { $0.hasSuffix(".md") }.sorted()
                == (Self.pagesOfCalls + Self.pagesOfPrograms).sorted())
    }

    private static let pagesOfCalls = [
        "README.md", "explain.md", "keys.md", "limits.md", "moderate.md",
    ]
    private static let pagesOfPrograms = ["hooks.md", "publish.md", "reconcile.md", "webhooks.md"]

    @Test("what the pages about single calls show can be typed as it stands", arguments: pagesOfCalls)
    func calls(page: String) async throws {
        try await GatewaySystem.with(events: "1h") { gateway in
            let blocks = try Self.blocks(of: page)
            #expect(!blocks.isEmpty)
            try await gateway.system.withClients("zoe") { _ in }
            var cursor = ""
            try await eventually("there is an event") {
                let page = try await gateway.call("GET", "/v1/dev/events?limit=1")
                cursor = page.string("events", 0, "id") ?? ""
                return page.count("events") == 1
            }
            _ = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": "x"}"#)
            try await withDesk(gateway.system.address("gateway"), key: gateway.text(of: "admin")) { desk in
                var desk = desk
                desk.variables = [
                    "CURSOR": cursor,
                    "JWT": try SampleJWT.claims(for: "alice", endsAt: WallClock.milliseconds() / 1_000 + 60)
                        .signed(with: SampleJWT.signing(.rs256)),
                ]
                for block in blocks { try await check(block, of: page, desk) }
            }
        }
    }

    @Test("publish.md: the programs publish each message once, and keep to the rates")
    func publish() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "2", "--rates-app", "0"]) { gateway in
            try await withDesk(gateway.system.address("gateway"), key: gateway.text(of: "admin")) { desk in
                for block in try Self.blocks(of: "publish.md") {
                    try await check(block, of: "publish.md", desk)
                }
            }
            let programs = ["Python"] + (Self.hasNode ? ["Node"] : [])
            let expected = programs.flatMap { program in (0..<5).map { "\($0) from \(program)" } }
            let stored = try await gateway.system.run("history", "orders", "--json")
            let texts = stored.output.compactMap { $0.firstMatch(of: #/"message":"([^"]+)"/#)?.1 }
            #expect(texts.map(String.init).sorted() == expected.sorted())
        }
    }

    @Test("publish.md: what may pass is tried again with the same key, and what may not is an error")
    func attempts() async throws {
        for block in try Self.blocks(of: "publish.md") where ["python", "js"].contains(block.language) {
            guard block.language != "js" || Self.hasNode else { continue }
            try await TestReceiver.with { receiver in
                let count = Mutex(0)
                receiver.answer { _ in
                    switch count.withLock({ count in
                        count += 1
                        return count
                    }) {
                    case 1: .init(.serviceUnavailable, headers: ["Retry-After": "1"])
                    case 2: .init(.tooManyRequests, headers: ["Retry-After": "1"])
                    case 3: .init(.gatewayTimeout)
                    default: .init(body: #"{"offset": 1}"#)
                    }
                }
                try await withDesk("127.0.0.1:\(receiver.port)", key: "rtmk_1") { desk in
                    let (status, output, errors) = try await desk.run(block)
                    #expect(status == 0 && output == "published\n", "\(errors)")
                    let keys = receiver.calls.map { $0.headers["idempotency-key"].first ?? "" }
                    #expect(keys.count == 8 && Set(keys.prefix(4)).count == 1 && Set(keys).count == 5)
                    #expect(receiver.calls.allSatisfy { $0.headers["authorization"] == ["Bearer rtmk_1"] })

                    let before = receiver.calls.count
                    let body = #"{"error": {"name": "missingScope", "reason": "no"}}"#
                    receiver.answer { _ in .init(.forbidden, body: body) }
                    let refused = try await desk.run(block)
                    #expect(refused.0 == 1 && refused.2.contains("missingScope"), "\(refused)")
                    #expect(receiver.calls.count == before + 1)
                }
            }
        }
    }

    @Test("reconcile.md: the program counts each message once, goes on where it was, and survives a gap")
    func reconcile() async throws {
        try await GatewaySystem.with(events: "1h") { gateway in
            func publish(_ channel: String, _ message: String) async throws {
                let body = #"{"channel": "\#(channel)", "message": "\#(message)", "store": true}"#
                #expect(try await gateway.call("POST", "/v1/dev/publish", body).status == 200)
            }
            func arrived(_ count: Int) async throws {
                try await eventually("the events are kept") {
                    try await gateway.call("GET", "/v1/dev/events?types=message.published").count("events")
                        == count
                }
            }
            let blocks = try Self.blocks(of: "reconcile.md")
            let program = try #require(blocks.first { $0.language == "python" })
            try await publish("orders-eu", "1")
            try await publish("orders-us", "2")
            try await publish("other", "not asked for")
            try await arrived(3)
            try await withDesk(gateway.system.address("gateway"), key: gateway.text(of: "read")) { desk in
                func count(_ before: String = "", _ program: Block = program) async throws -> String {
                    if !before.isEmpty {
                        let change = """
                            import sqlite3
                            database = sqlite3.connect("backend.sqlite")
                            with database: database.executescript("\(before)")
                            """
                        #expect(try await desk.run(Block(language: "python", text: change)).0 == 0)
                    }
                    let (status, output, errors) = try await desk.run(program)
                    #expect(status == 0, "\(errors)")
                    return output
                }
                #expect(try await count() == "2 messages\n")
                try await publish("orders-eu", "3")
                try await arrived(4)
                #expect(try await count() == "3 messages\n")
                #expect(try await count() == "3 messages\n")
                // A backup from before the second message.
                let old = "DELETE FROM messages WHERE message != '1'; UPDATE cursor SET value = "
                let first = try await gateway.call("GET", "/v1/dev/events?types=message.published&limit=1")
                #expect(try await count(old + "'\(first.string("next") ?? "")'") == "3 messages\n")
                // Older than anything that is kept.
                #expect(try await count(old + "'1-1'") == "3 messages\n")
                // The history alone has all, too.
                let line = #"keep(event["channel"], event["data"])"#
                #expect(program.text.contains(line))
                let deaf = Block(language: "python", text: program.text.replacing(line, with: "pass"))
                #expect(try await count(old + "'1-1'", deaf) == "3 messages\n")
                for block in blocks where block.language != "python" {
                    try await check(block, of: "reconcile.md", desk)
                }
            }
        }
    }

    @Test("webhooks.md: the receivers' checks take what arrives, and nothing that is changed or old")
    func webhooks() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        try await TestReceiver.with { receiver in
            let url = "http://127.0.0.1:\(receiver.port)/in"
            let options = ["--webhooks-private-addresses", "127.0.0.1/32", "--webhooks-lease", "1s"]
            let entry = #"{app: dev, name: orders, url: "\#(url)", secret: "\#(secret)"}"#
            try await GatewaySystem.with(.standalone, options, events: "1h", webhooks: [entry]) { gateway in
                try await eventually("a gateway delivers", within: .seconds(20)) {
                    try await gateway.call("GET", "/v1/dev/webhooks").string("webhooks", 0, "owner") != nil
                }
                _ = try await gateway.call("POST", "/v1/dev/webhooks/orders/test")
                let call = try #require(receiver.calls.last)
                func header(_ name: String) -> String { call.headers[name].first ?? "" }
                let latest = try await gateway.call("GET", "/v1/dev/events?after=latest").string("next")
                try await withDesk(gateway.system.address("gateway"), key: gateway.text(of: "admin")) {
                    desk in
                    var desk = desk
                    desk.variables = [
                        "CURSOR": latest ?? "", "SECRET": secret, "ID": header("webhook-id"),
                        "TIMESTAMP": header("webhook-timestamp"), "SIGNATURE": header("webhook-signature"),
                    ]
                    try desk.write(call.body, to: "body")
                    try desk.write(secret, to: "orders.secret")
                    for block in try Self.blocks(of: "webhooks.md") {
                        guard let proof = Self.proofs[block.language] else {
                            try await check(block, of: "webhooks.md", desk)
                            continue
                        }
                        guard block.language != "js" || Self.hasNode else { continue }
                        let (status, output, errors) = try await desk.run(block, then: proof)
                        #expect(status == 0 && output == "proven\n", "\(block.language): \(output)\(errors)")
                    }
                }
            }
        }
    }

    @Test("hooks.md: the receiver lets pass, changes and refuses, and takes nothing that isn't signed")
    func hooks() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let port = try #require(FreePorts.take(1).first)
        let url = "http://127.0.0.1:\(port)/before-publish"
        let hook = #"{app: dev, url: "\#(url)", secret: "\#(secret)", deadline: 5s}"#
        try await GatewaySystem.with(hooks: [hook]) { gateway in
            func publish(_ text: String) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "a", "message": "\#(text)", "store": true}"#)
            }
            try await withDesk(gateway.system.address("gateway"), key: gateway.text(of: "admin")) { desk in
                for block in try Self.blocks(of: "hooks.md") {
                    guard block.language == "python" else {
                        try await check(block, of: "hooks.md", desk)
                        continue
                    }
                    try desk.write(block.text.replacing("8787", with: "\(port)"), to: "hook.py")
                    let process = ChildProcess()
                    process.executableURL = URL(filePath: "/usr/bin/env")
                    process.arguments = ["python3", "hook.py"]
                    process.currentDirectoryURL = desk.folder
                    process.environment = ProcessInfo.processInfo.environment.merging(["HOOK_SECRET": secret])
                    {
                        $1
                    }
                    process.standardOutput = FileHandle.nullDevice
                    process.standardError = FileHandle.nullDevice
                    try process.run()
                    defer { kill(process.processIdentifier, SIGKILL) }
                    try await eventually("the receiver answers", within: .seconds(20)) {
                        try await publish("hello").status == 200
                    }
                    #expect(try await publish("darn it").status == 200)
                    let refused = try await publish("see http://example.com")
                    #expect(refused.status == 403 && refused.text.contains("no links, please"))
                    let history = try await gateway.call("GET", "/v1/dev/history?channel=a").text
                    #expect(history.contains("**** it") && !history.contains("darn"))
                    let forged = """
                        curl -s -o /dev/null -w '%{http_code}' \(url) -d '{}' -H 'webhook-id: msg_1' \
                            -H "webhook-timestamp: $(date +%s)" -H 'webhook-signature: v1,AAAA'
                        """
                    #expect(try await desk.run(Block(language: "sh", text: forged)).1 == "401")
                }
            }
        }
    }

    /// Calls of the documented `verify`.
    private static let proofs = [
        "python": """
        import os
        headers = {"webhook-id": os.environ["ID"], "webhook-timestamp": os.environ["TIMESTAMP"],
                   "webhook-signature": os.environ["SIGNATURE"]}
        body = open("body", "rb").read()
        verify(headers, body, os.environ["SECRET"])
        rotating = {**headers, "webhook-signature": "v1,AAAA " + headers["webhook-signature"]}
        verify(rotating, body, os.environ["SECRET"])
        key = base64.b64decode(os.environ["SECRET"][6:])
        old = str(int(headers["webhook-timestamp"]) - 400)
        code = hmac.digest(key, f"{headers['webhook-id']}.{old}.".encode() + body, "sha256")
        replay = {"webhook-timestamp": old, "webhook-signature": "v1," + base64.b64encode(code).decode()}
        for change, text in [({}, body + b" "), ({"webhook-id": "msg_2"}, body), (replay, body),
                             ({"webhook-signature": "v1,AAAA"}, body), ({"webhook-signature": ""}, body)]:
            try:
                verify({**headers, **change}, text, os.environ["SECRET"])
            except ValueError:
                continue
            raise SystemExit(f"{change} was accepted")
        print("proven")
        """,
        "js": """
        import { readFileSync } from "node:fs";
        const { ID, TIMESTAMP, SIGNATURE, SECRET } = process.env;
        const headers = { "webhook-id": ID, "webhook-timestamp": TIMESTAMP, "webhook-signature": SIGNATURE };
        const body = readFileSync("body");
        verify(headers, body, SECRET);
        verify({ ...headers, "webhook-signature": "v1,AAAA " + SIGNATURE }, body, SECRET);
        const old = `${TIMESTAMP - 400}`;
        const key = Buffer.from(SECRET.slice(6), "base64");
        const code = createHmac("sha256", key).update(`${ID}.${old}.`).update(body);
        const replay = { "webhook-timestamp": old, "webhook-signature": "v1," + code.digest("base64") };
        for (const [change, text] of [
          [{}, body + " "], [{ "webhook-id": "msg_2" }, body], [replay, body],
          [{ "webhook-signature": "v1,AAAA" }, body], [{ "webhook-signature": "" }, body]]) {
          let isAccepted = true;
          try { verify({ ...headers, ...change }, text, SECRET); } catch { isAccepted = false; }
          if (isAccepted) throw new Error(`${JSON.stringify(change)} was accepted`);
        }
        console.log("proven");
        """,
    ]
}

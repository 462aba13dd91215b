import ArgumentParser
import Foundation
import RTMClient
import RTMCredentials

struct WebhookVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check the signature of a request whose body is on standard input.",
        discussion: """
            rtm webhook verify --secret-file orders.secret -H 'webhook-id: msg_1' -H 'webhook-timestamp: …' \
            -H 'webhook-signature: v1,…' <body

            It needs no gateway. Where your own check fails, compare its result with the signature that is \
            printed. Give the bytes of the body as they came: 'echo' adds a line end, and what a framework has \
            read as JSON and written again is another body. The exit status is 1 if a check fails.
            """)

    @Option(
        help: .init(
            "File with the secret, whsec_…; while it is being replaced with both, a line each.",
            valueName: "file"),
        completion: .file())
    var secretFile: String

    @Option(
        name: [.customShort("H"), .long],
        help: .init("A header of the request; repeat it for the others.", valueName: "name: value"),
        transform: { try RequestHeader(argument: $0) })
    var header: [RequestHeader]

    @Option(
        help: .init("How far the timestamp may be from now: 5m unless it is given.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var tolerance: Duration = .seconds(300)

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    func run() async throws {
        let output = Output(format: json ? .json : .human, transcript: Transcript())
        try await output.run(whenInterrupted: .interrupted) {
            let verification = try WebhookVerification(
                header, secrets: WebhookVerification.secrets(at: secretFile), body: await body())
            let checks = verification.checks(now: WallClock.milliseconds(), tolerance: tolerance)
            for check in checks { try await output.result(check.text, "check", check.json) }
            if checks.contains(where: { !$0.isPassed }) { throw ExitCode.failure }
        }
    }

    private func body() async throws -> [UInt8] {
        let input = try StandardInput()
        var body: [UInt8] = []
        while let bytes = await input.next() { body += bytes }
        return body
    }
}

/// A header as `-H` takes it.
struct RequestHeader: Sendable, Hashable {
    /// In lower case.
    let name: String
    let value: String

    init(argument: String) throws {
        guard let colon = argument.firstIndex(of: ":") else {
            throw ValidationError("'\(argument)' is not NAME: VALUE")
        }
        name = argument[..<colon].trimmingCharacters(in: .whitespaces).lowercased()
        value = argument[argument.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
}

/// Checks a request of a webhook, and finds out what is wrong with one that fails.
struct WebhookVerification {
    struct Check: Hashable {
        let name: String
        let isPassed: Bool
        /// What was found, and what to do.
        let finding: String
        /// What the header should have; nil where it has it.
        var expected: String?

        var text: String {
            "\(isPassed ? "ok   " : "wrong")  \(name)  \(finding)".visible
                + (expected.map { "\n       expected: \($0)" } ?? "")
        }

        var json: JSON {
            [
                "name": .string(name), "result": isPassed ? "ok" : "wrong", "finding": .string(finding),
                "expected": expected.map(JSON.string) ?? .null,
            ]
        }
    }

    let headers: [String: String]
    let secrets: [WebhookSecret]
    let body: [UInt8]

    /// - Throws: for a header that is missing, or is there twice.
    init(_ headers: [RequestHeader], secrets: [WebhookSecret], body: [UInt8]) throws {
        var named: [String: String] = [:]
        for header in headers where named.updateValue(header.value, forKey: header.name) != nil {
            throw ValidationError("the header '\(header.name)' is given twice")
        }
        typealias Header = WebhookSignature.Header
        let isStandard = named[Header.signature] != nil
        for name in [Header.id, Header.timestamp] where isStandard && named[name] == nil {
            throw ValidationError("the header '\(name)' is missing; it is signed together with the body")
        }
        guard isStandard || !Set(named.keys).isDisjoint(with: Self.agora) else {
            throw ValidationError(
                "no header has a signature; give \(Header.id), \(Header.timestamp) and "
                    + "\(Header.signature), or " + Self.agora.joined(separator: " or "))
        }
        (self.headers, self.secrets, self.body) = (named, secrets, body)
    }

    private static let agora = [WebhookSignature.Header.agora, WebhookSignature.Header.agora2].map {
        $0.lowercased()
    }

    /// - Throws: `.invalidParameter` (-10014) for a file that can't be read, or holds something else than
    ///   secrets. No error shows what is in the file.
    static func secrets(
        at path: String,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) -> [WebhookSecret] {
        let text = try NamedFile.text(at: path, "--secret-file", for: "webhook verify", readFile)
        let lines = text.split(whereSeparator: \.isWhitespace).map(String.init)
        let secrets = lines.compactMap(WebhookSecret.init)
        guard !secrets.isEmpty, secrets.count == lines.count else {
            throw RTMError(
                .invalidParameter,
                "--secret-file: '\(path)' holds no secret, which is whsec_ and Base64 of 24 to 64 bytes",
                operation: "webhook verify")
        }
        return secrets
    }

    func checks(now: UInt64, tolerance: Duration) -> [Check] {
        [signatureCheck, timestampCheck(now, tolerance)].compactMap { $0 } + agoraChecks
    }

    // MARK: Standard Webhooks

    private var signatureCheck: Check? {
        guard let given = headers[WebhookSignature.Header.signature] else { return nil }
        let signatures = given.split(separator: " ").map(String.init)
        if let index = match(signatures, body) {
            let which = secrets.count > 1 ? " by the secret of line \(index + 1)" : ""
            return Check(
                name: "signature", isPassed: true,
                finding: "signed\(which) over \(body.count.counted("byte"))")
        }
        return Check(
            name: "signature", isPassed: false, finding: reason(signatures),
            expected: signature(secrets[0], body))
    }

    private func signature(_ secret: WebhookSecret, _ body: [UInt8]) -> String {
        secret.signature(
            id: headers[WebhookSignature.Header.id] ?? "",
            timestamp: headers[WebhookSignature.Header.timestamp] ?? "", body: body)
    }

    /// Which secret has signed this body; nil for none.
    private func match(_ signatures: [String], _ body: [UInt8]) -> Int? {
        secrets.firstIndex { signatures.contains(signature($0, body)) }
    }

    /// The mistakes that are made most: a body without or with another end, and another form.
    private func reason(_ signatures: [String]) -> String {
        guard signatures.contains(where: { $0.hasPrefix("v1,") }) else {
            return "the header has no signature of the version v1, which is 'v1,' and Base64"
        }
        let newline = UInt8(ascii: "\n")
        let trimmed = Array(body.reversed().drop { $0 == newline || $0 == UInt8(ascii: "\r") }.reversed())
        if trimmed != body, match(signatures, trimmed) != nil {
            return "the body was signed without the line end that it has here"
        }
        if match(signatures, body + [newline]) != nil {
            return "the body was signed with a line end, which is missing here"
        }
        if let compact = JSON(parsing: String(decoding: body, as: UTF8.self)),
            match(signatures, Array(compact.description.utf8)) != nil
        {
            return "the body was read as JSON and written again; verify the bytes as they came"
        }
        return "the \(body.count.counted("byte")) of the body, its id and its timestamp were not signed "
            + "with \(secrets.count == 1 ? "this secret" : "these secrets"): one of them is another one"
    }

    private func timestampCheck(_ now: UInt64, _ tolerance: Duration) -> Check? {
        guard headers[WebhookSignature.Header.signature] != nil,
            let text = headers[WebhookSignature.Header.timestamp]
        else { return nil }
        guard let seconds = UInt64(text) else {
            return Check(
                name: "timestamp", isPassed: false, finding: "'\(text)' is no number of seconds since 1970")
        }
        let age = Duration.seconds(Int64(now / 1000)) - .seconds(Int64(clamping: seconds))
        let isOld = age > .zero
        let distance = isOld ? age : .zero - age
        guard distance > tolerance else {
            return Check(name: "timestamp", isPassed: true, finding: "\(distance.text) from now")
        }
        return Check(
            name: "timestamp", isPassed: false,
            finding:
                "\(distance.text) \(isOld ? "old" : "ahead of this machine's clock"), and --tolerance is "
                + "\(tolerance.text)")
    }

    // MARK: The public interface

    private var agoraChecks: [Check] {
        let methods: [(name: String, code: (WebhookSecret) -> String)] = [
            (WebhookSignature.Header.agora, { $0.agoraSignature(of: body) }),
            (WebhookSignature.Header.agora2, { $0.agoraSignature2(of: body) }),
        ]
        return methods.compactMap { name, code in
            guard let given = headers[name.lowercased()]?.lowercased() else { return nil }
            if secrets.contains(where: { code($0) == given }) {
                return Check(name: name, isPassed: true, finding: "signed over \(body.count.counted("byte"))")
            }
            return Check(
                name: name, isPassed: false,
                finding: "this body was not signed with the text of this secret", expected: code(secrets[0]))
        }
    }
}

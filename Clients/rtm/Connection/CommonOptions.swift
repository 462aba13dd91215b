import ArgumentParser
import Foundation
import Logging
import RTMClient

/// The options that every command has.
struct CommonOptions: ParsableArguments {
    @Option(
        help: .init(
            "Server to talk to, also ws://host:port/path or wss://…; repeat it to name others, which are tried in turn.",
            valueName: "host:port"),
        transform: { try ServerAddress($0) })
    var server: [ServerAddress] = []

    @Option(name: .customLong("app-id"), help: "App id.")
    var appID: String?

    @Option(help: "User id to log in with.")
    var user: String?

    @Option(help: "Token to log in with, for an app with a certificate; `rtm token create` makes one.")
    var token: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Encrypt the connection and verify the server; the default unless it is on this machine.")
    var tls: Bool?

    @Option(help: .init("PEM file of the authorities to trust instead of the system's.", valueName: "file"))
    var ca: String?

    @Option(
        help: .init(
            """
            File with keys to encrypt messages, states and metadata with, so that the server can't read them. Each \
            line is a salt in 64 hexadecimal digits, a space and a secret.
            """,
            valueName: "file"))
    var keyFile: String?

    @Option(
        help: .init("Context to take what isn't given from; see 'rtm context'.", valueName: "name"),
        completion: .contexts)
    var context: String?

    @Option(
        help: .init(
            """
            How long to try to reach a server. Without it a server that refuses is given up at once, others \
            after 10s.
            """,
            valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var connectTimeout: Duration?

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    @Flag(help: "Log the client's actions to standard error.")
    var verbose = false

    func validate() throws {
        if ca != nil, tls == false { throw ValidationError("give either --ca or --no-tls") }
    }
}

extension CommonOptions {
    var output: Output {
        let palette = Palette(
            isTerminal: ConsoleStream.output.isTerminal, environment: ProcessInfo.processInfo.environment)
        return Output(format: json ? .json : .human, transcript: Transcript(palette: palette))
    }

    /// How long a command tries to log in.
    var loginTimeout: Duration { connectTimeout ?? .seconds(10) }

    func settings() throws(RTMError) -> ConnectionSettings {
        let values = ConnectionValues(
            servers: server, appID: appID, userID: user, token: token, tls: tls, ca: ca)
        return try ConnectionSettings(
            values, context: context, environment: ProcessInfo.processInfo.environment,
            contexts: ContextFile().read, guest: GuestName.random())
    }

    func configuration(_ settings: ConnectionSettings) throws(RTMError) -> RTMClient.Configuration {
        var configuration = RTMClient.Configuration(
            servers: settings.servers, appID: settings.appID, userID: settings.userID)
        configuration.tls = settings.encryption
        if let keyFile { configuration.encryptionKeys = try KeyFile.keys(at: keyFile) }
        configuration.requestTimeout = min(configuration.requestTimeout, loginTimeout)
        if verbose {
            configuration.logger = Logger(label: "rtm") { StreamLogHandler.standardError(label: $0) }
            configuration.logger.logLevel = .debug
        }
        return configuration
    }
}

/// A user id for somebody who gave none. It is easy to read and differs clearly from the next guest's.
enum GuestName {
    private static let moods = [
        "brave", "bright", "calm", "clever", "gentle", "happy", "keen", "lucky", "merry", "proud", "quick",
        "quiet", "sunny", "swift", "warm", "wise",
    ]
    private static let animals = [
        "badger", "beaver", "crane", "falcon", "fox", "hare", "heron", "ibex", "koala", "lynx", "marten",
        "otter", "owl", "panda", "raven", "seal",
    ]

    /// One of 256,000 names. Names rarely meet, which matters because a second login of one user ends the
    /// first (S-10).
    static func random() -> String {
        let mood = moods[Int.random(in: moods.indices)]
        let animal = animals[Int.random(in: animals.indices)]
        return "guest-\(mood)-\(animal)-\(Int.random(in: 0...999))"
    }
}

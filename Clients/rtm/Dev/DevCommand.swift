import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient

/// Starts everything for somebody who tries things out: the whole stack with an app that needs tokens, a
/// token, and the console. Nothing of it outlives the command.
struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Start the whole system for trying things out, with an app, a token and the console.",
        discussion: """
            rtm dev
            rtm dev -- --listen 127.0.0.1:9710 --gateway-listen 127.0.0.1:9750

            It runs rtm-standalone, which lies beside this program or in PATH, with the app dev, which needs \
            no tokens, and one that has a certificate, and prints a token for a user of it. What stands \
            behind -- are options of rtm-standalone. Ctrl-C ends all of it, and what was stored is removed.
            """)

    @Option(help: "User of the token.")
    var user = "alice"

    @Argument(parsing: .postTerminator, help: "Options of rtm-standalone.")
    var options: [String] = []

    func run() async throws {
        let output = Output(format: .human, transcript: Transcript())
        try await output.run(whenInterrupted: .success) {
            try NameRule.user.check(user.utf8)
            let place = try DevFolder()
            defer { place.remove() }
            try await output.result(greeting(place), "dev", [:])
            let server = ChildCommand(
                [DevFolder.server, "--config", place.configuration, "--data", place.data] + options,
                environment: [:])
            let status = try await server.run()
            if status != .success { throw status }
        }
    }

    private func greeting(_ place: DevFolder) throws -> String {
        let day: UInt32 = 86_400
        let token = try AccessToken(
            appID: place.appID, issuedAt: UInt32(clamping: WallClock.milliseconds() / 1000),
            lifetimeSeconds: day,
            services: [TokenService(.rtm(user: user), privileges: [TokenService.Privilege.login: day])]
        ).signed(with: place.certificate)
        return """
            The app \(place.appID) has its certificate in
            \(place.certificateFile), and a token for \(user), valid for a day:

                rtm chat lobby --token \(token.text)

            Nothing is kept when this ends.
            """
    }
}

/// A folder for one run: the certificate of the app, the configuration and the data.
private struct DevFolder {
    /// An app with a certificate has an id of this form.
    let appID = Self.digits()
    let certificate = Self.digits()
    private let folder: URL

    var certificateFile: String { folder.appending(path: "certificate").path }
    var configuration: String { folder.appending(path: "rtm.yaml").path }
    var data: String { folder.appending(path: "data").path }

    /// Beside this program, or whatever PATH has.
    static var server: String {
        let name = "rtm-standalone"
        let beside = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : name
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "rtm-dev-\(UUID().uuidString)")
        let owner: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: owner)
        try Data(certificate.utf8).write(to: URL(filePath: certificateFile))
        let text = """
            apps:
              - {id: dev, events: 1h}
              - {id: "\(appID)", certificate: "\(certificate)", events: 1h}

            """
        try Data(text.utf8).write(to: URL(filePath: configuration))
    }

    /// 32 hexadecimal digits.
    private static func digits() -> String {
        UUID().uuidString.lowercased().replacing("-", with: "")
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}

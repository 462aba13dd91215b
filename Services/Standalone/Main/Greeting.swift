import RTMServiceKit

/// What to type next, for somebody who has just started the system for the first time.
enum Greeting {
    @Sendable static func text(_ listening: [String: HostPort]) -> String {
        let edge = listening["edge"].map { "\($0)" } ?? "nowhere"
        let admin = listening["admin"].map { "\($0)" } ?? "nowhere"
        // The command line uses this address by default, so it needs no option.
        let server = edge == "127.0.0.1:7710" ? "" : " --server \(edge)"
        return """

            Heliograph \(BuildInformation.version) is listening on \(edge) for apps with the id "dev".

            In another terminal:
                .build/release/rtm chat lobby --user alice\(server)
            and in a third one:
                .build/release/rtm chat lobby --user bob\(server)

            Health and metrics: http://\(admin)/ready and /metrics. Ctrl-C ends it.


            """
    }
}

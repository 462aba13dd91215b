import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The presence service as a part of a program. It has no engine yet: every call is refused, and says so.
package enum PresenceDefinition {
    static let listen = ConfigurationKey<HostPort>.address(
        "presence.listen", default: HostPort(host: "127.0.0.1", port: 7730),
        "Where edges connect; keep it off the public network.")

    /// Listens at `presence.listen`, for edges in other processes.
    package static let service = definition(keys: [listen.declaration]) { .address($0[listen]) }

    /// Reached by callers of the same process.
    package static func inProcess(_ endpoint: InProcessEndpoint) -> ServiceDefinition {
        definition(keys: []) { _ in .inProcess(endpoint) }
    }

    private static func definition(
        keys: [KeyDeclaration], place: @escaping @Sendable (Configuration) -> LinkPlace
    ) -> ServiceDefinition {
        UnavailableService.definition(
            name: "presence", summary: "Knows who is in which channel (not in this version).", keys: keys,
            place: place,
            refusal: RTMError(
                .channelPresenceNotReady, "the presence service of this version doesn't keep anything yet"))
    }
}

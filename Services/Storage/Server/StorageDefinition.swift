import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The storage service as a part of a program.
package enum StorageDefinition {
    static let listen = ConfigurationKey<HostPort>.address(
        "storage.listen", default: HostPort(host: "127.0.0.1", port: 7740),
        "Where edges connect; keep it off the public network.")

    /// Listens at `storage.listen`, for edges in other processes.
    package static let service = definition(keys: [listen.declaration]) { .address($0[listen]) }

    /// Reached by callers of the same process.
    package static func inProcess(_ endpoint: InProcessEndpoint) -> ServiceDefinition {
        definition(keys: []) { _ in .inProcess(endpoint) }
    }

    private static func definition(
        keys: [KeyDeclaration], place: @escaping @Sendable (Configuration) -> LinkPlace
    ) -> ServiceDefinition {
        ServiceDefinition(
            name: "storage", summary: "Keeps metadata, locks and history (not in this version).",
            keys: keys + [LinkKeys.secret.declaration]
        ) { context in
            var configuration = ServiceLinkServerConfiguration(service: "storage")
            configuration.link = LinkConfiguration(context.configuration)
            let server = ServiceLinkServer(
                configuration, links: context.eventLoopGroup, logger: context.logger
            ) { _ in UnavailableHandler(error: .unavailable) }
            return Assembly([LinkListener(server, at: place(context.configuration))])
        }
    }
}

extension RTMError {
    /// What every call is answered with until this service has an engine.
    static let unavailable = RTMError(
        .storageNotAvailable, "the storage service of this version doesn't keep anything yet")
}

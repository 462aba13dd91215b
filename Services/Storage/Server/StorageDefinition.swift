import RTMModel
package import RTMServiceKit
package import RTMServiceLink

/// The storage service as a part of a program. It has no engine yet: every call is refused, and says so.
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
        UnavailableService.definition(
            name: "storage", summary: "Keeps metadata, locks and history (not in this version).", keys: keys,
            place: place,
            refusal: RTMError(
                .storageNotAvailable, "the storage service of this version doesn't keep anything yet"))
    }
}

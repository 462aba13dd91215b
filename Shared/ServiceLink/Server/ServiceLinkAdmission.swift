import RTMWire

/// Whether a caller may use this service: version, service and shard must be ours. The type is pure.
struct ServiceLinkAdmission {
    let service: String
    let shards: Int

    /// Nil if the caller may prove that it knows the secret.
    func refusal(of hello: ServiceLinkHello) -> ServiceLinkGoAway? {
        guard hello.version == ServiceLinkVersion.current else {
            return ServiceLinkGoAway(
                .version, "this service speaks version \(ServiceLinkVersion.current), not \(hello.version)")
        }
        guard hello.service == service else {
            return ServiceLinkGoAway(.wrongService, "this is \(service), not \(hello.service.prefix(32))")
        }
        guard hello.shard < shards else {
            return ServiceLinkGoAway(.wrongService, "\(service) has \(shards) shards, none is \(hello.shard)")
        }
        guard hello.nonce.count == ServiceLinkHandshake.nonceBytesCount else {
            return ServiceLinkGoAway(
                .protocolError, "a nonce has \(ServiceLinkHandshake.nonceBytesCount) bytes")
        }
        return nil
    }
}

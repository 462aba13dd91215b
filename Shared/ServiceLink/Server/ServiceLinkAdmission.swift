import RTMWire

/// Whether a caller may use this service: version, service and secret must be ours. The type is pure.
struct ServiceLinkAdmission {
    let service: String
    let secret: String

    /// Nil if the caller is welcome.
    func refusal(of hello: ServiceLinkHello) -> ServiceLinkGoAway? {
        guard hello.version == ServiceLinkVersion.current else {
            return ServiceLinkGoAway(
                .version, "this service speaks version \(ServiceLinkVersion.current), not \(hello.version)")
        }
        guard hello.service == service else {
            return ServiceLinkGoAway(.wrongService, "this is \(service), not \(hello.service)")
        }
        guard Self.isEqual(hello.secret, secret) else {
            return ServiceLinkGoAway(.wrongSecret, "the secret is not that of this installation")
        }
        return nil
    }

    /// Takes the same time wherever two texts of one length differ, so that the secret can't be guessed byte
    /// by byte.
    static func isEqual(_ given: String, _ expected: String) -> Bool {
        let given = Array(given.utf8)
        let expected = Array(expected.utf8)
        guard !expected.isEmpty else { return given.isEmpty }
        var difference: UInt8 = given.count == expected.count ? 0 : 1
        for (index, byte) in given.enumerated() { difference |= byte ^ expected[index % expected.count] }
        return difference == 0
    }
}

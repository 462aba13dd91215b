internal import Logging
package import NIOSSL
internal import RTMModel
package import RTMServiceLink
internal import Synchronization

/// The two keys that name the certificate and the private key of listeners, and what their files hold.
package struct TLSIdentityKeys: Sendable {
    let certificate, key: ConfigurationKey<String?>
    private let least: TLSVersion

    package init(
        _ certificate: ConfigurationKey<String?>, _ key: ConfigurationKey<String?>,
        least: TLSVersion = .tlsv12
    ) {
        self.certificate = certificate
        self.key = key
        self.least = least
    }

    /// Nil where no files are named. Throws the key whose file can't be used.
    package func read(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> TLSIdentity? {
        let chain = try configuration.use(certificate, for: Self.certificateContent, read) { $0 }
        let privateKey = try configuration.use(key, for: Self.keyContent, read) { $0 }
        guard let chain, let privateKey else { return nil }
        do {
            return try TLSIdentity(certificate: chain, key: privateKey, least: least)
        } catch {
            let (key, content) =
                error.part == .key ? (key, Self.keyContent) : (certificate, Self.certificateContent)
            let path = configuration[key] ?? ""
            throw configuration.refusal(
                of: key, "the file \(path) does not hold \(content): \(error)", content)
        }
    }

    /// What is wrong with the files, or with the time; nil if they can be used now.
    package func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            return problem(configuration, try self.read(configuration, read))
        } catch {
            return error.problems.first
        }
    }

    private static let certificateContent = "a certificate chain"
    private static let keyContent = "the private key of the certificate"

    /// What is wrong with the time in which the certificate is valid; nil if it is valid now.
    func problem(_ configuration: Configuration, _ identity: TLSIdentity?) -> ConfigurationProblem? {
        configuration.problem(of: certificate, "the certificate", identity?.validity)
    }
}

extension Configuration {
    /// What is wrong with the time in which the authorities of a file are valid; nil if one is valid now.
    package func problem(
        of key: ConfigurationKey<String?>, authorities: [CertificateValidity]
    ) -> ConfigurationProblem? {
        problem(of: key, "the last authority", authorities.firstToEnd(at: CertificateReports.now()))
    }

    fileprivate func problem(
        of key: ConfigurationKey<String?>, _ what: String, _ validity: CertificateValidity?
    ) -> ConfigurationProblem? {
        guard let validity, let path = self[key] else { return nil }
        let reason =
            switch validity.verdict(at: CertificateReports.now()) {
            case .expired: "\(what) in the file \(path) expired at \(CertificateReports.text(validity.ends))"
            case .notYetValid:
                "\(what) in the file \(path) is not valid before \(CertificateReports.text(validity.begins))"
            case .valid, .endsSoon: nil as String?
            }
        return reason.map {
            ConfigurationProblem(
                key.declaration.name, from: "\(origin(of: key))",
                $0 + ". Put a renewed one there; a running program takes it over")
        }
    }
}

/// The certificate and the key that a service's listeners show: TLS 1.2 or newer. Connections that come after
/// a reload get the new certificate.
package final class ListenerTLS: Sendable {
    private let present: Mutex<NIOSSLContext>

    /// Follows the files while the program runs. Nil if they aren't named.
    package init?(_ keys: TLSIdentityKeys, _ context: ServiceContext) throws {
        guard let first = try keys.read(context.configuration, { try TextFile.read($0) }) else { return nil }
        present = Mutex(first.context)
        let certificates = context.certificates
        certificates.take(keys, first)
        context.onChange(of: [keys.certificate.declaration, keys.key.declaration]) { next in
            let renewed = try keys.read(next) { try TextFile.read($0) }
            return {
                guard let renewed else { return }
                self.present.withLock { $0 = renewed.context }
                certificates.take(keys, renewed)
            }
        }
    }

    /// The context for one more connection.
    package var context: NIOSSLContext { present.withLock { $0 } }
}

/// Reports until when the certificates of a process are valid, in a metric and in the log: those that its
/// listeners show, and those of the authorities that it trusts.
package final class CertificateReports: Sendable {
    /// Reads what is known of a key's certificates.
    private typealias Reading = @Sendable () -> [CertificateValidity]

    private let logger = Logger(label: "certificates")
    private let known = Mutex<[String: Reading]>([:])

    package init() {}

    /// - Parameter keys: those that lead to certificates in this program.
    func declare(in metrics: MetricsRegistry, keys: [String]) {
        metrics.observedGauges(
            "rtm_certificate_days_left",
            "Days until a TLS certificate of this process, or the first of its trusted authorities, "
                + "expires; left out where none is configured.",
            label: "key", values: keys
        ) { key in
            let validities = self.known.withLock { $0[key] }?() ?? []
            return validities.firstToEnd(at: Self.now())?.daysLeft(at: Self.now())
        }
    }

    /// Takes the certificate that is shown from now on.
    func take(_ keys: TLSIdentityKeys, _ identity: TLSIdentity?) {
        guard let validity = identity?.validity else { return }
        take(keys.certificate, [validity]) { facts, verdict in
            switch verdict {
            case .valid: break
            case .endsSoon: logger.warning("a TLS certificate expires soon", metadata: facts)
            case .expired:
                logger.error("a TLS certificate has expired: nobody who checks it connects", metadata: facts)
            case .notYetValid:
                logger.error(
                    "a TLS certificate isn't valid yet: nobody who checks it connects", metadata: facts)
            }
        }
    }

    /// Takes the authorities that are trusted from now on; none where those of the system are.
    package func take(_ key: ConfigurationKey<String?>, authorities: [CertificateValidity]) {
        take(key, authorities, report)
    }

    /// Takes authorities from a file that the process doesn't read itself, and looks at it at each scrape.
    package func follow(_ key: ConfigurationKey<String?>, authoritiesIn path: String) {
        let reading: Reading = {
            (try? TextFile.read(path)).flatMap { try? CertificateValidity.each(inPEM: $0) } ?? []
        }
        take(key, reading(), report)
        known.withLock { $0[key.declaration.name] = reading }
    }

    private func report(_ facts: Logger.Metadata, _ verdict: CertificateValidity.Verdict) {
        switch verdict {
        case .valid: break
        case .endsSoon: logger.warning("a trusted authority expires soon", metadata: facts)
        case .expired:
            logger.error("all trusted authorities have expired: no connection is made", metadata: facts)
        case .notYetValid:
            logger.error("a trusted authority isn't valid yet", metadata: facts)
        }
    }

    private func take(
        _ key: ConfigurationKey<String?>, _ validities: [CertificateValidity],
        _ report: (Logger.Metadata, CertificateValidity.Verdict) -> Void
    ) {
        let name = key.declaration.name
        let before = known.withLock { $0.updateValue({ validities }, forKey: name) }?() ?? []
        guard before != validities, let first = validities.firstToEnd(at: Self.now()) else { return }
        let facts: Logger.Metadata = [
            "certificate": "\(name)", "expires": "\(Self.text(first.ends))",
            "valid from": "\(Self.text(first.begins))",
        ]
        report(facts, first.verdict(at: Self.now()))
    }

    static func now() -> Int { Int(WallClock.milliseconds() / 1_000) }

    static func text(_ seconds: Int) -> String { Timestamp.text(UInt64(max(0, seconds)) * 1_000) }
}

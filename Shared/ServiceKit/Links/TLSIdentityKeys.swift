internal import Logging
package import NIOSSL
internal import RTMModel
package import RTMServiceLink
internal import Synchronization

/// The two keys that name the certificate and the private key of listeners, and what their files hold.
package struct TLSIdentityKeys: Sendable {
    /// What the certificate is called in metrics: "edge".
    let listener: String
    let certificate, key: ConfigurationKey<String?>
    private let least: TLSVersion

    package init(
        listener: String, _ certificate: ConfigurationKey<String?>, _ key: ConfigurationKey<String?>,
        least: TLSVersion = .tlsv12
    ) {
        self.listener = listener
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
        guard let validity = identity?.validity, let path = configuration[certificate] else { return nil }
        let reason =
            switch validity.verdict(at: CertificateReports.now()) {
            case .expired:
                "the certificate in the file \(path) expired at \(CertificateReports.text(validity.ends))"
            case .notYetValid:
                "the certificate in the file \(path) is not valid before "
                    + CertificateReports.text(validity.begins)
            case .valid, .endsSoon: nil as String?
            }
        return reason.map {
            ConfigurationProblem(
                certificate.declaration.name, from: "\(configuration.origin(of: certificate))",
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

/// Reports until when the certificates of a process are valid, in a metric and in the log.
package final class CertificateReports: Sendable {
    private let logger = Logger(label: "certificates")
    private let known = Mutex<[String: CertificateValidity]>([:])

    package init() {}

    /// - Parameter listeners: what may have a certificate in this program.
    func declare(in metrics: MetricsRegistry, listeners: [String]) {
        metrics.observedGauges(
            "rtm_certificate_days_left",
            "Days until a TLS certificate of this process expires, and left out where there is none.",
            label: "listener", values: listeners
        ) { listener in
            self.known.withLock { $0[listener] }.map { $0.daysLeft(at: Self.now()) }
        }
    }

    /// Takes the certificate that is shown from now on.
    func take(_ keys: TLSIdentityKeys, _ identity: TLSIdentity?) {
        guard let validity = identity?.validity else { return }
        let isNew = known.withLock { $0.updateValue(validity, forKey: keys.listener) != validity }
        guard isNew else { return }
        let name = keys.certificate.declaration.name
        var facts: Logger.Metadata = ["certificate": "\(name)", "expires": "\(Self.text(validity.ends))"]
        switch validity.verdict(at: Self.now()) {
        case .valid: break
        case .endsSoon: logger.warning("a TLS certificate expires soon", metadata: facts)
        case .expired:
            logger.error("a TLS certificate has expired: nobody who checks it connects", metadata: facts)
        case .notYetValid:
            facts["valid from"] = "\(Self.text(validity.begins))"
            logger.error("a TLS certificate isn't valid yet: nobody who checks it connects", metadata: facts)
        }
    }

    static func now() -> Int { Int(WallClock.milliseconds() / 1_000) }

    static func text(_ seconds: Int) -> String { Timestamp.text(UInt64(max(0, seconds)) * 1_000) }
}

internal import Logging
package import RTMServiceLink

extension ServiceLinkConfiguration {
    /// Reads the settings that both ends of every link of an installation share, and follows secret and
    /// certificates while the program runs.
    ///
    /// - Parameter isNetworked: whether the links leave this process.
    package init(_ context: ServiceContext, isNetworked: Bool) throws {
        self.init()
        let configuration = context.configuration
        let secret = ServiceLinkSecret(configuration[ServiceLinkKeys.secret]?.revealed ?? "")
        self.secret = secret
        guard isNetworked else {
            context.onChange(of: ServiceLinkKeys.secret.declarations) { next in
                let text = next[ServiceLinkKeys.secret]?.revealed ?? ""
                return { secret.set(text) }
            }
            return
        }
        let tls = try Self.contexts(configuration) { try TextFile.read($0) }.map(ServiceLinkTLS.init)
        self.tls = tls
        context.onChange(of: ServiceLinkKeys.live) { next in
            let text = next[ServiceLinkKeys.secret]?.revealed ?? ""
            let contexts = try Self.contexts(next) { try TextFile.read($0) }
            return {
                secret.set(text)
                if let contexts { tls?.take(contexts) }
            }
        }
    }

    /// Reads the settings once, for a command that ends soon.
    package init(_ configuration: Configuration) throws {
        self.init()
        secret = ServiceLinkSecret(configuration[ServiceLinkKeys.secret]?.revealed ?? "")
        tls = try Self.contexts(configuration) { try TextFile.read($0) }.map(ServiceLinkTLS.init)
    }

    /// What is wrong with the files of TLS between services; nil if they can be used.
    @Sendable package static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try contexts(configuration, read)
            return nil
        } catch {
            return error.problems.first
        }
    }

    /// Nil without TLS. Throws the key whose file can't be used.
    private static func contexts(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> ServiceLinkTLS.Contexts? {
        guard configuration[ServiceLinkKeys.tls] else { return nil }
        func text(_ part: ServiceLinkTLS.UnusablePart.Part) throws(ConfigurationError) -> String? {
            try configuration.use(part.key, for: part.content, read) { $0 }
        }
        let (certificate, key, trust) = (try text(.certificate), try text(.key), try text(.trust))
        let identity = certificate.flatMap { certificate in key.map { (certificate, $0) } }
        do {
            return try ServiceLinkTLS.Contexts(identity: identity, trust: trust)
        } catch {
            let path = configuration[error.part.key].map { "the file \($0)" } ?? "the system"
            let reason = "\(path) does not hold \(error.part.content): \(error)"
            throw configuration.refusal(of: error.part.key, reason, error.part.content)
        }
    }
}

extension ServiceLinkServerConfiguration {
    /// Makes a service's limits of connections follow from the descriptors of the process.
    package mutating func fit(_ context: ServiceContext, at endpoint: ServiceLinkEndpoint) {
        guard endpoint.isNetworked else { return }
        let wanted = linksMax
        guard fit(context.accepting) else { return }
        context.logger.warning(
            "the process may have fewer descriptors than all links need",
            metadata: [
                "descriptors": "\(context.accepting.plan.limit ?? 0)", "links": "\(linksMax)",
                "wanted": "\(wanted)",
            ])
    }
}

extension ServiceLinkTLS.UnusablePart.Part {
    fileprivate var key: ConfigurationKey<String?> {
        switch self {
        case .certificate: ServiceLinkKeys.certificate
        case .key: ServiceLinkKeys.key
        case .trust: ServiceLinkKeys.trust
        }
    }

    /// What the file has to hold.
    fileprivate var content: String {
        switch self {
        case .certificate: "a certificate chain"
        case .key: "the private key of the certificate"
        case .trust: "certificates of authorities"
        }
    }
}

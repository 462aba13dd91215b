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
        let first = try Self.parts(configuration) { try TextFile.read($0) }
        let tls = first.map { ServiceLinkTLS($0.contexts) }
        self.tls = tls
        let certificates = context.certificates
        certificates.take(ServiceLinkKeys.identity, first?.identity)
        certificates.take(ServiceLinkKeys.trust, authorities: first?.contexts.authorities ?? [])
        context.onChange(of: ServiceLinkKeys.live) { next in
            let text = next[ServiceLinkKeys.secret]?.revealed ?? ""
            let parts = try Self.parts(next) { try TextFile.read($0) }
            return {
                secret.set(text)
                guard let tls, let parts else { return }
                tls.take(parts.contexts)
                certificates.take(ServiceLinkKeys.identity, parts.identity)
                certificates.take(ServiceLinkKeys.trust, authorities: parts.contexts.authorities)
            }
        }
    }

    /// Reads the settings once, for a command that ends soon.
    package init(_ configuration: Configuration) throws {
        self.init()
        secret = ServiceLinkSecret(configuration[ServiceLinkKeys.secret]?.revealed ?? "")
        tls = try Self.parts(configuration) { try TextFile.read($0) }.map { ServiceLinkTLS($0.contexts) }
    }

    /// What is wrong with the files of TLS between services; nil if they can be used.
    @Sendable package static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            guard let parts = try parts(configuration, read) else { return nil }
            return ServiceLinkKeys.identity.problem(configuration, parts.identity)
                ?? configuration.problem(of: ServiceLinkKeys.trust, authorities: parts.contexts.authorities)
        } catch {
            return error.problems.first
        }
    }

    /// Nil without TLS. Throws the key whose file can't be used.
    private static func parts(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> (identity: TLSIdentity?, contexts: ServiceLinkTLS.Contexts)? {
        guard configuration[ServiceLinkKeys.tls] else { return nil }
        let identity = try ServiceLinkKeys.identity.read(configuration, read)
        let content = "certificates of authorities"
        let trust = try configuration.use(ServiceLinkKeys.trust, for: content, read) { $0 }
        do {
            return (identity, try ServiceLinkTLS.Contexts(identity: identity, trust: trust))
        } catch {
            let path = configuration[ServiceLinkKeys.trust].map { "the file \($0)" } ?? "the system"
            let reason = "\(path) does not hold \(content): \(error)"
            throw configuration.refusal(of: ServiceLinkKeys.trust, reason, content)
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

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
            context.onChange(of: [ServiceLinkKeys.secret.declaration]) { next in
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

    /// What is wrong with the files of TLS between services; nil if they can be used.
    @Sendable package static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try contexts(configuration, read)
            return nil
        } catch {
            let origin = "\(configuration.origin(of: ServiceLinkKeys.tls))"
            return ConfigurationProblem("link.tls", from: origin, ServiceFailure(error).cause)
        }
    }

    /// Nil without TLS. Throws `ServiceFailure.configuration` with the files that can't be used.
    private static func contexts(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) throws -> ServiceLinkTLS.Contexts? {
        guard configuration[ServiceLinkKeys.tls] else { return nil }
        let paths = (configuration[ServiceLinkKeys.certificate], configuration[ServiceLinkKeys.key])
        let trust = configuration[ServiceLinkKeys.trust]
        do {
            var identity: (certificate: String, key: String)?
            if case (let certificate?, let key?) = paths {
                identity = (try read(certificate), try read(key))
            }
            return try ServiceLinkTLS.Contexts(identity: identity, trust: try trust.map(read))
        } catch {
            let files = [paths.0, paths.1, trust].compactMap(\.self).joined(separator: ", ")
            throw ServiceFailure.configuration("TLS between services with \(files): \(error)")
        }
    }
}

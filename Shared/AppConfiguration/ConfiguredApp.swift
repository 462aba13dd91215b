package import Logging
package import RTMAccessToken
import RTMCredentials
import RTMModel
package import RTMServiceKit

/// An app as the configuration has it, with what checks its tokens: the same for every service that lets
/// users in.
package struct ConfiguredApp: Sendable {
    package let record: AppRecord
    /// Nil for an app that needs no tokens (S-2).
    package let tokens: AppTokens?
    /// Why keys of the file of its JWTs aren't used, a clause for each.
    private let keysPassedOver: [String]
    /// What the operator reserves, but for topics, which edges alone have.
    package let policies: ForeignPolicies

    /// The keys that it is made of.
    package static let keys =
        CommonKeys.apps.declarations + CommonKeys.tokenLifeMax.declarations
        + PermissionKeys.table.declarations + JWTKeyKeys.table.declarations

    /// Reads the apps with the keys of their JWTs. A file is read once, however many apps name it.
    ///
    /// - Parameters:
    ///   - fetches: has the keys of URLs; without it there are none.
    ///   - read: reads a text file.
    /// - Throws: the key `apps` with the file that can't be used, and why.
    package static func all(
        in configuration: Configuration, _ fetches: KeyFetches? = nil,
        _ read: (String) throws -> String = { try TextFile.read($0) }
    ) throws(ConfigurationError) -> [ConfiguredApp] {
        let lifeMax = configuration[CommonKeys.tokenLifeMax]
        let policies = ForeignPolicies(
            userMetadata: configuration[PermissionKeys.userMetadataWriters],
            locks: configuration[PermissionKeys.lockRevokers])
        var files: [String: JWTKeySet] = [:]
        var apps: [ConfiguredApp] = []
        for (index, record) in configuration[CommonKeys.apps].enumerated() {
            if let path = record.jwtKeys, files[path] == nil {
                files[path] = try keySet(at: path, index + 1, configuration, read)
            }
            var keys: (any JWTKeySource)? = record.jwtKeys.flatMap { files[$0] }
            if let url = record.jwtKeysURL.flatMap({ HTTPURL($0) }) {
                keys = fetches?.keys(at: url) ?? NoKeys()
            }
            let jwts = keys.map {
                JWTVerifier(
                    keys: $0, issuer: record.jwtIssuer, audience: record.jwtAudience ?? record.id,
                    lifeMax: lifeMax)
            }
            let tokens = record.certificate.map {
                TokenVerifier(appID: record.id, certificate: $0.revealed, lifeMax: lifeMax)
            }
            apps.append(
                ConfiguredApp(
                    record: record, tokens: AppTokens(tokens, jwts),
                    keysPassedOver: record.jwtKeys.flatMap { files[$0]?.passedOver } ?? [],
                    policies: policies))
        }
        return apps
    }

    /// Names the keys of JWTs that are passed over, once for each file.
    package static func reportKeys(of apps: [ConfiguredApp], _ logger: Logger) {
        var reported: Set<String> = []
        for app in apps where !app.keysPassedOver.isEmpty {
            guard let file = app.record.jwtKeys, reported.insert(file).inserted else { continue }
            logger.notice(
                "keys of JWTs are passed over",
                metadata: [
                    "app": "\(app.record.id)", "file": "\(file)",
                    "keys": .array(app.keysPassedOver.prefix(10).map { "\($0)" }),
                ])
        }
    }

    /// What can't be used of the files that the apps' records name.
    package static func problem(
        _ configuration: Configuration, _ read: (String) throws -> String
    ) -> ConfigurationProblem? {
        do {
            _ = try all(in: configuration, nil, read)
            return nil
        } catch {
            return error.problems.first
        }
    }

    /// - Parameter number: that of the app's record, from 1 on.
    private static func keySet(
        at path: String, _ number: Int, _ configuration: Configuration, _ read: (String) throws -> String
    ) throws(ConfigurationError) -> JWTKeySet {
        func refusal(_ reason: String) -> ConfigurationError {
            let key = CommonKeys.apps
            let advice = "Set jwtKeys in record \(number) to a JWKS document, or to a public key in PEM"
            return ConfigurationError([
                ConfigurationProblem(
                    key.declaration.name, from: "\(configuration.origin(of: key))", "\(reason). \(advice)")
            ])
        }
        let text: String
        do {
            text = try read(path)
        } catch {
            throw refusal("the file \(path) can't be read: \(error)")
        }
        do throws(JWTKeyProblem) {
            return try JWTKeySet(text)
        } catch {
            throw refusal("the file \(path) can't be used: \(error)")
        }
    }

    /// Where keys aren't fetched, as while a configuration is checked.
    private struct NoKeys: JWTKeySource {
        func check(_ signed: SignedJWT) throws(RTMError) {
            throw RTMError(.loginNoServerResources, "this program fetches no keys of JWTs")
        }
    }

    package static let rules = [rule, .networks(JWTKeyKeys.privateAddresses)]

    /// Without this check an app could be served that no user can log in to: builders of tokens refuse such
    /// ids and certificates (A-7).
    private static let rule = ConfigurationRule(CommonKeys.apps) { apps in
        var numbers: [String: Int] = [:]
        for (index, app) in apps.enumerated() {
            if let first = numbers.updateValue(index + 1, forKey: app.id) {
                return "has the id \"\(app.id)\" in record \(first) and again in record \(index + 1). "
                    + "Keep one of the two"
            }
            if !app.takesJWTs, app.jwtIssuer ?? app.jwtAudience != nil {
                return "says in record \(index + 1) whose JWTs are taken, but has no jwtKeys there. "
                    + "Set jwtKeys to the file of their keys, or jwtKeysURL to its URL, "
                    + "or leave jwtIssuer and jwtAudience out"
            }
            if let url = app.jwtKeysURL {
                guard app.jwtKeys == nil else {
                    return "has both jwtKeys and jwtKeysURL in record \(index + 1). Keep one of the two"
                }
                guard HTTPURL(url) != nil else {
                    return "has a jwtKeysURL in record \(index + 1) that is no URL. Set one such as "
                        + "https://login.example.com/.well-known/jwks.json, without user, password and #"
                }
            }
            guard let certificate = app.certificate else { continue }
            guard AccessToken.isIdentifier(certificate.revealed) else {
                return "has a certificate in record \(index + 1) that is not 32 hexadecimal digits. "
                    + "Set one as `openssl rand -hex 16` prints it"
            }
            guard AccessToken.isIdentifier(app.id) else {
                return
                    "has an id in record \(index + 1) that is not 32 hexadecimal digits, which it has to be "
                    + "where there is a certificate. Set such an id, or leave the certificate out"
            }
        }
        return nil
    }
}

/// Who may change what belongs to others: the same at every door through which users come.
package struct PermissionKeys: ServiceKeys {
    package static let table = Self()

    let userMetadataWriters = ConfigurationKey<ForeignPolicies.Policy>.choice(
        "edge.permissions.userMetadata", default: .everybody,
        "Who may write the metadata of another user, at an edge and over HTTP: everybody whom no token restricts, or those whose token lists that user (D-16)."
    ).live
    let lockRevokers = ConfigurationKey<ForeignPolicies.Policy>.choice(
        "edge.permissions.revokeLocks", default: .everybody,
        "Who may revoke and remove locks, at an edge and over HTTP: everybody whom no token restricts, or those whose token lists the channel for writing (K-9)."
    ).live
}

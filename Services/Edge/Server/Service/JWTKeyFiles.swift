import RTMAccessToken
import RTMServiceKit

/// The files with keys of JWTs that apps name. Each is read once, however many apps name it.
struct JWTKeyFiles {
    private let configuration: Configuration
    private let read: (String) throws -> String
    private var sets: [String: JWTKeySet] = [:]

    /// - Parameter read: reads a text file.
    init(_ configuration: Configuration, _ read: @escaping (String) throws -> String) {
        self.configuration = configuration
        self.read = read
    }

    /// Nil for an app that names no file.
    ///
    /// - Parameter number: that of the app's record, from 1 on.
    /// - Throws: the key `apps` with the file that can't be used, and why.
    mutating func verifier(
        of app: AppRecord, number: Int
    ) throws(ConfigurationError) -> JWTVerifier? {
        guard let path = app.jwtKeys else { return nil }
        return JWTVerifier(
            keys: try keys(at: path, number), issuer: app.jwtIssuer, audience: app.jwtAudience ?? app.id,
            lifeMax: configuration[EdgeKeys.tokenLifeMax])
    }

    private mutating func keys(at path: String, _ number: Int) throws(ConfigurationError) -> JWTKeySet {
        if let known = sets[path] { return known }
        let text: String
        do {
            text = try read(path)
        } catch {
            throw refusal("the file \(path) can't be read: \(error)", number)
        }
        do throws(JWTKeyProblem) {
            let keys = try JWTKeySet(text)
            sets[path] = keys
            return keys
        } catch {
            throw refusal("the file \(path) can't be used: \(error)", number)
        }
    }

    private func refusal(_ reason: String, _ number: Int) -> ConfigurationError {
        let key = CommonKeys.apps
        let advice = "Set jwtKeys in record \(number) to a JWKS document, or to a public key in PEM"
        return ConfigurationError([
            ConfigurationProblem(
                key.declaration.name, from: "\(configuration.origin(of: key))", "\(reason). \(advice)")
        ])
    }
}

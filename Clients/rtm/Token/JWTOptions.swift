import ArgumentParser
import RTMAccessToken
import RTMClient

/// What names the maker and the audience of a JWT.
struct JWTOptions: ParsableArguments {
    @Option(help: .init("Issuer of the JWT (iss).", valueName: "text"))
    var jwtIssuer: String?

    @Option(help: .init("Audience of the JWT (aud). Without it, the app id.", valueName: "text"))
    var jwtAudience: String?
}

extension JWTOptions {
    /// Makes keys of the file that an option names.
    ///
    /// - Throws: `.invalidParameter` (-10014) with the option, the file and what is wrong with it.
    static func key<Key>(
        _ option: String, at path: String, _ readFile: (String) throws -> String,
        _ make: (String) throws(JWTKeyProblem) -> Key
    ) throws(RTMError) -> Key {
        let text = try NamedFile.text(at: path, option, for: "token", readFile)
        do throws(JWTKeyProblem) {
            return try make(text)
        } catch {
            throw RTMError(
                .invalidParameter, "\(option): '\(path)' can't be used: \(error)", operation: "token")
        }
    }
}

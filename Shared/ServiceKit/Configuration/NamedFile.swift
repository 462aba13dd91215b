internal import RTMServiceLink

/// What the files hold that keys name. A file that can't be used is a problem of its key.
extension Configuration {
    /// Reads the file that a key names, and makes something of its text. Nil if the key names none.
    ///
    /// - Parameters:
    ///   - content: what the file has to hold: "a private key".
    ///   - read: reads a text file.
    /// - Throws: `ConfigurationError` with the key, the file, what is wrong with it, and what to set.
    package func use<Content>(
        _ key: ConfigurationKey<String?>, for content: String, _ read: (String) throws -> String,
        _ make: (String) throws -> Content
    ) throws(ConfigurationError) -> Content? {
        guard let path = self[key] else { return nil }
        let text: String
        do {
            text = try read(path)
        } catch {
            throw refusal(of: key, "the file \(path) can't be read: \(error)", content)
        }
        do {
            return try make(text)
        } catch {
            throw refusal(
                of: key, "the file \(path) does not hold \(content): \(fileFailure(error))", content)
        }
    }

    /// - Parameter reason: a sentence without its full stop.
    package func refusal(
        of key: ConfigurationKey<String?>, _ reason: String, _ content: String
    ) -> ConfigurationError {
        let name = key.declaration.name
        let advice = "Set \(name) to a PEM file with \(content) that this user may read"
        return ConfigurationError([
            ConfigurationProblem(name, from: "\(origin(of: key))", "\(reason). \(advice)")
        ])
    }
}

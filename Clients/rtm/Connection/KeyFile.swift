import Foundation
import RTMClient

/// The file that `--key-file` names: keys of the end-to-end encryption, one a line. A line has the salt in 64
/// hexadecimal digits, a space, and the secret. What is published is encrypted with the first key.
///
///     echo "$(openssl rand -hex 32) $(openssl rand -base64 32)" > team.key
enum KeyFile {
    private static let source = "--key-file"

    /// - Throws: `.invalidParameter` (-10014) for a file that can't be read, and for one without a key or
    ///   with a line that is none. No error shows what is in the file.
    static func keys(
        at path: String,
        readFile: (String) throws -> String = { try String(contentsOfFile: $0, encoding: .utf8) }
    ) throws(RTMError) -> [EncryptionKey] {
        let text = try NamedFile.text(at: path, source, for: "init", readFile)
        var keys: [EncryptionKey] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
            if !line.isEmpty { keys.append(try key(line, "\(source): line \(index + 1) of '\(path)'")) }
        }
        guard !keys.isEmpty else { throw refusal("\(source): '\(path)' has no key") }
        return keys
    }

    private static func key(_ line: String, _ place: String) throws(RTMError) -> EncryptionKey {
        guard let space = line.firstIndex(of: " "), let salt = Data(hexadecimal: line[..<space]) else {
            throw refusal("\(place) is not a salt in 64 hexadecimal digits, a space and a secret")
        }
        let secret = line[space...].trimmingCharacters(in: .whitespaces)
        do {
            return try EncryptionKey(secret, salt: salt)
        } catch {
            throw refusal("\(place): \(error.reason)")
        }
    }

    private static func refusal(_ reason: String) -> RTMError {
        RTMError(.invalidParameter, reason, operation: "init")
    }
}

extension Data {
    /// `nil` for a text that isn't made of pairs of hexadecimal digits.
    fileprivate init?(hexadecimal text: Substring) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self.init(
            stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

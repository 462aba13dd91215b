internal import Foundation

/// What an operator asks of a service at the admin port.
package struct AdminRequest: Sendable, Hashable {
    package let method: String
    /// The parameters of the query, by name, decoded. Of those with one name the last one counts.
    package let query: [String: String]

    package init(method: String = "GET", query: [String: String] = [:]) {
        self.method = method
        self.query = query
    }

    /// - Parameter uri: the target of a request line.
    init(method: String, uri: String) {
        let pairs = uri.drop { $0 != "?" }.dropFirst().split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (Self.decoded(name), Self.decoded(pair.dropFirst(name.count + 1)))
        }
        self.init(method: method, query: Dictionary(pairs) { $1 })
    }

    private static func decoded(_ text: Substring) -> String {
        let plain = text.replacing("+", with: " ")
        return plain.removingPercentEncoding ?? String(plain)
    }
}

/// What the admin port answers.
package struct AdminAnswer: Sendable, Hashable {
    package let status: Int
    package let contentType: String
    package let body: String
    /// The allowed methods, for the answer 405.
    var allowed: String?
    /// Whether the answer asks for the key, as 401 does.
    var asksForKey = false

    static let plain = "text/plain; charset=utf-8"
    static let json = "application/json"

    package static func json(_ text: String) -> AdminAnswer {
        AdminAnswer(status: 200, contentType: json, body: text + "\n")
    }

    /// - Parameter reason: a sentence for who has asked.
    package static func refused(_ status: Int, _ reason: String) -> AdminAnswer {
        AdminAnswer(status: status, contentType: plain, body: reason + "\n")
    }

    static func methodNotAllowed(_ path: String, _ methods: [String]) -> AdminAnswer {
        let list =
            methods.count == 1
            ? methods[0] : methods.dropLast().joined(separator: ", ") + " and " + methods[methods.count - 1]
        var answer = refused(405, "\(path) answers \(list) only")
        answer.allowed = methods.joined(separator: ", ")
        return answer
    }
}

/// A page that a service makes for each request. It shows what users do, so a port that other machines reach
/// shows it only for a key.
struct AdminRoute: Sendable {
    let methods: [String]
    /// The key of the present configuration; nil if there is none.
    let key: @Sendable () -> Secret?
    /// The name of the key in the configuration.
    let keyName: String
    let answer: @Sendable (AdminRequest) async -> AdminAnswer

    /// Nil if the request may be answered.
    ///
    /// - Parameters:
    ///   - authorization: the header of that name.
    ///   - isLoopback: whether only this machine reaches the port.
    func refusal(_ authorization: String?, isLoopback: Bool) -> AdminAnswer? {
        guard let key = key() else {
            guard !isLoopback else { return nil }
            return .refused(
                403,
                "This page shows what users do, and other machines reach this port. Set \(keyName), or keep "
                    + "the port on loopback.")
        }
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
        // One space or several (RFC 9110, 11.4).
        let credentials = words.last?.drop { $0 == " " } ?? ""
        if words.count == 2, words[0].lowercased() == "bearer", key.isEqual(to: String(credentials)) {
            return nil
        }
        var answer = AdminAnswer.refused(
            401, "This page needs the key \(keyName): send it in a header, \"Authorization: Bearer KEY\".")
        answer.asksForKey = true
        return answer
    }
}

import HTTPTypes
import Hummingbird
import RTMAPIKey
import RTMCryptography

/// How a browser that shows the console says who calls: a cookie has the API key, and no script can read it.
/// Whatever changes something also needs a header with a token that only pages of this server know, so that
/// no other page can make a browser do it.
struct ConsoleSession {
    private static let name = "rtm_console"

    let key: APIKey

    init(_ key: APIKey) { self.key = key }

    /// Nil without the cookie.
    init?(_ request: Request) {
        guard let value = request.cookies[Self.name]?.value, let key = APIKey(value) else { return nil }
        self.key = key
    }

    /// What the header `rtm-csrf` has to have. Who knows it can't find the key by it.
    var csrf: String {
        MessageCode.make(over: Array(key.text.utf8), key: Array("heliograph console".utf8))
            .map { String($0, radix: 16) }.joined()
    }

    func cookie(isSecure: Bool) -> Cookie {
        Cookie(
            name: Self.name, value: key.text, path: "/", secure: isSecure, httpOnly: true, sameSite: .strict)
    }

    /// Makes the browser forget the cookie.
    static func end(isSecure: Bool) -> Cookie {
        Cookie(
            name: name, value: "", maxAge: 0, path: "/", secure: isSecure, httpOnly: true, sameSite: .strict)
    }

    /// - Throws: 403 for a change without the header.
    func checkOrigin(of request: Request) throws(APIError) {
        guard request.method != .get, request.method != .head else { return }
        let token = request.headers[.csrf] ?? ""
        guard MessageCode.areEqual(Array(token.utf8), Array(csrf.utf8)) else {
            throw APIError(
                .forbidden, "csrfTokenNeeded",
                "with the cookie of the console, a change needs the header rtm-csrf that its login has given")
        }
    }
}

extension Request {
    /// The headers with what says who calls. Where nothing else does, that is the key in the cookie of the
    /// console.
    var credentials: HTTPFields {
        get throws(APIError) {
            guard !Credentials.areIn(headers), let session = ConsoleSession(self) else { return headers }
            try session.checkOrigin(of: self)
            var fields = headers
            fields[.authorization] = "Bearer \(session.key.text)"
            return fields
        }
    }
}

extension HTTPField.Name {
    static let csrf = Self("rtm-csrf")!
}

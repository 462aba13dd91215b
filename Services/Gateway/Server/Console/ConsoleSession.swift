import Foundation
import HTTPTypes
import Hummingbird
import RTMCredentials
import RTMCryptography

/// How a browser that shows the console says who calls: a cookie has a session, and no script can read it.
/// Whatever changes something also needs a header with a token that only pages of this server know, so that
/// no other page can make a browser do it.
///
/// The session is the API key and its end, encrypted: browsers send a cookie to every port of a host, and who
/// listens there must not get a key that works elsewhere and tomorrow. A gateway keeps no table of sessions;
/// those that share a link secret take each other's.
struct ConsoleSession {
    /// Limit: how long a session lasts, in seconds.
    private static let life: UInt64 = 12 * 3_600
    private static let bytesMax = 512

    let key: APIKey

    init(_ key: APIKey) { self.key = key }

    /// What the header `rtm-csrf` has to have. Who knows it can't find the key by it.
    var csrf: String {
        MessageCode.make(over: Array(key.text.utf8), key: Array("heliograph console".utf8))
            .map { String($0, radix: 16) }.joined()
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

    /// Encrypts sessions, and decrypts those that it or a gateway with the same secret has encrypted.
    struct Seal: Sendable {
        private let key: SecretKey

        /// - Parameter secret: what gateways share; nil for one of its own, which ends with the process.
        init(_ secret: String?) {
            key =
                secret.map {
                    SecretKey(MessageCode.make(over: Array("console".utf8), key: Array($0.utf8)))
                } ?? .random(byteCount: 32)
        }

        /// - Parameter now: in seconds since 1970.
        func close(_ session: ConsoleSession, now: UInt64) -> String {
            let text = "\(now + life) \(session.key.text)"
            let nonce = (0..<AESGCM.nonceBytes).map { _ in UInt8.random(in: .min ... .max) }
            return Data(nonce + AESGCM.seal(text.utf8, with: key, nonce: nonce)).base64EncodedString()
        }

        /// Nil for what isn't a session, or is over.
        func open(_ text: String, now: UInt64) -> ConsoleSession? {
            guard text.utf8.count <= bytesMax, let bytes = Data(base64Encoded: text),
                let plain = AESGCM.open(
                    bytes.dropFirst(AESGCM.nonceBytes), with: key,
                    nonce: Array(bytes.prefix(AESGCM.nonceBytes)))
            else { return nil }
            let words = String(decoding: plain, as: UTF8.self).split(separator: " ")
            guard words.count == 2, let end = UInt64(words[0]), now < end else { return nil }
            return APIKey(String(words[1])).map { ConsoleSession($0) }
        }
    }
}

/// The cookie of a session. Over TLS its name begins with `__Host-`, so browsers take it from no other site
/// and no page without TLS; there a cookie of the plain name counts for nothing.
struct ConsoleCookie {
    private static let plainName = "rtm_console"

    /// Whether the browser speaks TLS: with this listener, or with a proxy in front of it.
    let isSecure: Bool

    init(_ request: Request, isSecure: Bool) {
        // A page that a browser has by TLS says so when it posts, and a proxy says so for all requests.
        // Whoever sends these headers without TLS gets a cookie that a browser wouldn't keep.
        self.isSecure =
            isSecure || request.headers[.origin]?.hasPrefix("https://") == true
            || request.headers[.forwardedProtocol]?.lowercased() == "https"
    }

    private var name: String { isSecure ? "__Host-\(Self.plainName)" : Self.plainName }

    func value(in request: Request) -> String? {
        let secure = request.cookies["__Host-\(Self.plainName)"]?.value
        return isSecure ? secure : secure ?? request.cookies[Self.plainName]?.value
    }

    func holding(_ value: String) -> Cookie {
        Cookie(name: name, value: value, path: "/", secure: isSecure, httpOnly: true, sameSite: .strict)
    }

    /// Makes the browser forget the cookie.
    var ended: Cookie {
        Cookie(
            name: name, value: "", maxAge: 0, path: "/", secure: isSecure, httpOnly: true, sameSite: .strict)
    }
}

extension Authentication {
    /// The session in the cookie of the console; nil without one.
    func session(of request: Request, isSecure: Bool = false) -> ConsoleSession? {
        let value = ConsoleCookie(request, isSecure: isSecure).value(in: request)
        return value.flatMap { seal.open($0, now: UInt64(Date().timeIntervalSince1970)) }
    }

    /// The headers with what says who calls. Where nothing else does, that is the key in the session of the
    /// console.
    func credentials(of request: Request) throws(APIError) -> HTTPFields {
        guard !Credentials.areIn(request.headers), let session = session(of: request) else {
            return request.headers
        }
        try session.checkOrigin(of: request)
        var fields = request.headers
        fields[.authorization] = "Bearer \(session.key.text)"
        return fields
    }
}

extension HTTPField.Name {
    static let csrf = Self("rtm-csrf")!
    fileprivate static let forwardedProtocol = Self("X-Forwarded-Proto")!
}

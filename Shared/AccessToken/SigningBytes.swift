// The bytes that a token's signature covers: A-2 … A-4. Numbers are little-endian, texts and lists carry
// their length in 16 bits, and lists that are maps go by ascending key.

import RTMModel

extension AccessToken {
    /// The bytes as every builder writes them, so that equal tokens have equal bytes.
    package var signingBytes: [UInt8] {
        var bytes = ByteWriter()
        bytes.text(appID)
        bytes.number(issuedAt)
        bytes.number(lifetimeSeconds)
        bytes.number(salt)
        bytes.count(services.count)
        // Swift's sort is stable, as A-4 demands, but no document promises it. So the place decides instead.
        let ordered = services.enumerated().sorted {
            ($0.element.kind.rawValue, $0.offset) < ($1.element.kind.rawValue, $1.offset)
        }
        for (_, service) in ordered { service.write(to: &bytes) }
        return bytes.bytes
    }

    /// - Returns: the token, and how many services are left unread because the first of them is of a kind
    ///   whose length is unknown.
    static func read(_ bytes: ArraySlice<UInt8>) throws(RTMError) -> (token: AccessToken, unread: Int) {
        var bytes = ByteReader(bytes)
        var token = AccessToken(
            appID: try bytes.text("the app id"), issuedAt: try bytes.number("the issue time"),
            lifetimeSeconds: try bytes.number("the lifetime"), salt: try bytes.number("the salt"),
            services: [])
        let count = try Int(bytes.number("the number of services") as UInt16)
        while token.services.count < count {
            let number: UInt16 = try bytes.number("the type of a service")
            guard let kind = TokenService.Kind(rawValue: number) else {
                return (token, count - token.services.count)
            }
            token.services.append(try TokenService(kind, &bytes))
        }
        guard bytes.rest.isEmpty else {
            throw RTMError(.invalidToken, "the token has \(bytes.rest.count) bytes behind its last service")
        }
        return (token, 0)
    }
}

extension TokenService {
    fileprivate init(_ kind: Kind, _ bytes: inout ByteReader) throws(RTMError) {
        let privileges = try bytes.map("the privileges") { bytes throws(RTMError) in
            try bytes.number("a privilege") as UInt32
        }
        self.init(try Content(kind, &bytes), privileges: privileges)
    }

    fileprivate func write(to bytes: inout ByteWriter) {
        bytes.number(kind.rawValue)
        bytes.map(privileges) { $0.number($1) }
        switch content {
        case .rtc(let channel, let user):
            bytes.text(channel)
            bytes.text(user)
        case .rtm(let user):
            bytes.text(user)
        case .rtm2(let user, let permissions):
            bytes.text(user)
            bytes.map(permissions.lists) { bytes, lists in
                bytes.map(lists) { bytes, names in
                    bytes.count(names.count)
                    for name in names { bytes.text(name) }
                }
            }
        case .other(_, let payload):
            bytes.bytes += payload
        }
    }
}

extension TokenService.Content {
    fileprivate init(_ kind: TokenService.Kind, _ bytes: inout ByteReader) throws(RTMError) {
        switch kind {
        case .rtc:
            self = .rtc(channel: try bytes.text("the channel"), user: try bytes.text("the user id"))
        case .rtm:
            self = .rtm(user: try bytes.text("the user id"))
        case .rtm2:
            self = .rtm2(user: try bytes.text("the user id"), permissions: try bytes.permissions())
        case .streaming, .fpa, .chat, .fcdn, .apaas:
            let start = bytes.rest
            try bytes.skipPayload(of: kind)
            self = .other(kind, payload: Array(start[..<bytes.rest.startIndex]))
        }
    }
}

extension ByteReader {
    fileprivate mutating func permissions() throws(RTMError) -> TokenPermissions {
        let lists = try map("the permissions") { bytes throws(RTMError) in
            try bytes.map("the permissions") { bytes throws(RTMError) in
                try bytes.list("the permissions") { bytes throws(RTMError) in try bytes.text("a permission") }
            }
        }
        return TokenPermissions(lists)
    }

    fileprivate mutating func skipPayload(of kind: TokenService.Kind) throws(RTMError) {
        let textCount =
            switch kind {
            case .chat: 1
            case .streaming, .fcdn, .apaas: 2
            case .rtc, .rtm, .rtm2, .fpa: 0
            }
        for _ in 0..<textCount { _ = try text("the \(kind) service") }
        if kind == .apaas { _ = try number("the role") as UInt16 }
    }
}

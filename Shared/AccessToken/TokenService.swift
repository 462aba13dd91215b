/// One service that a token opens, and what its holder may do there.
package struct TokenService: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// A stream channel; in the reference it is a call. An empty user means any user.
        case rtc(channel: String, user: String)
        /// Messaging.
        case rtm(user: String)
        /// Messaging in the listed channels.
        case rtm2(user: String, permissions: TokenPermissions)
        /// A service that Heliograph doesn't have, with the bytes behind its privileges.
        case other(Kind, payload: [UInt8])
    }

    /// The kinds with their numbers in the format.
    package enum Kind: UInt16, Sendable, CaseIterable {
        case rtc = 1
        case rtm = 2
        case streaming = 3
        case fpa = 4
        case chat = 5
        case fcdn = 6
        case apaas = 7
        case rtm2 = 8
    }

    package var content: Content
    /// The privileges by number, in seconds from the issue of the token; 0 means that the privilege has no
    /// limit of its own.
    package var privileges: [UInt16: UInt32]

    package init(_ content: Content, privileges: [UInt16: UInt32]) {
        self.content = content
        self.privileges = privileges
    }

    package var kind: Kind {
        switch content {
        case .rtc: .rtc
        case .rtm: .rtm
        case .rtm2: .rtm2
        case .other(let kind, _): kind
        }
    }

    /// The user whom this service lets log in, or nil if it lets nobody log in (S-3).
    var loginUser: String? {
        guard privileges[Privilege.login] != nil else { return nil }
        switch content {
        case .rtm(let user), .rtm2(let user, _): return user
        case .rtc, .other: return nil
        }
    }
}

extension TokenService {
    /// The numbers of privileges. A number has a meaning only within its service.
    package enum Privilege {
        /// Permission to log in, of `rtm` and `rtm2`.
        package static let login: UInt16 = 1
        /// Permission to join a channel, of `rtc`, as are the privileges that follow.
        package static let joinChannel: UInt16 = 1
        package static let publishAudio: UInt16 = 2
        package static let publishVideo: UInt16 = 3
        /// Permission to publish topic messages, where the operator requires it.
        package static let publishData: UInt16 = 4
    }

    /// The documented name of a privilege of this service.
    package func name(ofPrivilege number: UInt16) -> String? {
        let names =
            switch kind {
            case .rtc: ["joinChannel", "publishAudio", "publishVideo", "publishData"]
            case .rtm, .rtm2, .fpa: ["login"]
            case .streaming: ["publishMixStream", "publishRawStream"]
            case .chat: ["user", "app"]
            case .fcdn: ["publish", "play"]
            case .apaas: ["roomUser", "user", "app"]
            }
        return names.indices.contains(Int(number) - 1) ? names[Int(number) - 1] : nil
    }
}

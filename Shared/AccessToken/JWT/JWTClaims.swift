import Foundation
package import RTMModel

/// What a JWT says: the registered claims that are checked (RFC 7519), and the claim `rtm`. Times are
/// milliseconds since 1970 (UTC).
package struct JWTClaims: Sendable, Hashable {
    /// The user whom the token lets log in (`sub`).
    package var subject: String?
    /// Who made the token (`iss`).
    package var issuer: String?
    /// For whom it was made (`aud`).
    package var audience: [String] = []
    /// From this instant on the token is void (`exp`).
    package var expiresAt: UInt64?
    /// Before this instant it is not valid yet (`nbf`).
    package var beginsAt: UInt64?
    package var issuedAt: UInt64?
    /// What its user may read and write. Without it nothing is restricted.
    package var permissions: TokenPermissions?
    /// The stream channels that its user may join with the token.
    package var joins: [String] = []
    /// Those of them in which its user has the privilege to publish data.
    package var publishesData: [String] = []

    package init() {}

    /// - Throws: `.invalidToken` (-10005) with the claim that has the wrong form.
    package init(json: [UInt8]) throws(RTMError) {
        do {
            self = try StrictJSON.decode(JWTClaims.self, from: json)
        } catch let refusal as RTMError {
            throw refusal
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context)
        {
            throw .wrongForm(of: context.codingPath)
        } catch {
            throw RTMError(.invalidToken, "the token's claims are not JSON")
        }
    }
}

extension JWTClaims: Codable {
    private enum Name: String, CodingKey { case sub, iss, aud, exp, nbf, iat, rtm }

    package init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: Name.self)
        subject = try claims.decodeIfPresent(String.self, forKey: .sub)
        issuer = try claims.decodeIfPresent(String.self, forKey: .iss)
        // One audience may stand without its list.
        audience =
            if let one = try? claims.decode(String.self, forKey: .aud) {
                [one]
            } else {
                try claims.decodeIfPresent([String].self, forKey: .aud) ?? []
            }
        expiresAt = try claims.milliseconds(.exp)
        beginsAt = try claims.milliseconds(.nbf)
        issuedAt = try claims.milliseconds(.iat)
        guard let rights = try claims.decodeIfPresent(JWTRights.self, forKey: .rtm) else { return }
        permissions = try rights.permissions.map(TokenPermissions.init(named:))
        joins = rights.join ?? []
        publishesData = rights.publishData ?? []
    }

    package func encode(to encoder: any Encoder) throws {
        var claims = encoder.container(keyedBy: Name.self)
        try claims.encodeIfPresent(subject, forKey: .sub)
        try claims.encodeIfPresent(issuer, forKey: .iss)
        if audience.count == 1 {
            try claims.encode(audience[0], forKey: .aud)
        } else if !audience.isEmpty {
            try claims.encode(audience, forKey: .aud)
        }
        for (name, time) in [(Name.exp, expiresAt), (.nbf, beginsAt), (.iat, issuedAt)] {
            try claims.encodeIfPresent(time.map { $0 / 1000 }, forKey: name)
        }
        let rights = JWTRights(
            permissions: permissions?.named, join: joins.isEmpty ? nil : joins,
            publishData: publishesData.isEmpty ? nil : publishesData)
        if rights != JWTRights() { try claims.encode(rights, forKey: .rtm) }
    }
}

/// The claim `rtm` in the words of its JSON.
private struct JWTRights: Codable, Equatable {
    /// Names by access by resource.
    var permissions: [String: [String: [String]]]?
    var join: [String]?
    var publishData: [String]?

    init(
        permissions: [String: [String: [String]]]? = nil, join: [String]? = nil,
        publishData: [String]? = nil
    ) {
        self.permissions = permissions
        self.join = join
        self.publishData = publishData
    }

    private enum Name: String, CodingKey { case permissions, join, publishData }

    /// A name that isn't known is refused. Were it overlooked, a slip of the pen in `permissions` would leave
    /// its user unrestricted.
    init(from decoder: any Decoder) throws {
        let rights = try decoder.container(keyedBy: AnyName.self)
        if let unknown = rights.allKeys.map(\.stringValue).filter({ Name(rawValue: $0) == nil }).min() {
            throw RTMError(.invalidToken, "the token's claim rtm has the unknown field \(unknown.quoted)")
        }
        let known = try decoder.container(keyedBy: Name.self)
        permissions = try known.decodeIfPresent([String: [String: [String]]].self, forKey: .permissions)
        join = try known.decodeIfPresent([String].self, forKey: .join)
        publishData = try known.decodeIfPresent([String].self, forKey: .publishData)
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension TokenPermissions {
    fileprivate init(named lists: [String: [String: [String]]]) throws(RTMError) {
        self.init()
        for (resource, accesses) in lists {
            guard let resource = Resource.allCases.first(where: { "\($0)" == resource }) else {
                throw RTMError(
                    .invalidToken, "the token's claim rtm permits \(resource.quoted), which is nothing here")
            }
            for (access, names) in accesses {
                guard let access = Access.allCases.first(where: { "\($0)" == access }) else {
                    throw RTMError(
                        .invalidToken,
                        "the token's claim rtm permits to \(access.quoted), and there is only read and write")
                }
                self.lists[resource.rawValue, default: [:]][access.rawValue] = names
            }
        }
    }

    fileprivate var named: [String: [String: [String]]] {
        var named: [String: [String: [String]]] = [:]
        for resource in Resource.allCases {
            for access in Access.allCases {
                guard let names = lists[resource.rawValue]?[access.rawValue] else { continue }
                named["\(resource)", default: [:]]["\(access)"] = names
            }
        }
        return named
    }
}

extension KeyedDecodingContainer {
    /// A NumericDate, which is seconds and may have a fraction.
    fileprivate func milliseconds(_ name: Key) throws -> UInt64? {
        guard let seconds = try decodeIfPresent(Double.self, forKey: name) else { return nil }
        // Milliseconds in place of seconds, a common slip, would be a token for tens of thousands of years.
        guard seconds >= 0, seconds <= 1e11 else {
            throw RTMError(
                .invalidToken, "the token's claim \(name.stringValue) is no time in seconds since 1970")
        }
        return UInt64(seconds * 1000)
    }
}

extension RTMError {
    fileprivate static func wrongForm(of path: [any CodingKey]) -> RTMError {
        guard !path.isEmpty else { return RTMError(.invalidToken, "the token's claims are no JSON object") }
        let claim = path.map(\.stringValue).joined(separator: ".")
        return RTMError(.invalidToken, "the token's claim \(claim.quoted) has the wrong form")
    }
}

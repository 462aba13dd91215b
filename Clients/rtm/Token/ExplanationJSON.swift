// An explained token for a program. Times are in seconds since 1970, as in the token itself.

import RTMAccessToken
import RTMClient

extension TokenExplanation {
    var json: JSON {
        [
            "result": .string(CheckOutcome.result(outcomes.map(\.outcome))),
            "token": signed.token.json,
            "unreadServices": .number(signed.unreadServicesCount),
            "checks": .array(outcomes.map { $0.outcome.json("\($0.check)") }),
        ]
    }
}

extension JWTExplanation {
    /// The claims have the names that the public API has for the same in tokens 007.
    var json: JSON {
        let claims: JSON = .object(
            [
                ("algorithm", .string(header.algorithm)), ("key", header.keyID.map(JSON.string)),
                ("issuer", claims.issuer.map(JSON.string)), ("audience", .strings(claims.audience)),
                ("userId", claims.subject.map(JSON.string)), ("issuedAt", claims.issuedAt.map(seconds)),
                ("beginsAt", claims.beginsAt.map(seconds)), ("expiresAt", claims.expiresAt.map(seconds)),
                ("permissions", claims.permissions?.json), ("joins", .strings(claims.joins)),
                ("publishesData", .strings(claims.publishesData)),
            ].compactMap { name, value in value.map { JSON.Field(name: name, value: $0) } })
        return [
            "result": .string(CheckOutcome.result(outcomes.map(\.outcome))), "jwt": claims,
            "checks": .array(outcomes.map { $0.outcome.json("\($0.check)") }),
        ]
    }

    private func seconds(_ milliseconds: UInt64) -> JSON { .number(milliseconds / 1000) }
}

extension AccessToken {
    fileprivate var json: JSON {
        [
            "appId": .string(appID), "issuedAt": .number(issuedAt), "expiresAt": .number(expiresAt),
            "salt": .number(salt), "services": .array(services.map { $0.json(in: self) }),
        ]
    }
}

extension TokenService {
    fileprivate func json(in token: AccessToken) -> JSON {
        let named: [JSON.Field] =
            switch content {
            case .rtc(let channel, let user):
                [
                    .init(name: "channelName", value: .string(channel)),
                    .init(name: "userId", value: .string(user)),
                ]
            case .rtm(let user): [.init(name: "userId", value: .string(user))]
            case .rtm2(let user, let permissions):
                [
                    .init(name: "userId", value: .string(user)),
                    .init(name: "permissions", value: permissions.json),
                ]
            case .other: []
            }
        let privileges = privileges.sorted { $0.key < $1.key }.map { number, seconds -> JSON in
            [
                "privilege": .number(number),
                "name": name(ofPrivilege: number).map(JSON.string) ?? .null,
                "expiresAt": .number(token.expiry(ofPrivilege: seconds)),
            ]
        }
        return .object(
            [
                .init(name: "type", value: .number(kind.rawValue)),
                .init(name: "name", value: .string("\(kind)")),
            ] + named + [.init(name: "privileges", value: .array(privileges))])
    }
}

extension TokenPermissions {
    fileprivate var json: JSON {
        .array(
            entries.map {
                [
                    "resource": .string($0.resource), "access": .string($0.access),
                    "names": .strings($0.names),
                ]
            })
    }
}

extension CheckOutcome {
    fileprivate static func result(_ outcomes: [CheckOutcome]) -> String {
        if outcomes.contains(where: { $0.refusal != nil }) { return "refused" }
        return outcomes.contains(.unknown) ? "undecided" : "ok"
    }

    fileprivate func json(_ check: String) -> JSON {
        let name = check.replacing("ID", with: "Id")
        var fields: [JSON.Field] = [.init(name: "check", value: .string(name))]
        switch self {
        case .passed: fields.append(.init(name: "outcome", value: "passed"))
        case .unknown: fields.append(.init(name: "outcome", value: "unknown"))
        case .unreached: fields.append(.init(name: "outcome", value: "unreached"))
        case .failed(let error):
            fields += [
                .init(name: "outcome", value: "failed"),
                .init(name: "code", value: .number(error.code.rawValue)),
                .init(name: "name", value: .string("\(error.code)")),
                .init(name: "reason", value: .string(error.reason)),
            ]
        }
        return .object(fields)
    }
}

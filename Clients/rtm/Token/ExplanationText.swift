// An explained token for a person: its fields, then the checks in their order.

import Foundation
import RTMAccessToken
import RTMClient

extension TokenExplanation {
    func lines(nowMilliseconds: UInt64) -> [String] {
        let token = signed.token
        func time(_ seconds: UInt64) -> String { timeText(seconds, nowMilliseconds: nowMilliseconds) }
        var lines = [
            row("app id", token.appID.visible),
            row("issued", time(UInt64(token.issuedAt))),
            row("expires", time(token.expiresAt)),
            row("salt", String(token.salt)),
        ]
        for service in token.services {
            lines.append(row("service", service.title.visible))
            for (number, seconds) in service.privileges.sorted(by: { $0.key < $1.key }) {
                let name = service.name(ofPrivilege: number) ?? "privilege \(number)"
                let limit = seconds == 0 ? " (no limit of its own)" : ""
                lines.append(row("", "\(name) until \(time(token.expiry(ofPrivilege: seconds)))\(limit)"))
            }
            lines += service.permissionRows.map { row("", $0.visible) }
        }
        if signed.unreadServicesCount > 0 {
            lines.append(
                row("service", "\(signed.unreadServicesCount) more of kinds that this program doesn't know"))
        }
        return lines + [""] + outcomes.map { row($0.check.words, $0.outcome.words($0.check.missing)) }
    }
}

extension JWTExplanation {
    func lines(nowMilliseconds: UInt64) -> [String] {
        func time(_ milliseconds: UInt64?) -> String? {
            milliseconds.map { timeText($0 / 1000, nowMilliseconds: nowMilliseconds) }
        }
        let fields: [(String, String?)] = [
            ("algorithm", header.algorithm), ("key", header.keyID), ("issuer", claims.issuer),
            ("audience", claims.audience.isEmpty ? nil : claims.audience.joined(separator: ", ")),
            ("user", claims.subject), ("issued", time(claims.issuedAt)), ("begins", time(claims.beginsAt)),
            ("expires", time(claims.expiresAt)),
        ]
        var lines = fields.compactMap { title, text in text.map { row(title, $0.visible) } }
        if let permissions = claims.permissions {
            lines.append(row("permissions", "restricted to the listed names"))
            lines += permissions.rows.map { row("", $0.visible) }
        }
        if !claims.joins.isEmpty { lines.append(row("joins", claims.joins.joined(separator: ", ").visible)) }
        if !claims.publishesData.isEmpty {
            lines.append(row("publishes data", claims.publishesData.joined(separator: ", ").visible))
        }
        return lines + [""] + outcomes.map { row($0.check.words, $0.outcome.words($0.check.missing)) }
    }
}

private func row(_ title: String, _ text: String) -> String {
    title.padding(toLength: 18, withPad: " ", startingAt: 0) + text
}

private func timeText(_ seconds: UInt64, nowMilliseconds now: UInt64) -> String {
    let milliseconds = seconds * 1000
    let distance = Duration.milliseconds(max(milliseconds, now) - min(milliseconds, now)).inWords
    let relation = milliseconds > now ? "in \(distance)" : "\(distance) ago"
    return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601) + " (\(relation))"
}

extension TokenService {
    fileprivate var title: String {
        switch content {
        case .rtc(let channel, let user):
            "\(kind), stream channel \"\(channel)\", \(user.isEmpty ? "any user" : "user \"\(user)\"")"
        case .rtm(let user): "\(kind), user \"\(user)\""
        case .rtm2(let user, _): "\(kind), user \"\(user)\", restricted to the listed names"
        case .other: "\(kind), not a service of Heliograph"
        }
    }

    fileprivate var permissionRows: [String] {
        guard case .rtm2(_, let permissions) = content else { return [] }
        return permissions.rows
    }
}

extension TokenPermissions {
    fileprivate var rows: [String] {
        entries.map { "\($0.access) \($0.resource): \($0.names.joined(separator: ", "))" }
    }

    /// The entries in ascending order of their numbers. A number without a name is shown as it is.
    var entries: [(resource: String, access: String, names: [String])] {
        lists.sorted { $0.key < $1.key }.flatMap { resource, lists in
            lists.sorted { $0.key < $1.key }.map { access, names in
                (
                    Resource(rawValue: resource).map { "\($0)" } ?? "resource \(resource)",
                    Access(rawValue: access).map { "\($0)" } ?? "permission \(access)",
                    names
                )
            }
        }
    }
}

extension TokenCheck {
    fileprivate var words: String {
        switch self {
        case .appID: "app id"
        case .signature: "signature"
        case .issueTime: "issue time"
        case .expiry: "expiry"
        case .loginPrivilege: "login privilege"
        case .privilegeExpiry: "privilege expiry"
        case .userID: "user id"
        }
    }

    /// What has to be given for the check.
    fileprivate var missing: String { self == .signature ? "certificate" : words }
}

extension JWTCheck {
    fileprivate var words: String {
        switch self {
        case .key: "key"
        case .signature: "signature"
        case .issuer: "issuer"
        case .audience: "audience"
        case .begin: "begin"
        case .expiry: "expiry"
        case .userID: "user id"
        }
    }

    fileprivate var missing: String {
        switch self {
        case .key, .signature: "keys"
        case .audience: "audience or app id"
        default: words
        }
    }
}

extension CheckOutcome {
    fileprivate func words(_ missing: String) -> String {
        switch self {
        case .passed: "ok"
        case .failed(let error): "FAILS: \(error)".visible
        case .unknown: "not checked: no \(missing) given"
        case .unreached: "not reached"
        }
    }
}

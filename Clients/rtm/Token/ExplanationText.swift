// An explained token for a person: its fields, then the checks in their order.

import Foundation
import RTMAccessToken
import RTMClient

extension TokenExplanation {
    func lines(nowMilliseconds: UInt64) -> [String] {
        let token = signed.token
        func time(_ seconds: UInt64) -> String { Self.time(seconds, nowMilliseconds: nowMilliseconds) }
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
        return lines + [""] + outcomes.map { row($0.check.words, $0.outcome.words($0.check).visible) }
    }

    private func row(_ title: String, _ text: String) -> String {
        title.padding(toLength: 18, withPad: " ", startingAt: 0) + text
    }

    private static func time(_ seconds: UInt64, nowMilliseconds now: UInt64) -> String {
        let milliseconds = seconds * 1000
        let distance = Duration.milliseconds(max(milliseconds, now) - min(milliseconds, now)).inWords
        let relation = milliseconds > now ? "in \(distance)" : "\(distance) ago"
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601) + " (\(relation))"
    }
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
        return permissions.entries.map { "\($0.access) \($0.resource): \($0.names.joined(separator: ", "))" }
    }
}

extension TokenPermissions {
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
}

extension TokenExplanation.Outcome {
    fileprivate func words(_ check: TokenCheck) -> String {
        switch self {
        case .passed: "ok"
        case .failed(let error): "FAILS: \(error)"
        case .unknown: "not checked: no \(check.words == "signature" ? "certificate" : check.words) given"
        case .unreached: "not reached"
        }
    }
}

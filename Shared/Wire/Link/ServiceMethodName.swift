/// The names of the services' methods, for people who look at traces.
package enum ServiceMethodName {
    private static let names: [String: [UInt32: String]] = [
        "messaging": [
            MessagingMethod.attach: "attach", MessagingMethod.detach: "detach",
            MessagingMethod.publish: "publish", MessagingMethod.read: "read",
            MessagingMethod.delivery: "delivery", MessagingMethod.superseded: "superseded",
            MessagingMethod.append: "append", MessagingMethod.skip: "skip", MessagingMethod.lead: "lead",
            MessagingMethod.outdated: "outdated", MessagingMethod.nodes: "nodes",
        ],
        "presence": [
            PresenceMethod.join: "join", PresenceMethod.call: "call", PresenceMethod.leave: "leave",
            PresenceMethod.sessionEnded: "sessionEnded", PresenceMethod.lease: "lease",
            PresenceMethod.sync: "sync", PresenceMethod.roster: "roster",
        ],
        "storage": [
            StorageMethod.appendHistory: "appendHistory", StorageMethod.call: "call",
            StorageMethod.snapshot: "snapshot", StorageMethod.lockGranted: "lockGranted",
            StorageMethod.session: "session", StorageMethod.ban: "ban", StorageMethod.banned: "banned",
            StorageMethod.banReport: "banReport", StorageMethod.bans: "bans",
        ],
    ]

    /// "messaging publish", or the number of a method that has no name here.
    package static func of(_ method: UInt32, in service: String) -> String {
        "\(service) \(names[service]?[method] ?? "\(method)")"
    }
}

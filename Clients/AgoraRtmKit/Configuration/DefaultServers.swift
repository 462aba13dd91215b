import RTMClient
import RTMModel

/// Where the servers are for an app that has no `privateConfig`, as apps have none that were written for the
/// vendor's own servers (N-11). Pure.
enum DefaultServers {
    /// The environment variable with the addresses, which the command line reads, too.
    static let variable = "RTM_SERVER"
    /// The entry of the app's `Info.plist`, which has a text like that of the variable, or a list of texts.
    static let entry = "RTMServer"

    /// - Parameters:
    ///   - environment: that of the process. It comes first, because it is for this one run.
    ///   - information: what the entry of the app's `Info.plist` says; nil if there is none.
    /// - Returns: `nil` if neither says anything.
    /// - Throws: `.invalidPrivateConfig` (-10024) for addresses that can't be used.
    static func accessPoints(
        environment: [String: String], information: Any?, in areaCode: AgoraRtmAreaCode
    ) throws(RTMError) -> AccessPoints? {
        let sources = [
            (variable, hosts(environment[variable])),
            ("'\(entry)' in Info.plist", (information as? [String]) ?? hosts(information as? String)),
        ]
        guard let (name, hosts) = sources.first(where: { !$0.1.isEmpty }) else { return nil }
        return try AccessPoints(hosts, in: areaCode, from: name)
    }

    /// The addresses stand between commas or white space. The areas of an address have commas between them,
    /// too.
    private static func hosts(_ text: String?) -> [String] {
        var hosts: [String] = []
        for part in (text ?? "").split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if let last = hosts.last, last.contains("#"), AgoraRtmAreaCode.named[String(part)] != nil {
                hosts[hosts.count - 1] = "\(last),\(part)"
            } else {
                hosts.append(String(part))
            }
        }
        return hosts
    }
}

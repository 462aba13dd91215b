package import RTMServiceLink

/// A configuration key for the addresses of a service's nodes, such as `edge.messaging`. In one
/// process with that service it has no meaning.
package struct ServiceAddressesKey: KeyDeclaring {
    /// Limit: nodes of one service.
    private static let countMax = 64

    private let key: ConfigurationKey<[String]>

    package init(_ name: String, default address: String, _ summary: String) {
        key = .list(name, default: [address], countMax: Self.countMax, summary).forOwnProcess
    }

    package var declarations: [KeyDeclaration] { key.declarations }

    package var rule: ConfigurationRule {
        ConfigurationRule(key) { texts in
            if texts.isEmpty { return "has no address: write HOST:PORT, or several of them between commas" }
            return texts.lazy.compactMap { text in
                do throws(ValueRefusal) {
                    _ = try HostPort(text: text)
                    return nil
                } catch {
                    return "has the address \"\(text)\", which \(error.reason)"
                }
            }.first
        }
    }

    package func addresses(_ configuration: Configuration) -> [ServiceLinkAddress] {
        configuration[key].compactMap { text in
            (try? HostPort(text: text)).map { .tcp(host: $0.host, port: $0.port) }
        }
    }
}

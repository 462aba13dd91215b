import ArgumentParser

struct UsageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage", abstract: "Show what an app has, and what the rates of the gateway leave.",
        discussion: "The rates are those of the gateway that answers. The key needs the scope read.")

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("usage") { client, output in
            let usage = try await client.get(client.app("usage"))
            try await output.result(Self.text(of: usage), "usage", usage)
            output.noticeMissing(usage["edges"])
        }
    }

    /// A line for each number.
    static func text(of usage: JSON) -> String {
        let counts = ["channels", "users", "connections"].compactMap { name in
            usage[name]?.int.map { "\(name)\t\($0)" }
        }
        let rates = ["key", "app"].map { name in
            guard let rate = usage[name]?["perSecond"]?.int else { return "rate of the \(name)\tnot limited" }
            let left = usage[name]?["left"]?.int.map { ", \($0) may come at once now" } ?? ""
            return "rate of the \(name)\t\(rate.counted("request")) a second\(left)"
        }
        return (counts + rates).joined(separator: "\n")
    }
}

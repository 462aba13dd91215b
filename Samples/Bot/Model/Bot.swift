public import RTMClient

/// A user that answers commands in a channel: `!help`, `!who`, `!echo TEXT`, and `!remember TEXT` with
/// `!recall`, which keeps a text in the channel's metadata.
public struct Bot: Sendable {
    private let client: RTMClient
    private let channel: String

    public init(_ configuration: RTMClient.Configuration, channel: String) throws(RTMError) {
        client = try RTMClient(configuration)
        self.channel = channel
    }

    /// Answers until the task is cancelled, or until the link has failed for good.
    ///
    /// - Throws: what the first login or the subscription was refused with.
    public func run() async throws(RTMError) {
        let events = client.events()
        try await client.login()
        try await client.subscribe(to: channel, features: [.message, .presence])
        for await event in events {
            switch event {
            case .message(let message) where message.channelName == channel: await answer(message)
            case .linkState(let change) where change.currentState == .failed: return await client.close()
            default: break
            }
        }
        await client.close()
    }

    private func answer(_ message: MessageEvent) async {
        guard let text = message.text, text.hasPrefix("!"),
            message.publisher != client.configuration.userID
        else { return }
        let parts = text.dropFirst().split(separator: " ", maxSplits: 1).map(String.init)
        let reply: String
        do throws(RTMError) {
            reply = try await self.reply(to: parts.first ?? "", parts.count > 1 ? parts[1] : "")
        } catch {
            reply = "that didn't work: \(error.reason)"
        }
        // Whoever asked may have gone; then nobody misses the answer.
        _ = try? await client.publish(reply, to: .channel(channel))
    }

    private func reply(to command: String, _ rest: String) async throws(RTMError) -> String {
        switch command {
        case "help": return "!who, !echo TEXT, !remember TEXT, !recall"
        case "echo": return rest
        case "who":
            let page = try await client.whoNow(in: channel)
            return page.users.map(\.userID).sorted().joined(separator: ", ")
        case "remember":
            _ = try await client.setMetadata(["remembered": rest], of: .channel(channel))
            return "I will"
        case "recall":
            return try await client.metadata(of: .channel(channel))["remembered"] ?? "there is nothing"
        default: return "I don't know !\(command). Ask !help"
        }
    }
}

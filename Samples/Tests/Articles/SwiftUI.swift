import Observation
import RTMClient

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
@MainActor @Observable
final class Room {
    private(set) var lines: [String] = []
    private(set) var people: [String] = []
    private(set) var isOnline = false
    private(set) var problem: String?

    private let client: RTMClient

    init(_ configuration: RTMClient.Configuration) throws(RTMError) {
        client = try RTMClient(configuration)
    }

    /// Shows the lobby until the task is cancelled.
    func run() async {
        async let online: Void = showState()
        async let roster: Void = showPeople()
        do throws(RTMError) {
            problem = nil
            try await client.login()
            for await received in try await client.subscribe(to: "lobby") { show(received) }
        } catch {
            problem = error.reason
        }
        _ = await (online, roster)
    }

    func send(_ text: String) async {
        do throws(RTMError) {
            try await client.publish(text, to: .channel("lobby"))
            // A publisher isn't given its own messages.
            lines.append("me: \(text)")
            problem = nil
        } catch {
            problem = error.reason
        }
    }

    private func show(_ received: ReceivedMessage) {
        switch received {
        case .message(let message): lines.append("\(message.publisher): \(message.text ?? "…")")
        case .missing: lines.append("some messages are missing here")
        }
    }

    private func showState() async {
        for await state in client.linkStates { isOnline = state == .connected }
    }

    private func showPeople() async {
        for await roster in client.roster(of: "lobby") { people = roster.members.keys.sorted() }
    }
}

#if canImport(SwiftUI)
    import SwiftUI

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    struct RoomView: View {
        let room: Room
        @State private var draft = ""

        var body: some View {
            VStack(alignment: .leading) {
                Text(room.isOnline ? room.people.joined(separator: ", ") : "offline").font(.caption)
                List(room.lines.indices, id: \.self) { Text(room.lines[$0]) }
                if let problem = room.problem { Text(problem).foregroundStyle(.red) }
                TextField("Say something", text: $draft).onSubmit {
                    let text = draft
                    draft = ""
                    Task { await room.send(text) }
                }
            }
            .padding()
            .task { await room.run() }
        }
    }
#endif

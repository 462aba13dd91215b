import ChatSample
import RTMClient
import SwiftUI

/// Add the packages' product `RTMClient` and the files of `Model` to an app target of Xcode.
@main
struct ChatApp: App {
    @State private var room: ChatRoom?

    var body: some Scene {
        WindowGroup {
            if let room {
                ChatView(room: room)
            } else {
                LoginView { room = $0 }
            }
        }
    }
}

struct LoginView: View {
    let enter: (ChatRoom) -> Void
    @State private var server = "127.0.0.1:7710"
    @State private var name = ""
    @State private var problem: String?

    var body: some View {
        Form {
            TextField("Server", text: $server)
            TextField("Your name", text: $name)
            Button("Enter the lobby", action: tryToEnter).disabled(name.isEmpty)
            if let problem { Text(problem).foregroundStyle(.red) }
        }
    }

    private func tryToEnter() {
        do {
            let address = try ServerAddress(server)
            enter(try ChatRoom(.init(servers: [address], appID: "dev", userID: name), channel: "lobby"))
        } catch {
            problem = "\(error)"
        }
    }
}

struct ChatView: View {
    let room: ChatRoom
    @State private var draft = ""

    var body: some View {
        VStack(alignment: .leading) {
            HStack {
                Text(title).font(.headline)
                Spacer()
                Text(room.members.joined(separator: ", ")).font(.caption)
            }
            List(room.lines) { LineView(content: $0.content) }
            if let failure = room.failure { Text(failure).foregroundStyle(.red) }
            TextField("Say something", text: $draft)
                .onSubmit {
                    let text = draft
                    draft = ""
                    Task { await room.send(text) }
                }
        }
        .padding()
        .task { await room.open() }
    }

    private var title: String {
        switch room.connection {
        case .connected: "lobby"
        case .connecting: "connecting …"
        case .offline: "offline"
        case .ended(let reason): reason
        }
    }
}

struct LineView: View {
    let content: ChatRoom.Line.Content

    var body: some View {
        switch content {
        case .text(let text, let author): Text("**\(author)** \(text)")
        case .joined(let user): Text("\(user) is here").foregroundStyle(.secondary)
        case .left(let user): Text("\(user) has left").foregroundStyle(.secondary)
        case .gap: Text("some messages are missing here").foregroundStyle(.orange)
        }
    }
}

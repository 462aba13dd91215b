import RTMModel
import RTMProtocol
import SwiftProtobuf

/// The subscriptions that a client sends along with its login, so that a return costs one request however
/// much there is to restore (S-19). The server answers how many of them it restores. An older server restores
/// none, and then the client sends a subscribe for each.
struct LoginOffer {
    /// A subscription of the session, and the id under which the server answers for it.
    struct Item {
        let id: UInt64
        let restoration: SubscriptionTable.Restoration
    }

    /// Limit: bytes of a login with its subscriptions. Every server accepts frames of 40,960 bytes.
    static let bytesMax = 36 * 1024
    /// Limit: channels and users within one login, which the protocol sets.
    static let countMax = 500

    private(set) var channels: [Item] = []
    private(set) var users: [Item] = []
    private var bytesLeft = Self.bytesMax

    /// - Parameters:
    ///   - tokenBytes: how much of the login its token takes.
    ///   - nextID: makes the id of a request.
    init(
        channels: [SubscriptionTable.Restoration], users: [SubscriptionTable.Restoration], tokenBytes: Int,
        nextID: () -> UInt64
    ) {
        bytesLeft -= tokenBytes
        self.channels = fitting(channels, nextID)
        self.users = fitting(users, nextID)
    }

    private mutating func fitting(
        _ restorations: [SubscriptionTable.Restoration], _ nextID: () -> UInt64
    ) -> [Item] {
        var items: [Item] = []
        for restoration in restorations {
            bytesLeft -=
                restoration.channel.name.utf8.count + restoration.detail.byteCount + Self.itemBytesMax
                + Self.byteCount(of: restoration.states)
            guard bytesLeft >= 0, channels.count + items.count < Self.countMax else { break }
            items.append(Item(id: nextID(), restoration: restoration))
        }
        return items
    }

    /// Four numbers with their keys and lengths, which is what a subscription has beside its name.
    private static let itemBytesMax = 56

    /// How much of a request states take, with their keys and lengths.
    static func byteCount(of states: [String: String]) -> Int {
        states.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 12 }
    }

    func add(to login: inout Rtm_Client_Login) {
        login.subscriptions = channels.map { item in
            var subscribe = Rtm_Client_Subscribe(item.restoration)
            subscribe.requestID = item.id
            return subscribe
        }
        login.followedUsers = users.map { item in
            .with {
                $0.requestID = item.id
                $0.userID = item.restoration.channel.name
                if let after = item.restoration.after { $0.after = Rtm_Client_StreamPosition(after) }
            }
        }
    }

    /// What of the offer the server answers for by itself.
    func taken(by answer: Rtm_Client_LoggedIn) -> (channels: [Item], users: [Item]) {
        (
            Array(channels.prefix(Int(answer.subscriptions))),
            Array(users.prefix(Int(answer.followedUsers)))
        )
    }
}

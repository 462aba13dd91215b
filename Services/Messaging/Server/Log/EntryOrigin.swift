import RTMModel
import RTMWire

/// Who published an entry, as a log remembers it: a log has room for numbers, not for names.
package struct EntryOrigin {
    /// The user, by `NameHash`; 0 if the entry has no publisher.
    let user: UInt32
    /// The user's client: user and instance together, so that nobody is taken for another user's client by
    /// naming its instance. 0 if the client sends nothing again.
    let client: UInt64
    /// The client's number for the first message.
    let sequence: UInt64

    package static let none = EntryOrigin(user: 0, client: 0, sequence: 0)

    /// The origin of a later message that was published together with this one.
    @inline(__always)
    func following(by count: UInt64) -> EntryOrigin {
        EntryOrigin(user: user, client: client, sequence: sequence &+ count)
    }
}

/// Turns names into numbers that nobody outside the process can foresee, so nobody can choose a name that has
/// the number of another one.
struct NameHash {
    private let secret: UInt64

    /// - Parameter secret: a random number of the process that nobody else learns.
    init(secret: UInt64) { self.secret = secret }

    func origin(_ request: PublishRequest) -> EntryOrigin {
        let hash = number(of: request.publisher)
        let origin = request.origin
        guard origin.instance != 0, origin.sequence != 0 else {
            return EntryOrigin(user: user(hash), client: 0, sequence: 0)
        }
        var client = Self.fold(hash ^ origin.instance)
        // A client chooses its instance, and must not have that of a backend's key (W-24).
        if request.publisherSession == 0 { client = Self.fold(client ^ 1) }
        return EntryOrigin(user: user(hash), client: client | 1, sequence: origin.sequence)
    }

    func origin(_ event: AppendedEvent) -> EntryOrigin {
        EntryOrigin(user: user(event.publisher), client: 0, sequence: 0)
    }

    func user(_ name: WireText) -> UInt32 { name.isEmpty ? 0 : user(number(of: name)) }

    private func user(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) | 1 }

    func number(of channel: ChannelView) -> UInt64 {
        let owner = Self.fold(number(of: channel.appID) ^ UInt64(channel.type.rawValue + 1))
        return number(of: channel.name, of: owner)
    }

    private func number(of name: WireText, of owner: UInt64 = 0) -> UInt64 {
        var hash = secret ^ owner
        var place = 0
        while place + 8 <= name.bytes.count {
            hash = Self.fold(hash ^ name.bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < name.bytes.count {
            rest = rest << 8 | UInt64(name.bytes[place])
            place += 1
        }
        // What is put in beside a name is folded apart from it, or another name could make up for it.
        return Self.fold(Self.fold(hash ^ rest) ^ UInt64(truncatingIfNeeded: name.bytes.count))
    }

    /// Both halves of a product depend on every bit, so their difference does.
    private static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}

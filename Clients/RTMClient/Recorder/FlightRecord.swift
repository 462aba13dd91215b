public import Foundation

/// What a client did and saw last, to find out afterwards what went wrong. See ``RTMClient/flightRecord()``.
///
/// It names the user and the servers, calls, kinds of frames, times and sizes. No token, no name of a
/// channel, no message and no state is in it. `rtm doctor FILE` explains the exported JSON.
public struct FlightRecord: Codable, Sendable, Hashable {
    /// The version of the form that this client writes.
    public static let currentVersion = 1

    /// The version of the form.
    public var version: Int
    /// The user of the client.
    public var userID: String
    /// The client's servers, in their order.
    public var servers: [String]
    /// When it was exported, in milliseconds since 1970 by the device's clock, as all times here.
    public var exportedAt: UInt64
    /// In the order in which they began.
    public var entries: [Entry]

    /// Makes the value, as tests of apps do.
    public init(
        version: Int = currentVersion, userID: String, servers: [String], exportedAt: UInt64,
        entries: [Entry]
    ) {
        self.version = version
        self.userID = userID
        self.servers = servers
        self.exportedAt = exportedAt
        self.entries = entries
    }

    /// The record as JSON.
    public func json() -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and texts alone can always be encoded.
        return (try? encoder.encode(self)) ?? Data()
    }

    /// One thing that happened, or several of one kind within ten seconds.
    public struct Entry: Codable, Sendable, Hashable {
        /// What an entry is about.
        public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
            /// A change of the link; the name is the new state, the code the reason's number.
            case link
            /// Calls of the app that ended; the name is the call's, the code the error's number or 0.
            case calls
            /// Frames that were sent; the name is their kind.
            case sent
            /// Frames that came.
            case received
            /// The app got a gap event: messages may be lost; the name is the type of the channel.
            case gap
        }

        /// When the first of them happened.
        public var at: UInt64
        /// When the last of them happened.
        public var until: UInt64
        /// What it is about.
        public var kind: Kind
        /// Which one of that kind it is.
        public var name: String
        /// How many there were.
        public var count: Int
        /// Of frames: their bytes together.
        public var bytes: Int
        /// Of calls: how long the longest took, in milliseconds.
        public var longest: Int
        /// The number of a reason or an error; 0: none.
        public var code: Int
        /// The reason in words; of calls that of the first.
        public var reason: String

        /// Makes the value, as tests of apps do.
        public init(
            at: UInt64, until: UInt64? = nil, kind: Kind, name: String, count: Int = 1, bytes: Int = 0,
            longest: Int = 0, code: Int = 0, reason: String = ""
        ) {
            self.at = at
            self.until = until ?? at
            self.kind = kind
            self.name = name
            self.count = count
            self.bytes = bytes
            self.longest = longest
            self.code = code
            self.reason = reason
        }
    }
}

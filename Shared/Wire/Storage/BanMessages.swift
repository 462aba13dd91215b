import RTMProtocolC

/// A user who may not log in for a while, or whose session ends now.
package struct Ban: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Ban
    package var appID: String
    package var userID: String
    /// UTC. The user may log in from then on; 0 lifts a ban.
    package var untilMilliseconds: UInt64
    /// One sentence for the user.
    package var reason: String
    package var endsSession: Bool
    /// UTC. When the operator asked for it.
    package var sinceMilliseconds: UInt64
    /// Who asked for it.
    package var by: String
    /// The edge answers with a `BanReport` of this number, unless it is 0.
    package var number: UInt64

    package init(
        appID: String, userID: String, untilMilliseconds: UInt64 = 0, reason: String = "", endsSession: Bool,
        sinceMilliseconds: UInt64 = 0, by: String = "", number: UInt64 = 0
    ) {
        self.appID = appID
        self.userID = userID
        self.untilMilliseconds = untilMilliseconds
        self.reason = reason
        self.endsSession = endsSession
        self.sinceMilliseconds = sinceMilliseconds
        self.by = by
        self.number = number
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.userId, userID)
        sink.field(Fields.untilMs, untilMilliseconds)
        sink.field(Fields.reason, reason)
        sink.field(Fields.endsSession, endsSession)
        sink.field(Fields.sinceMs, sinceMilliseconds)
        sink.field(Fields.by, by)
        sink.field(Fields.number, number)
    }
}

/// What an edge's event loop found and did.
package struct BanReport: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BanReport
    package var number: UInt64
    package var isAppKnown: Bool
    /// How many sessions of the user it ended.
    package var sessions: UInt32

    package init(number: UInt64, isAppKnown: Bool, sessions: UInt32) {
        self.number = number
        self.isAppKnown = isAppKnown
        self.sessions = sessions
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.number, number)
        sink.field(Fields.appKnown, isAppKnown)
        sink.field(Fields.sessions, sessions)
    }
}

/// What came of an operator's ban.
package struct BanOutcome: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BanOutcome
    /// Links to event loops of edges that were asked, and how many of them have reported in time.
    package var asked: UInt32
    package var answered: UInt32
    /// Whether one of them knows the app.
    package var isAppKnown: Bool
    /// How many sessions of the user they ended.
    package var sessions: UInt32
    /// The user's ban until then; nil if nothing kept the user out.
    package var before: Ban?

    package init(
        asked: UInt32 = 0, answered: UInt32 = 0, isAppKnown: Bool = false, sessions: UInt32 = 0,
        before: Ban? = nil
    ) {
        self.asked = asked
        self.answered = answered
        self.isAppKnown = isAppKnown
        self.sessions = sessions
        self.before = before
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.asked, asked)
        sink.field(Fields.answered, answered)
        sink.field(Fields.appKnown, isAppKnown)
        sink.field(Fields.sessions, sessions)
        if let before { sink.field(Fields.before, before) }
    }
}

/// Asks for a page of the bans that hold, ordered by app and user.
package struct BansRequest: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BansRequest
    /// The last app and user of the page before; empty for the first page.
    package var afterApp: String
    package var afterUser: String

    package init(afterApp: String = "", afterUser: String = "") {
        self.afterApp = afterApp
        self.afterUser = afterUser
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.afterApp, afterApp)
        sink.field(Fields.afterUser, afterUser)
    }
}

package struct BansResponse: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.BansResponse
    package var bans: [Ban]
    /// Whether another page follows.
    package var hasMore: Bool

    package init(bans: [Ban], hasMore: Bool) {
        self.bans = bans
        self.hasMore = hasMore
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.bans, bans)
        sink.field(Fields.more, hasMore)
    }
}

// MARK: - Decoding

extension Ban: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        self.init(try Self.unpack(bytes, in: arena, with: rtm__service__ban__unpack))
    }

    fileprivate init(_ message: Rtm__Service__Ban) {
        self.init(
            appID: WireText(message.app_id).string, userID: WireText(message.user_id).string,
            untilMilliseconds: message.until_ms, reason: WireText(message.reason).string,
            endsSession: message.ends_session != 0, sinceMilliseconds: message.since_ms,
            by: WireText(message.by).string, number: message.number)
    }
}

extension BanReport: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__ban_report__unpack)
        self.init(number: message.number, isAppKnown: message.app_known != 0, sessions: message.sessions)
    }
}

extension BanOutcome: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__ban_outcome__unpack)
        self.init(
            asked: message.asked, answered: message.answered, isAppKnown: message.app_known != 0,
            sessions: message.sessions, before: message.before.map { Ban($0.pointee) })
    }
}

extension BansRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__bans_request__unpack)
        self.init(
            afterApp: WireText(message.after_app).string, afterUser: WireText(message.after_user).string)
    }
}

extension BansResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__bans_response__unpack)
        var bans: [Ban] = []
        bans.reserveCapacity(message.n_bans)
        for index in 0..<message.n_bans {
            guard let ban = message.bans[index]?.pointee else { throw .undecodable }
            bans.append(Ban(ban))
        }
        self.init(bans: bans, hasMore: message.more != 0)
    }
}

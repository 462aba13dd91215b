import Logging
import NIOCore
import RTMModel
import RTMServiceKit

/// The pages of the admin port that show what users do: their sessions, and about whom more is logged.
/// They ask the loops in turns of limited length, one loop after the other, and put the answer together
/// elsewhere.
final class OperatorPages: Sendable {
    private let loops: EdgeNode

    private init(_ loops: EdgeNode) { self.loops = loops }

    static func add(of loops: EdgeNode, to context: ServiceContext) {
        let pages = OperatorPages(loops)
        func add(
            _ path: String, _ methods: [String] = ["GET"],
            _ answer: @escaping @Sendable (AdminRequest) async throws(QueryRefusal) -> AdminAnswer
        ) {
            context.page(path, methods, key: EdgeKeys.adminKey) { request in
                do throws(QueryRefusal) {
                    return try await answer(request)
                } catch {
                    return .refused(400, error.reason)
                }
            }
        }
        add("/sessions") { request throws(QueryRefusal) in try await pages.sessions(request) }
        add("/log-level", ["GET", "POST", "DELETE"]) { request throws(QueryRefusal) in
            try await pages.logLevel(request)
        }
    }
}

// MARK: - Sessions

extension OperatorPages {
    private func sessions(_ request: AdminRequest) async throws(QueryRefusal) -> AdminAnswer {
        let query = try SessionQuery(request.query)
        var rows: [String] = []
        var left = query.rows
        var place: SessionQuery.Place? = query.from
        while left > 0, let here = place, here.loop < loops.count {
            let slice = await loops.on(here.loop) { [left] in $0.sessions(query, from: here.slot, rows: left)
            }
            for row in slice?.found ?? [] {
                rows.append(row.json)
                left -= row.rows
            }
            place = .init(loop: slice?.next == nil ? here.loop + 1 : here.loop, slot: slice?.next ?? 0)
        }
        if let end = place, end.loop >= loops.count { place = nil }
        var fields = [
            (name: "sessions", json: JSONText.array(rows)),
            (name: "next", json: place.map { JSONText.quoted($0.text) } ?? "null"),
        ]
        if let user = query.userID {
            let end = await lastEnd(of: user, in: query.appID)
            fields.append((name: "lastEnd", json: end?.json ?? "null"))
        }
        return .json(JSONText.object(fields))
    }

    private func lastEnd(of user: String, in app: String?) async -> SessionEnds.End? {
        var last: SessionEnds.End?
        for loop in 0..<loops.count {
            let end = await loops.on(loop) { $0.sessionLog.ends.last(of: user, in: app) } ?? nil
            if let end, end.at >= last?.at ?? 0 { last = end }
        }
        return last
    }
}

extension SessionEnds.End {
    fileprivate var json: String {
        JSONText.object([
            ("app", JSONText.quoted(appID)), ("session", JSONText.quoted("\(session)")),
            ("at", JSONText.quoted(Timestamp.text(at))), ("address", JSONText.quoted(address)),
            ("cause", JSONText.quoted(cause)),
        ])
    }
}

// MARK: - Log levels of users

extension OperatorPages {
    private func logLevel(_ request: AdminRequest) async throws(QueryRefusal) -> AdminAnswer {
        guard request.method != "GET" else { return .json(await levels()) }
        let names = request.method == "POST" ? ["app", "user", "level", "for"] : ["app", "user"]
        try SessionQuery.check(request.query, has: names)
        guard let app = request.query["app"], let user = request.query["user"] else {
            throw QueryRefusal(reason: "app and user say whose level it is")
        }
        let named = RaisedLevels.User(appID: app, userID: user)
        guard request.method == "POST" else {
            var wasThere = false
            for loop in 0..<loops.count {
                wasThere = await loops.on(loop) { $0.userLog.end(named) } ?? false || wasThere
            }
            return wasThere ? .json(await levels()) : .refused(404, "No level is raised for this user.")
        }
        guard let level = ["debug": Logger.Level.debug, "trace": .trace][request.query["level"] ?? "debug"]
        else { throw QueryRefusal(reason: "level takes debug or trace") }
        let time = try Self.duration(
            request.query["for"], default: .seconds(600), in: .seconds(1)...RaisedLevels.longest)
        let entry = RaisedLevels.Entry(
            level: level, until: .now() + TimeAmount(time),
            untilMilliseconds: WallClock.milliseconds() + UInt64(time / .milliseconds(1)))
        for loop in 0..<loops.count {
            guard await loops.on(loop, { $0.userLog.raise(named, entry) }) ?? true else {
                return .refused(
                    409,
                    "The levels of \(RaisedLevels.countMax) users are raised, which is the limit. End one.")
            }
        }
        return .json(await levels())
    }

    /// Every loop has the same ones.
    private func levels() async -> String {
        let entries = await loops.on(0) { $0.userLog.entries } ?? [:]
        let rows = entries.sorted { ($0.key.appID, $0.key.userID) < ($1.key.appID, $1.key.userID) }.map {
            user, entry in
            JSONText.object([
                ("app", JSONText.quoted(user.appID)), ("user", JSONText.quoted(user.userID)),
                ("level", JSONText.quoted("\(entry.level)")),
                ("until", JSONText.quoted(Timestamp.text(entry.untilMilliseconds))),
            ])
        }
        return JSONText.object([("levels", JSONText.array(rows))])
    }

    private static func duration(
        _ text: String?, default value: Duration, in range: ClosedRange<Duration>
    ) throws(QueryRefusal) -> Duration {
        guard let text else { return value }
        guard let duration = try? UnitText.duration(text), range.contains(duration) else {
            let (least, most) = (UnitText.duration(range.lowerBound), UnitText.duration(range.upperBound))
            throw QueryRefusal(reason: "for takes a time from \(least) to \(most), such as 5s")
        }
        return duration
    }
}

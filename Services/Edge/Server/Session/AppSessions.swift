import RTMModel
import Synchronization

/// How many sessions each app has at this edge, on all its loops (L-42). Logins under way count, too.
final class AppSessions: Sendable {
    /// Sessions end all the time, so who is refused comes back soon.
    private static let retryAfter: Duration = .seconds(5)

    private let counts = Mutex<[String: Int]>([:])

    /// One more session; throws if the app has all that it may have.
    func enter(_ application: Application) throws(RTMError) {
        let sessionsMax = application.sessionsMax
        let hasRoom = counts.withLock { counts in
            let count = counts[application.id, default: 0]
            guard sessionsMax == 0 || count < sessionsMax else { return false }
            counts[application.id] = count + 1
            return true
        }
        guard !hasRoom else { return }
        throw RTMError(
            .loginNoServerResources, "app \"\(application.id)\" has all the sessions that it may have here",
            retryAfter: Self.retryAfter,
            limit: .init(name: "sessions of an app", value: UInt64(sessionsMax)))
    }

    func leave(_ appID: String) {
        counts.withLock { counts in
            let count = counts[appID, default: 1] - 1
            counts[appID] = count > 0 ? count : nil
        }
    }
}

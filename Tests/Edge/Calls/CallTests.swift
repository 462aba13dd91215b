import NIOCore
import RTMAppConfiguration
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMTokenTestSupport
import RTMWire
import Testing

@testable import RTMAccessToken
@testable import RTMEdgeServer

@Suite("Calls that an edge passes on")
struct CallTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let session = Session(
        key: .test(1), application: .forTest, userID: "anna", heartbeatInterval: 5,
        connection: RecordingConnection())

    // MARK: What it is about

    @Test("message and stream channels have presence, metadata and locks; no other channel has (M-35)")
    func channelTypes() {
        for kind in ClientCall.Kind.allCases where kind != .whereNow && kind != .getHistory {
            #expect(check(kind, .message, "lobby") == nil, "\(kind)")
            #expect(check(kind, .stream, "stage") == nil, "\(kind)")
            #expect(check(kind, .user, "bert") == .invalidChannelType, "\(kind)")
            #expect(check(kind, nil, "lobby") == .invalidChannelType, "\(kind)")
            #expect(check(kind, .message, "_lobby") == .invalidChannelName, "\(kind)")
            #expect(check(kind, .message, "") == .invalidChannelName, "\(kind)")
            let isMetadata = kind == .writeMetadata || kind == .getMetadata
            #expect(
                check(kind, ChannelType.none, "bert") == (isMetadata ? nil : .invalidChannelType), "\(kind)")
        }
    }

    @Test("the metadata of a user is named by the user, or by nobody for one's own (D-16)")
    func userMetadata() {
        #expect(check(.getMetadata, ChannelType.none, "") == nil)
        #expect(check(.writeMetadata, ChannelType.none, "") == nil)
        #expect(check(.getMetadata, ChannelType.none, "a/b") == .invalidUserId)
    }

    @Test("where a user is needs a user (P-36); history has message channels and inboxes (H-1)")
    func usersAndHistory() {
        #expect(check(.whereNow, ChannelType.none, "bert") == nil)
        #expect(check(.whereNow, ChannelType.none, "") == .invalidUserId)
        #expect(check(.getHistory, .message, "lobby") == nil)
        #expect(check(.getHistory, .user, "anna") == nil)
        #expect(check(.getHistory, .stream, "stage") == .invalidChannelType)
        #expect(check(.getHistory, ChannelType.none, "anna") == .invalidChannelType)
    }

    // MARK: Permissions

    @Test("A-15: a query needs the right to read, a change the right to write")
    func permissions() {
        let lists = TokenPermissions.channels(read: ["news"], write: ["lobby"], users: ["bert"])
        session.grant = TokenGrant(expiresAtMilliseconds: 1, permissions: [lists])
        for kind in ClientCall.Kind.allCases where kind != .whereNow {
            #expect(check(kind, .message, kind.isQuery ? "news" : "lobby") == nil, "\(kind)")
            #expect(check(kind, .message, kind.isQuery ? "lobby" : "news") != nil, "\(kind)")
        }
        #expect(check(.writeMetadata, .message, "news") == .storagePermissionDenied)
        #expect(check(.getHistory, .message, "lobby") == .historyPermissionDenied)
        #expect(check(.whoNow, .message, "lobby") == .channelSubscribePermissionDenied)
        #expect(check(.acquireLock, .message, "news") == .lockOperationFailed)
        #expect(check(.getLocks, .message, "lobby") == .lockOperationFailed)
        #expect(check(.setState, .message, "news") == .presenceNotWritable)
        #expect(check(.writeMetadata, ChannelType.none, "") == nil)
        #expect(check(.writeMetadata, ChannelType.none, "carl") == .storagePermissionDenied)
    }

    @Test("A-15: one's own user is always allowed, also by name")
    func ownUser() {
        session.grant = TokenGrant(expiresAtMilliseconds: 1, permissions: [.channels(read: [], write: [])])
        #expect(check(.writeMetadata, ChannelType.none, "anna") == nil)
        #expect(check(.getMetadata, ChannelType.none, "anna") == nil)
        #expect(check(.getHistory, .user, "anna") == nil)
        #expect(check(.getHistory, .user, "bert") == .historyPermissionDenied)
        #expect(check(.writeMetadata, .message, "anna") == .storagePermissionDenied)
    }

    @Test("D-16, K-9: an operator may reserve what belongs to others to tokens that list it")
    func policies() {
        let application = Application(
            id: "app", subscriptionsMax: 50, rates: .unlimited,
            policies: ForeignPolicies(userMetadata: .granted, locks: .granted))
        let session = Session(
            key: .test(1), application: application, userID: "anna", heartbeatInterval: 5,
            connection: RecordingConnection())
        func check(_ kind: ClientCall.Kind, _ type: ChannelType, _ target: String) -> ErrorCode? {
            self.check(kind, type, target, of: session)
        }
        for grant in [nil, TokenGrant(expiresAtMilliseconds: 1, permissions: [])] {
            session.grant = grant
            #expect(check(.writeMetadata, ChannelType.none, "anna") == nil)
            #expect(check(.writeMetadata, ChannelType.none, "bert") == .storagePermissionDenied)
            #expect(check(.getMetadata, ChannelType.none, "bert") == nil)
            #expect(check(.revokeLock, .message, "lobby") == .lockOperationFailed)
            #expect(check(.removeLock, .message, "lobby") == .lockOperationFailed)
            #expect(check(.releaseLock, .message, "lobby") == nil)
        }
        let lists = TokenPermissions.channels(read: [], write: ["lobby"], users: ["bert"])
        session.grant = TokenGrant(expiresAtMilliseconds: 1, permissions: [lists])
        #expect(check(.writeMetadata, ChannelType.none, "bert") == nil)
        #expect(check(.revokeLock, .message, "lobby") == nil)
    }

    // MARK: Rates

    @Test("R-6, R-7, R-8: each has a rate of its own, and the refusal names it")
    func rates() throws {
        var session = SessionRates()
        let rates = ApplicationRates(publish: 60, calls: 20, subscribesMax: 2, login: 2, subscriptionsMax: 0)
        for _ in 0..<20 {
            #expect(take(&session, .writeMetadata, .message, rates) == nil)
            #expect(take(&session, .getMetadata, ChannelType.none, rates) == nil)
            #expect(take(&session, .whoNow, .message, rates) == nil)
        }
        for _ in 0..<10 {
            #expect(take(&session, .acquireLock, .message, rates) == nil)
        }
        let metadata = try #require(take(&session, .getMetadata, .message, rates))
        #expect(metadata.code == .operationRateExceedLimitation && metadata.limit?.value == 10)
        #expect(try #require(metadata.retryAfter) <= .milliseconds(101))
        #expect(
            take(&session, .writeMetadata, ChannelType.none, rates)?.code == .operationRateExceedLimitation)
        #expect(take(&session, .acquireLock, .message, rates)?.code == .lockOperationFailed)
        #expect(take(&session, .setLock, .message, rates)?.limit?.name == "calls per second")
    }

    @Test("R-17: states count as their bytes times the users who get them; the refusal says when")
    func stateBytes() throws {
        var states = ByteRates()
        let rate = Rate(perSecond: 1_000, timesAtOnce: 4)
        func refusal(of user: String, after time: TimeAmount = .zero) -> RTMError? {
            do throws(RTMError) {
                try states.check("app", user, rate, .stateBytes, now: Self.start + time)
                return nil
            } catch { return error }
        }
        #expect(refusal(of: "anna") == nil)
        states.spend(4_000, "app", "anna", rate, now: Self.start)
        let first = try #require(refusal(of: "anna"))
        #expect(first.code == .operationRateExceedLimitation)
        #expect(first.limit == .init(name: "bytes of states times users per second", value: 1_000))
        let wait = try #require(first.retryAfter)
        #expect(wait > .zero && wait <= .milliseconds(2))
        // What a call costs is known when it is done. Whoever spends more than there is waits for longer.
        states.spend(2_000, "app", "anna", rate, now: Self.start)
        let longer = try #require(refusal(of: "anna")?.retryAfter)
        #expect(longer > .seconds(2) && longer <= .milliseconds(2_002))
        #expect(refusal(of: "ben") == nil)
        #expect(refusal(of: "anna", after: .milliseconds(2_002)) == nil)
    }

    @Test("R-17: a user who logs in again and again announces no more than the rate in the long run")
    func stateBytesOfManyLogins() throws {
        let rates = ApplicationRates(
            publish: 0, calls: 0, subscribesMax: 0, login: 2, subscriptionsMax: 0, stateBytes: 1_000)
        let application = Application(id: "app", subscriptionsMax: 50, rates: rates)
        let shared = SharedRates([application])
        var announced: UInt64 = 0
        // Two logins a second for a minute, each of which announces until it is refused.
        for number in 0..<120 {
            let now = Self.start + .milliseconds(Int64(number) * 500)
            let session = Session(
                key: .test(UInt64(number) + 1), application: application, userID: "anna",
                heartbeatInterval: 5, connection: RecordingConnection())
            while (try? shared.checkStates(of: session, now: now)) != nil {
                shared.announcedStates(500, of: session, now: now)
                announced += 500
            }
        }
        #expect(announced > 60_000 && announced <= 4_000 + 60_000 + 500)
    }

    @Test("R-19: answers to queries count by their bytes, for the user and for the app")
    func pageBytes() throws {
        var rates = ApplicationRates.unlimited
        rates.pageBytes = Rate(perSecond: 1_000, timesAtOnce: 16)
        rates.appPageBytes = Rate(perSecond: 10_000, timesAtOnce: 2)
        let application = Application(id: "app", subscriptionsMax: 50, rates: rates)
        let shared = SharedRates([application])
        func session(_ user: String) -> Session {
            Session(
                key: .test(1), application: application, userID: user, heartbeatInterval: 5,
                connection: RecordingConnection())
        }
        func refusal(of user: String, after time: TimeAmount = .zero) -> RTMError? {
            do throws(RTMError) {
                try shared.checkPages(of: session(user), now: Self.start + time)
                return nil
            } catch { return error }
        }
        #expect(refusal(of: "anna") == nil)
        shared.answered(16_000, to: session("anna"), now: Self.start)
        #expect(refusal(of: "anna")?.limit == .init(.pageBytes, 1_000))
        #expect(refusal(of: "ben") == nil)
        shared.answered(5_000, to: session("ben"), now: Self.start)
        let ofApp = try #require(refusal(of: "carol"))
        #expect(ofApp.code == .operationRateExceedLimitation && ofApp.limit == .init(.appPageBytes, 10_000))
        #expect(refusal(of: "carol", after: try TimeAmount(#require(ofApp.retryAfter))) == nil)
    }

    @Test("R-7, S-19: who follows as many users as are allowed can take them all up again at once")
    func followsAgain() throws {
        let rates = ApplicationRates(publish: 60, calls: 20, subscribesMax: 2, login: 2, subscriptionsMax: 0)
        var session = SessionRates(restoring: rates.restorable)
        let countMax = Limits.userMetadataSubscriptionsMax + 20
        for _ in 0..<countMax { try session.subscribeUserMetadata(rates, now: .uptimeNanoseconds(1)) }
        let error = #expect(throws: RTMError.self) {
            try session.subscribeUserMetadata(rates, now: .uptimeNanoseconds(1))
        }
        #expect(error?.code == .operationRateExceedLimitation && error?.retryAfter != nil)
        // Reading and writing them is another thing.
        #expect(take(&session, .writeMetadata, ChannelType.none, rates) == nil)
    }

    // MARK: Failures

    @Test(
        "a service that doesn't answer: the code says which, and when to try again",
        arguments: [
            (.whoNow, .presenceOperationFailed, .presenceOperationTimeout),
            (.setState, .presenceOperationFailed, .presenceOperationTimeout),
            (.getMetadata, .storageNotAvailable, .storageOperationTimeout),
            (.acquireLock, .lockNotAvailable, .lockOperationTimeout),
            (.getHistory, .historyNotAvailable, .historyOperationTimeout),
        ] as [(ClientCall.Kind, ErrorCode, ErrorCode)])
    func failures(_ kind: ClientCall.Kind, failed: ErrorCode, timeout: ErrorCode) {
        let away = RTMError(.notConnected, "not connected")
        for (failure, code) in [
            (.timedOut, timeout), (.disconnected, failed), (.refused(away), failed),
        ] as [(ServiceLinkRequestFailure, ErrorCode)] {
            let error = kind.error(failure)
            #expect(error.code == code && error.retryAfter == .seconds(1))
        }
        let refusal = RTMError(.presenceUserNotExist, "not there")
        #expect(kind.error(.refused(refusal)) == refusal)
    }

    @Test("L-45: what a client says of its presence timeout is clamped; saying nothing means the longest")
    func presenceTimeout() {
        #expect([0, 1, 5, 77, 300, 9_999].map { Limits.presenceTimeout($0) } == [300, 5, 5, 77, 300, 300])
    }

    // MARK: -

    private func check(
        _ kind: ClientCall.Kind, _ type: ChannelType?, _ target: String, of other: Session? = nil
    ) -> ErrorCode? {
        target.withWireText { target in
            do throws(RTMError) {
                try (other ?? session).check(
                    ClientCall(kind: kind, request: .empty, channelType: type, target: target)
                ) { _ in true }
                return nil
            } catch { return error.code }
        }
    }

    private func take(
        _ session: inout SessionRates, _ kind: ClientCall.Kind, _ type: ChannelType, _ rates: ApplicationRates
    ) -> RTMError? {
        do throws(RTMError) {
            try session.call(
                ClientCall(kind: kind, request: .empty, channelType: type, target: .empty), rates,
                now: Self.start)
            return nil
        } catch { return error }
    }
}

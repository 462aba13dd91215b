import Logging
import NIOCore
package import RTMAccessToken
import RTMCredentials
package import RTMModel
import Synchronization

/// What a URL of keys has answered.
package enum JWTKeyAnswer: Sendable {
    /// - Parameter freshFor: how long the issuer calls the document fresh; nil if it doesn't say.
    case document(String, freshFor: Duration?)
    /// There is no document, and why, as a clause.
    case failed(String)
}

/// Gets the document of keys from one URL.
package protocol JWTKeyDownload: Sendable {
    /// Never throws: whatever happens is an answer.
    func get() async -> JWTKeyAnswer
    func shutdown() async
}

/// The keys of one URL, for all event loops and apps of a service. `JWTKeyRefresh` decides.
package final class FetchedKeys: JWTKeySource {
    private struct State {
        var refresh: JWTKeyRefresh
        var timer: Scheduled<Void>?
        var isEnded = false
        /// Why the latest fetch failed, and nil if it hasn't.
        var failure: String?
        var passedOver: [String] = []
    }

    private let url: HTTPURL
    private let download: any JWTKeyDownload
    private let eventLoop: any EventLoop
    private let changed: @Sendable (FetchedKeys) -> Void
    private let logger: Logger
    private let state: Mutex<State>

    /// - Parameter changed: is called after each fetch.
    init(
        _ url: HTTPURL, _ download: any JWTKeyDownload, _ timing: JWTKeyRefresh.Timing,
        on eventLoop: any EventLoop, _ logger: Logger, changed: @escaping @Sendable (FetchedKeys) -> Void
    ) {
        (self.url, self.download, self.eventLoop) = (url, download, eventLoop)
        (self.changed, self.logger) = (changed, logger)
        state = Mutex(State(refresh: JWTKeyRefresh(timing, now: .now)))
    }

    package func check(_ signed: SignedJWT) throws(RTMError) {
        guard let keys = state.withLock({ $0.refresh.keys }) else {
            throw state.withLock { $0.refresh.unavailable(now: .now) }
        }
        if let name = signed.header.keyID, !keys.hasKey(named: name) {
            let (refusal, isEarlier) = state.withLock { state in
                let due = state.refresh.dueAt
                let refusal = state.refresh.refusal(ofKey: name, now: .now)
                return (refusal, state.refresh.dueAt != due)
            }
            if isEarlier { arm() }
            throw refusal
        }
        try keys.check(signed)
    }

    /// What the operator should know: that there are no keys, or why they may be old.
    var problem: (hasKeys: Bool, cause: String)? {
        state.withLock { state in state.failure.map { (state.refresh.keys != nil, $0) } }
    }

    /// Whether no fetch has succeeded yet.
    var isEmpty: Bool { state.withLock { $0.refresh.keys == nil } }

    func end() async {
        state.withLock { state in
            state.isEnded = true
            state.timer?.cancel()
        }
        await download.shutdown()
    }

    // MARK: Fetching

    /// Sets the timer for the next fetch.
    func arm() {
        state.withLock { state in
            state.timer?.cancel()
            guard !state.isEnded, let due = state.refresh.dueAt else { return }
            state.timer = eventLoop.scheduleTask(in: TimeAmount(max(.zero, due - .now))) { self.fetch() }
        }
    }

    private func fetch() {
        guard state.withLock({ !$0.isEnded && $0.refresh.begin(now: .now) }) else { return arm() }
        // Unstructured: the timer has nobody to wait. The time that an answer may take ends it.
        Task {
            let answer = await download.get()
            guard !state.withLock({ $0.isEnded }) else { return }
            take(answer)
            arm()
            changed(self)
        }
    }

    private func take(_ answer: JWTKeyAnswer) {
        let random = Double.random(in: 0...1)
        switch answer {
        case .failed(let cause): failed(cause, random)
        case .document(let text, let lifetime):
            do throws(JWTKeyProblem) {
                let keys = try JWTKeySet(text, isPublished: true)
                let isNews = state.withLock { state in
                    state.refresh.fetched(keys, freshFor: lifetime, random: random, now: .now)
                    defer { (state.failure, state.passedOver) = (nil, keys.passedOver) }
                    return state.passedOver != keys.passedOver
                }
                guard isNews, !keys.passedOver.isEmpty else { return }
                logger.notice(
                    "keys of JWTs are passed over",
                    metadata: [
                        "url": "\(url.text)",
                        "keys": .array(keys.passedOver.prefix(10).map { "\($0)" }),
                    ])
            } catch {
                failed("the document can't be used: \(error)", random)
            }
        }
    }

    private func failed(_ cause: String, _ random: Double) {
        let isNews = state.withLock { state in
            state.refresh.failed(random: random, now: .now)
            defer { state.failure = cause }
            return state.failure != cause
        }
        guard isNews else { return }
        logger.warning(
            "keys of JWTs can't be fetched; those that are there hold",
            metadata: ["url": "\(url.text)", "cause": "\(cause)", "hasKeys": "\(!isEmpty)"])
    }
}

/// A call that did not succeed: the code, the reason in words, and what to do about it.
///
/// Every refusal names its cause. A refusal by a limit names the limit and, where waiting helps, how long to
/// wait (behaviour.md, S-0a). The same value travels from the services through the wire to the app.
public struct RTMError: Error, Sendable, Hashable {
    /// What went wrong, by number.
    public var code: ErrorCode

    /// The reason in one sentence for a person. The wording may change, so don't parse it.
    public var reason: String

    /// The call that failed, for example `publish`. Empty inside the services.
    public var operation: String

    /// How long to wait until a repetition may succeed; nil when waiting alone doesn't help.
    public var retryAfter: Duration?

    /// The limit that refused the call.
    public var limit: Limit?

    /// What a write that compared revisions found instead (D-5).
    public var conflict: Conflict?

    /// What is known of the effect of the call, where the code alone doesn't say it.
    private var knownOutcome: Outcome?

    /// Whether a call that failed had its effect.
    public enum Outcome: Sendable, Hashable {
        /// It had none: what was to be published isn't published.
        case notDone
        /// Nobody knows. The answer was lost, or came too late.
        case unknown
        /// It had its effect, and only a part failed that the code names.
        case done
    }

    /// A limit by name and value, in the unit that the name says.
    public struct Limit: Sendable, Hashable {
        /// What is limited.
        public var name: String
        /// How much is allowed.
        public var value: UInt64

        /// Makes the value, as tests of apps do.
        public init(name: String, value: UInt64) {
            self.name = name
            self.value = value
        }
    }

    /// The revisions that the set and its item have now.
    public struct Conflict: Sendable, Hashable {
        /// The revision of the whole set; 0 when nothing was ever written.
        public var majorRevision: Int64
        /// The key of the item whose revision differed or that is missing; nil when the set's revision
        /// differed.
        public var key: String?
        /// The revision of that item; 0 when it is missing.
        public var revision: Int64

        /// Makes the value, as tests of apps do.
        public init(majorRevision: Int64, key: String? = nil, revision: Int64 = 0) {
            self.majorRevision = majorRevision
            self.key = key
            self.revision = revision
        }
    }

    /// Makes an error, as tests of apps do.
    public init(
        _ code: ErrorCode, _ reason: String, operation: String = "", retryAfter: Duration? = nil,
        limit: Limit? = nil, conflict: Conflict? = nil, outcome: Outcome? = nil
    ) {
        self.code = code
        self.reason = reason
        self.operation = operation
        self.retryAfter = retryAfter
        self.limit = limit
        self.conflict = conflict
        knownOutcome = outcome
    }

    /// Whether the call had its effect although it failed. What is unknown may be repeated where twice does
    /// no harm, and a publish with an id is such a call.
    public var outcome: Outcome {
        get {
            // With -11024 a server says that it couldn't, and when to come back; or that it doesn't know.
            let couldNot = code == .channelPublishMessageFailed && retryAfter != nil
            return knownOutcome ?? (couldNot ? .notDone : code.outcome)
        }
        set { knownOutcome = newValue }
    }

    /// Whether the same call may succeed later, and can't be done twice by that.
    public var isRetryable: Bool { outcome == .notDone && mayPass }

    /// Whether the cause may pass by itself, whatever the call has done.
    package var mayPass: Bool { retryAfter != nil || code.isRetryable }

    /// What `catch` matches errors of one code with, in every function that throws.
    ///
    /// ```swift
    /// do throws(RTMError) {
    ///     try await client.publish("only for you", to: .user("bob"))
    /// } catch RTMError.code(.channelReceiverOffline) {
    ///     // Bob is not online.
    /// } catch {
    ///     throw error
    /// }
    /// ```
    ///
    /// `throws(RTMError)` makes `error` an `RTMError` in a `Task` and in closures, too. Write the last
    /// `catch`: without it the compiler of Swift 6.3.1 crashes in a `for` loop of a function that `throws`.
    public static func code(_ code: ErrorCode) -> ErrorCode { code }
}

extension ErrorCode {
    /// Whether an error is an ``RTMError`` of this code. See ``RTMError/code(_:)``.
    public static func ~= (code: ErrorCode, error: any Error) -> Bool { (error as? RTMError)?.code == code }
}

extension RTMError: CustomStringConvertible {
    public var description: String {
        let call = operation.isEmpty ? "" : "\(operation): "
        return "\(call)\(reason) (\(code) \(code.rawValue))"
    }
}

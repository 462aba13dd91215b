import RTMModel
import RTMServiceLink
import RTMWire

/// A call that may change the store: which keys it needs, what it decides, and with which code it is refused
/// when the store fails. The messages of the schema that change something are changes themselves.
protocol StorageChange: Sendable {
    associatedtype Answer: StorageAnswer = NoContent

    static var failureCode: ErrorCode { get }
    /// How much of a database of a limited size the change may fill.
    var room: StorageRoom { get }
    /// Whether the answer depends on who owns a lock.
    var dependsOnLocks: Bool { get }
    /// Adds what the change may need from the store.
    ///
    /// - Parameter registry: the lock tables that are in memory already.
    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry)
    /// Decides, and changes the transaction if it isn't refused. Nil if nobody waits for an answer, or if the
    /// answer comes with what is written.
    func apply(_ transaction: inout StorageTransaction) throws(StoreFailure) -> Result<Answer, RTMError>?
    /// The group has failed: what is left of the change.
    func failed(_ transaction: inout StorageTransaction)
}

extension StorageChange {
    static var failureCode: ErrorCode { .storageNotAvailable }
    var room: StorageRoom { .usual }
    var dependsOnLocks: Bool { false }
    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {}
    func failed(_ transaction: inout StorageTransaction) {}

    /// The answer as the outcome of a group has it.
    func run(
        _ transaction: inout StorageTransaction
    ) throws(StoreFailure) -> Result<any StorageAnswer, RTMError>? {
        try apply(&transaction)?.map { $0 }
    }

    func refusal(_ failure: StoreFailure, bytesMax: Int?) -> RTMError {
        failure.error(Self.failureCode, bytesMax: bytesMax)
    }
}

/// A change on its way to the writer.
struct StorageWrite: Sendable {
    let change: any StorageChange
    /// The link of the request, and the request that waits for an answer; nil if nobody waits.
    let link: UInt64
    let request: UInt64?

    init(_ change: any StorageChange, link: UInt64 = 0, request: UInt64? = nil) {
        (self.change, self.link, self.request) = (change, link, request)
    }
}

/// What a change is answered with.
protocol StorageAnswer: Sendable {
    /// Gives the answer to whoever waits for it. It is called on the event loop of the shard.
    func deliver(to request: UInt64, of link: UInt64, at shard: StorageShard)
}

extension StorageAnswer where Self: WireEncodable {
    func deliver(to request: UInt64, of link: UInt64, at shard: StorageShard) {
        shard.links[link]?.respond(to: request, self)
    }
}

extension NoContent: StorageAnswer {}

import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// One request of an operator's program to the service that runs. It goes to the node that leads the app's
/// shard, whichever node the program connects to first.
final class OperatorCall {
    private enum Question {
        case ban(Ban)
        case bans(BansRequest)
    }

    private enum Answer {
        case carriedOut(BanOutcome)
        case listed(BansResponse)
    }

    /// What a link is called that a command of an operator opens.
    static let node = "operator"

    /// How long the service may take to answer.
    private static let timeout = Duration.seconds(10)

    private let client: StorageClient
    private let question: Question
    private let answer: EventLoopPromise<Answer>
    private var isAsked = false

    private init(_ client: StorageClient, _ question: Question, _ answer: EventLoopPromise<Answer>) {
        self.client = client
        self.question = question
        self.answer = answer
    }

    static func ban(
        _ ban: Ban, _ access: OperatorCommands.Access, _ configuration: Configuration
    ) throws -> BanOutcome {
        guard case .carriedOut(let outcome) = try ask(.ban(ban), access, configuration) else {
            preconditionFailure("a ban is answered by its outcome")
        }
        return outcome
    }

    static func bans(
        _ place: BansRequest, _ access: OperatorCommands.Access, _ configuration: Configuration
    ) throws -> BansResponse {
        guard case .listed(let page) = try ask(.bans(place), access, configuration) else {
            preconditionFailure("a list is answered by a page")
        }
        return page
    }

    private static func ask(
        _ question: Question, _ access: OperatorCommands.Access, _ configuration: Configuration
    ) throws -> Answer {
        let address = access.address(configuration)
        let settings = try access.link(configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let loop = group.next()
        let answer = loop.makePromise(of: Answer.self)
        loop.execute {
            let client = StorageClient(
                to: [address], settings, node: node, timeout: timeout, endOfTurn: .shared(on: loop),
                logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() })
            client.start(caller: OperatorCall(client, question, answer))
        }
        loop.scheduleTask(in: TimeAmount(timeout)) {
            answer.fail(RTMError(.storageNotAvailable, "not every shard has a leader that can be reached"))
        }
        do {
            return try answer.futureResult.wait()
        } catch {
            throw ServiceFailure.unavailable("storage at \(address)", error)
        }
    }

    private func answered(_ result: Result<Answer, ServiceLinkRequestFailure>) {
        switch result {
        case .success(let answer): self.answer.succeed(answer)
        case .failure(.refused(let error)): answer.fail(error)
        case .failure(let failure): answer.fail(failure)
        }
        client.shutdown()
    }
}

extension OperatorCall: StorageCaller {
    func storageIsUp(_ shard: Int, isWhole: Bool) {
        guard isWhole, !isAsked else { return }
        isAsked = true
        switch question {
        case .ban(let ban): client.ban(ban, context: 0)
        case .bans(let place): client.bans(place, context: 0)
        }
    }

    func storageIsUnreachable(_ reason: ServiceLinkDownReason) {
        guard !client.isReached else { return }
        answer.fail(RTMError(.storageNotAvailable, "it can't be reached: \(reason)"))
        client.shutdown()
    }

    func storageCarriedOut(_ context: Int, _ outcome: Result<BanOutcome, ServiceLinkRequestFailure>) {
        answered(outcome.map { .carriedOut($0) })
    }

    func storageListedBans(_ context: Int, _ outcome: Result<BansResponse, ServiceLinkRequestFailure>) {
        answered(outcome.map { .listed($0) })
    }

    // It asks for nothing else.
    func storageIsDown(_ shard: Int, _ reason: ServiceLinkDownReason) {}
    func historyAppended(_ context: Int, _ outcome: Result<Void, ServiceLinkRequestFailure>) {}
    func storageCalled(
        _ context: Int, in shard: Int, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>
    ) {}
    func storageGranted(_ push: LockGrantedPush, in shard: Int) {}
    func storageSnapshot(_ context: Int, _ outcome: Result<SnapshotResponse, ServiceLinkRequestFailure>) {}
}

import RTMRedis

/// What has to have a batch of the journal before its messages are acknowledged and delivered.
package enum JournalDurability: String, Sendable, CaseIterable {
    /// Redis, in its memory. What Redis loses, the living leader writes again; only both together are a loss.
    case journal
    /// One of its replicas, too.
    case replica
    /// Its append-only file, synced.
    case disk
}

/// What Redis is asked behind each batch.
struct JournalConfirmation: Sendable {
    let durability: JournalDurability
    /// How long Redis may wait for a replica or a disk, in milliseconds. Meanwhile it does nothing else over
    /// the connection, which all shards share.
    let waitMax: UInt64

    init(_ durability: JournalDurability, lease: UInt64, shards: Int) {
        self.durability = durability
        waitMax = max(10, lease / 4 / UInt64(shards))
    }

    /// Nil if the answer of the script is enough.
    var question: RedisCommand? {
        switch durability {
        case .journal: nil
        case .replica: RedisCommand("WAIT", "1", RedisArgument(waitMax))
        case .disk: RedisCommand("WAITAOF", "1", "0", RedisArgument(waitMax))
        }
    }

    /// Why a batch doesn't count although Redis has it; nil if it counts.
    func shortage(_ answer: Result<RedisReply, RedisFailure>) -> String? {
        switch (durability, answer) {
        case (.journal, _): nil
        case (_, .failure(let failure)): "Redis doesn't confirm the journal: \(failure)"
        case (.replica, .success(let reply)):
            reply.number ?? 0 >= 1 ? nil : "no replica of Redis has the newest batch of the journal"
        case (.disk, .success(let reply)):
            reply.elements?.first?.number ?? 0 >= 1
                ? nil : "the append-only file of Redis doesn't have the newest batch of the journal"
        }
    }
}

extension RedisClient {
    /// Writes a batch, and has it confirmed.
    ///
    /// - Parameter done: also gets the reason why the batch doesn't count although Redis has it; nil if it
    ///   counts, or if Redis doesn't have it.
    func append(
        _ command: RedisCommand, confirmedBy confirmation: JournalConfirmation,
        _ done: @escaping (Result<RedisReply, RedisFailure>, _ shortage: String?) -> Void
    ) {
        guard let question = confirmation.question else {
            return send(command) { done($0, nil) }
        }
        send(command, thenAsk: question) { outcome, answer in
            let isDone = JournalAnswer.Append(outcome) == .done
            done(outcome, isDone ? answer.flatMap(confirmation.shortage) : nil)
        }
    }
}

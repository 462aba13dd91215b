import NIOCore

/// The way of a command through a Cluster: to the master of its slot, and after an answer that says so, to
/// another one or there again.
extension RedisClient {
    /// One command on its way. It is confined to the event loop.
    private final class Trial {
        let command: RedisCommand
        let slot: Int
        let question: RedisCommand?
        let done: QuestionCompletion
        var attempts: CommandAttempts

        init(
            _ command: RedisCommand, thenAsk question: RedisCommand?, until deadline: NIODeadline,
            _ done: @escaping QuestionCompletion
        ) {
            self.command = command
            self.question = question
            self.done = done
            slot = HashSlot.of(command.key ?? "")
            attempts = CommandAttempts(until: deadline)
        }
    }

    func attempt(
        _ command: RedisCommand, thenAsk question: RedisCommand?, _ done: @escaping QuestionCompletion
    ) {
        guard commandsOpen < configuration.commandsMax else {
            return done(.failure(.tooManyCommands(configuration.commandsMax)), nil)
        }
        commandsOpen += 1
        let deadline = eventLoop.now + .init(configuration.commandTimeout)
        send(
            Trial(command, thenAsk: question, until: deadline) { [self] outcome, answer in
                commandsOpen -= 1
                done(outcome, answer)
            })
    }

    private func send(_ trial: Trial) {
        guard !isStopped, let endpoint = slots.master(of: trial.slot) else {
            doubt()
            let cause = isStopped ? "shut down" : "no master serves slot \(trial.slot)"
            return trial.done(.failure(.notConnected(cause)), nil)
        }
        connection(to: endpoint).send(trial.command) { [self] outcome in
            answered(trial, outcome, by: endpoint)
        }
    }

    private func redirect(_ trial: Trial, to endpoint: RedisEndpoint, isAsking: Bool) {
        guard !isStopped else { return send(trial) }
        connection(to: endpoint).send(trial.command, isAsking: isAsking) { [self] outcome in
            // A node that doesn't know of a failover yet sends us to the master that is gone.
            guard case .failure(.notConnected) = outcome else {
                return answered(trial, outcome, by: endpoint)
            }
            follow(.clusterDown, trial, outcome)
        }
    }

    private func answered(
        _ trial: Trial, _ outcome: Result<RedisReply, RedisFailure>, by endpoint: RedisEndpoint
    ) {
        guard case .failure(.refused(let text)) = outcome, let redirection = Redirection(text, from: endpoint)
        else { return finish(trial, outcome, at: endpoint) }
        observer?.redisRedirected(redirection.kind)
        follow(redirection, trial, outcome)
    }

    private func follow(
        _ redirection: Redirection, _ trial: Trial, _ outcome: Result<RedisReply, RedisFailure>
    ) {
        switch redirection {
        case .moved(let slot, let master) where !isStopped: moved(slot, to: master)
        case .clusterDown, .loading: doubt()
        default: break
        }
        switch trial.attempts.refused(redirection, now: eventLoop.now, random: configuration.random()) {
        case .send(let endpoint): redirect(trial, to: endpoint, isAsking: false)
        case .ask(let endpoint): redirect(trial, to: endpoint, isAsking: true)
        case .wait(let time):
            eventLoop.assumeIsolated().scheduleTask(in: .init(time)) { [self] in send(trial) }
        case .giveUp: trial.done(outcome, nil)
        }
    }

    private func finish(
        _ trial: Trial, _ outcome: Result<RedisReply, RedisFailure>, at endpoint: RedisEndpoint
    ) {
        guard case .success = outcome, let question = trial.question else { return trial.done(outcome, nil) }
        connection(to: endpoint).send(question) { trial.done(outcome, $0) }
    }
}

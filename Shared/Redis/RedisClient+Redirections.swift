import NIOCore

/// The way of a command through a Cluster: to the master of its slot, and after an answer that says so, to
/// another one or there again.
extension RedisClient {
    /// One command on its way. It is confined to the event loop.
    private final class Trial {
        let command: RedisCommand
        let slot: Int
        let done: Completion
        var attempts: CommandAttempts

        init(_ command: RedisCommand, until deadline: NIODeadline, _ done: @escaping Completion) {
            self.command = command
            self.done = done
            slot = HashSlot.of(command.key ?? "")
            attempts = CommandAttempts(until: deadline)
        }
    }

    func attempt(_ command: RedisCommand, _ done: @escaping Completion) {
        guard commandsOpen < configuration.commandsMax else {
            return done(.failure(.tooManyCommands(configuration.commandsMax)))
        }
        commandsOpen += 1
        let deadline = eventLoop.now + .init(configuration.commandTimeout)
        send(
            Trial(command, until: deadline) { [self] outcome in
                commandsOpen -= 1
                done(outcome)
            })
    }

    private func send(_ trial: Trial) {
        guard !isStopped, let place = slots.master(of: trial.slot) else {
            doubt()
            let cause = isStopped ? "shut down" : "no master serves slot \(trial.slot)"
            return trial.done(.failure(.notConnected(cause)))
        }
        send(trial, to: place, isAsking: false)
    }

    private func send(_ trial: Trial, to place: RedisPlace, isAsking: Bool) {
        connection(to: place).send(trial.command, isAsking: isAsking) { [self] outcome in
            guard case .failure(.refused(let text)) = outcome,
                let redirection = Redirection(text, from: place)
            else { return trial.done(outcome) }
            observer?.redisRedirected(redirection.kind)
            follow(redirection, trial, text)
        }
    }

    private func follow(_ redirection: Redirection, _ trial: Trial, _ text: String) {
        switch redirection {
        case .moved(let slot, let master) where !isStopped: moved(slot, to: master)
        case .clusterDown, .loading: doubt()
        default: break
        }
        switch trial.attempts.refused(redirection, now: eventLoop.now, random: .random(in: 0..<1)) {
        case .send: send(trial)
        case .ask(let place) where !isStopped: send(trial, to: place, isAsking: true)
        case .wait(let time):
            eventLoop.assumeIsolated().scheduleTask(in: .init(time)) { [self] in send(trial) }
        case .ask, .giveUp: trial.done(.failure(.refused(text)))
        }
    }
}

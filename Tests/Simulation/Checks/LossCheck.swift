/// Where only one thing fails at a time, no log is ever lost.
struct LossCheck: Check {
    private var found: [Finding] = []

    mutating func observe(_ entry: Entry) {
        guard case .messagingLost = entry.what else { return }
        found.append(Finding(time: entry.time, text: "logs are lost, and only one thing has failed"))
    }

    mutating func findings() -> [Finding] { found }
}

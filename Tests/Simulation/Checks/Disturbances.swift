/// When services did not learn of each other as they should: what they do late then has its excuse.
struct Disturbances {
    /// After the end of a disturbance, until everything is as it was: links are opened again after at most
    /// 5 s, and what was under way may take its whole time.
    private static let aftermath = Duration.seconds(20)

    private var periods: [Int: (start: Duration, end: Duration?)] = [:]

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .disturbed(let number, _): periods[number] = (entry.time, nil)
        case .calm(let number): periods[number]?.end = entry.time
        default: break
        }
    }

    /// Whether nothing disturbed the services from the one time to the other.
    func areAbsent(from start: Duration, to end: Duration) -> Bool {
        !periods.values.contains { period in
            period.start <= end && (period.end.map { $0 + Self.aftermath } ?? .seconds(1 << 30)) >= start
        }
    }

    /// Since when services have been disturbed without a pause; the time itself when they aren't.
    func beginning(of time: Duration) -> Duration {
        var beginning = time
        var isFound = true
        while isFound {
            isFound = false
            for period in periods.values where period.start < beginning {
                guard let end = period.end, end + Self.aftermath < beginning else {
                    beginning = period.start
                    isFound = true
                    continue
                }
            }
        }
        return beginning
    }
}

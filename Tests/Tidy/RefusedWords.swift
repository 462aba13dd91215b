/// Words of our own that identifiers once had, each with the word of the field for the same thing. A word
/// that readers of Raft, Kafka or NIO can't guess costs everybody who comes after us (docs/glossary.md).
///
/// A row is one word of an identifier, or several that follow each other: `hasRoomForOthers` has "has room".
enum RefusedWords {
    static let instead: [String: String] = [
        // Leadership and journal
        "heir": "successor",
        "handover": "leadership transfer",
        "parted": "transferred", "parting": "leadership transfer",
        "lead": "leadership, leader", "leads": "isLeader", "is leading": "isLeader",
        "patience": "election delay",
        "era": "epoch, or a counter that is named after what it counts",
        "journal machine": "ShardLeadership",
        "journal reading": "JournalReader", "journal keeper": "JournalDelegate",
        "memory walk": "checkpoint",
        "known nodes": "NodeDirectory", "messaging shards": "ShardRouter",
        "messaging links": "ShardConnection",
        // Sockets and back pressure
        "has room": "isWritable", "when room": "whenWritable", "waiting for room": "waiting until writable",
        "waits for room": "waits until writable", "awaits room": "waits until writable",
        "await room": "wait until writable", "make room": "evict, drop",
        "connection room": "capacity",
        "stranger": "unauthenticated connection", "strangers": "unauthenticated connections",
        "departure": "graceful close", "departures": "graceful close", "farewell": "graceful close",
        "conduct": "abuse budget",
        "request turn": "quota",
        // Subscriptions and presence
        "seat": "subscription", "seats": "subscriptions",
        "entrants": "caught-up subscribers",
        "channel wish": "subscribe options",
        "turn batches": "pending deliveries",
        "standing": "status, offset or index",
        "redis holds": "fence", "redis turns": "batch",
        "surroundings": "environment",
        "gathering": "completion group",
        "fading table": "generational cache",
        "embedded": "in memory; what runs inside another program may be embedded, and is then allowed here",
        // Verbs
        "told": "announced, sent, reported", "tell": "announce, send, report", "tells": "announces, sends",
        "hear": "receive", "hears": "receives", "heard": "received",
        "say": "send, announce, write", "says": "answers, announces", "said": "sent, answered",
        "go on": "continue, resume, retry", "goes on": "continues",
    ]

    /// Identifiers that have such a word and may, because it isn't ours or has its usual meaning.
    static let allowed: Set<String> = [
        // NIO's.
        "EmbeddedChannel", "EmbeddedEventLoop", "NIOEmbedded",
        // What runs inside another program, or over NIO's embedded channel in a test.
        "EmbeddedEdge", "EmbeddedLink", "EmbeddedMessaging", "EmbeddedPresence", "EmbeddedStorage",
        "embedded",
        // The calendar's.
        "dayOfEra", "era", "yearOfEra",
    ]

    /// Verbs of our own that stood for a dozen others in sentences, so that a reader had to guess which one.
    private static let verbs = [
        "told", "tells?", "hears?", "heard(?!:)", "goes on", "go on", "went on", "gone on",
        "ma(?:kes?|de) room", "signs? of life",
    ]

    /// One violation for each line of prose that has such a verb.
    static func verbs(in prose: [String], of path: String) throws -> [Violation] {
        let verb = try Regex("(?i)\\b(?:\(verbs.joined(separator: "|")))\\b")
        return prose.enumerated().compactMap { index, line in
            line.firstMatch(of: verb).map { match in
                Violation(
                    path: path, line: index + 1,
                    advice: "\"\(line[match.range])\" can mean many things: write the one that happens, "
                        + "such as send, receive, report, answer, announce, continue or replace")
            }
        }
    }

    /// One violation for each identifier, by that identifier.
    static func violations(in index: IdentifierIndex) -> [String: Violation] {
        let refused = Dictionary(grouping: instead.keys.map { $0.split(separator: " ").map(String.init) }) {
            $0[0]
        }
        return index.places.reduce(into: [:]) { violations, entry in
            let (identifier, places) = entry
            guard !allowed.contains(identifier), let first = places.first else { return }
            let words = IdentifierIndex.words(of: identifier)
            for (start, word) in words.enumerated() {
                guard let found = refused[word]?.first(where: { words[start...].starts(with: $0) }) else {
                    continue
                }
                let phrase = found.joined(separator: " ")
                violations[identifier] = Violation(
                    path: first.path, line: first.line,
                    advice: "\(identifier) (in \(places.count) files) has our old word \"\(phrase)\"; "
                        + "the field's is: \(instead[phrase] ?? "")")
            }
        }
    }
}

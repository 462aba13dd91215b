/// Cores decide, shells do. A core holds ids and values, never a session or a connection: then a test can
/// drive it without either, and no decision hides in an object that something else changes meanwhile.
///
/// **What is a core:** a type whose comment says "Pure" ("Pure: it gets the time."), and each type that is
/// named in `named`. All its extensions in its room belong to it.
///
/// **What it may not know:** any class or actor of the product, because sessions, connections, links, loops
/// and handlers are such objects here, and the objects of NIO that stand for a connection. `values` lists
/// the classes that are no such object.
enum Cores {
    /// Cores by name, beside those that say so themselves. The list holds them to it: it fails when one is
    /// renamed, so that it isn't forgotten.
    static let named: Set<String> = [
        // Shared
        "AcceptedServiceLinkStateMachine", "ServiceLinkStateMachine", "TokenExamination",
        // Messaging
        "ChannelChain", "Broker", "EntryTail", "LogTable", "PublisherMarks",
        // Presence and storage
        "EventOutbox", "HistorySelection", "LockTable", "MetadataSet", "RosterRegistry",
        // Edge
        "Admission", "ChannelTable", "ConnectionStateMachine", "DeliveryBatch", "EdgeChannel",
        "PresenceLease", "PublishBarrier", "SessionLocks", "SessionRates", "SessionSubscriptions",
        "SubscribeMachine", "SubscribeReply", "SubscriptionIndex", "TokenClock", "PendingDeliveries",
        "CaughtUpSubscribers",
        // RTMClient
        "ChannelRoster", "HeartbeatSchedule", "HeldEvents", "LinkPhase", "LinkStateMachine", "LockLedger",
        "Outage", "PublishQueue", "RestorationProgress", "Retries", "RevisionFloor", "StateCache",
        "SubscriptionTable",
    ]

    /// Cores that still hold what they shouldn't. Must be empty in the end.
    static let exceptions: Set<String> = []

    /// Classes that hold values: to know them isn't to know a connection. An application never changes, and
    /// is a class only so that its sessions share it.
    static let values: Set<String> = ["Application"]

    /// What stands for a connection in NIO.
    static let connections: Set<String> = [
        "ChannelHandlerContext", "ChannelPipeline", "EventLoop", "MultiThreadedEventLoopGroup",
    ]

    static func all(in declarations: [TypeDeclaration]) -> [TypeDeclaration] {
        var rooms: Set<String> = []
        for declaration in declarations where !declaration.isExtension && isCore(declaration) {
            rooms.insert(key(declaration))
        }
        return declarations.filter { rooms.contains(key($0)) }
    }

    private static func isCore(_ declaration: TypeDeclaration) -> Bool {
        let word = #/\bPure\b/#
        return named.contains(declaration.name) || declaration.comment.contains(word)
    }

    private static func key(_ declaration: TypeDeclaration) -> String {
        "\(ImportRules.house.room(of: declaration.path) ?? "") \(declaration.name)"
    }

    static func violations(in files: [SwiftFile]) -> [Violation] {
        let declarations = files.flatMap(TypeDeclaration.all)
        let objects = declarations.filter { $0.kind == .class || $0.kind == .actor }
        let cores = all(in: declarations).filter { !exceptions.contains($0.name) }
        let code = Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.code) })
        return cores.flatMap { core in
            core.lines.flatMap { index in
                forbidden(on: code[core.path]?[index] ?? "", objects, in: core).map { word in
                    Violation(
                        path: core.path, line: index + 1,
                        advice: "\(core.name) is a core and refers to \(word): let it hold an id, "
                            + "and let its shell look up the object (Tests/Tidy/Cores.swift)")
                }
            }
        }
    }

    private static func forbidden(
        on line: String, _ objects: [TypeDeclaration], in core: TypeDeclaration
    ) -> [String] {
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        let found = words.filter { word in
            guard word != core.name, !values.contains(word) else { return false }
            return connections.contains(word) || objects.contains { $0.name == word }
        }
        // "Channel" alone is also a word of ours.
        return line.contains("any Channel") ? found + ["any Channel"] : found
    }
}

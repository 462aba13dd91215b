/// Which room may import which module. A room imports only rooms below it, a server calls another service
/// through its client, and the client libraries know nothing of the services
/// (docs/decisions/0003-four-services.md).
///
/// The manifest can't hold this alone: a module that some other target builds can be imported without being
/// named.
struct ImportRules {
    /// By folder. A folder that isn't listed belongs to the nearest listed folder above it.
    let rooms: [String: Set<String>]

    /// What comes with the toolchain is open to everybody.
    static let toolchain: Set<String> = [
        "Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Glibc", "Musl", "Android",
        "Darwin",
    ]

    /// What an app links, which runs from iOS 16 on, and what came with a later system.
    static let linkedByApps = [
        "Clients/RTMClient/", "Clients/AgoraRtmKit/", "Shared/Cryptography/", "Shared/Model/",
    ]
    static let tooNew: Set<String> = ["Synchronization", "Observation", "RegexBuilder"]

    static let house = ImportRules(rooms: [
        "Shared/Model": [],
        "Shared/Cryptography": ["CCrypto", "CryptoKit", "Security"],
        "Shared/Credentials": ["RTMCryptography"],
        "Shared/AccessToken": ["RTMModel", "RTMCryptography", "CZlib"],
        "Shared/Wire": ["RTMModel", "RTMProtocolC", "CProtobufC", "NIOCore"],
        "Shared/ServiceLink": [
            "RTMModel", "RTMCryptography", "RTMWire", "Logging", "DequeModule", "NIOCore", "NIOPosix",
            "NIOSSL",
        ],
        "Shared/Redis": [
            "RTMServiceKit", "RTMServiceLink", "CHiredis", "Logging", "DequeModule", "NIOCore", "NIOPosix",
            "NIOSSL",
        ],
        "Shared/ServiceKit": [
            "CBuild", "RTMModel", "RTMCryptography", "RTMWire", "RTMServiceLink", "Logging", "NIOCore",
            "NIOPosix", "NIOHTTP1", "NIOSSL",
        ],
        "Shared/ConfigurationFile": ["RTMServiceKit", "Yams"],

        "Shared/PublishHook": [
            "RTMModel", "RTMServiceKit", "RTMServiceLink", "RTMCredentials", "Logging", "DequeModule",
            "NIOCore",
        ],
        "Shared/WebhookCall": [
            "RTMAppConfiguration", "RTMPublishHook", "RTMServiceKit", "RTMServiceLink", "RTMCredentials",
            "AsyncHTTPClient",
            "NIOCore", "NIOPosix", "NIOSSL", "NIOHTTP1",
        ],

        "Services/Messaging/Client": calling,
        "Services/Presence/Client": calling,
        "Services/Storage/Client": calling,
        "Shared/AppConfiguration": [
            "RTMModel", "RTMAccessToken", "RTMCredentials", "RTMServiceKit", "RTMWire", "Logging", "NIOCore",
        ],
        "Services/Messaging/Server": serving.union([
            "RTMMessagingClient", "RTMRedis",
        ]),
        "Services/Presence/Server": serving.union([
            "RTMPresenceClient", "RTMMessagingClient", "RTMRedis",
            "HeapModule", "OrderedCollections",
        ]),
        "Services/Storage/Server": serving.union([
            "RTMStorageClient", "RTMMessagingClient", "HeapModule", "OrderedCollections",
        ]),
        "Services/Storage/Server/Engines/SQLite": [
            "CSQLite", "RTMModel", "RTMWire", "Logging", "OrderedCollections",
        ],
        "Services/Storage/PostgreSQL": [
            "CPQ", "RTMModel", "RTMServiceKit", "RTMServiceLink", "RTMStorageServer", "RTMWire",
            "OrderedCollections",
        ],
        "Services/Edge/WebSocket": ["RTMWire", "CZlib", "NIOCore", "NIOWebSocket"],
        "Services/Edge/Server": serving.union([
            "RTMMessagingClient", "RTMPresenceClient", "RTMStorageClient", "RTMAccessToken",
            "RTMAppConfiguration", "RTMPublishHook", "NIOSSL", "NIOTLS", "NIOHTTP1",
            "NIOWebSocket",
            "RTMEdgeWebSocket",
        ]),

        "Services/Gateway/Server": serving.union([
            "RTMMessagingClient", "RTMPresenceClient", "RTMStorageClient", "RTMCredentials", "RTMAccessToken",
            "RTMAppConfiguration", "RTMCryptography", "RTMProtocol", "RTMPublishHook",
            "RTMWebhookCall",
            "SwiftProtobuf",
            "NIOSSL", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "Hummingbird",
            "HummingbirdCore",
            "HTTPTypes",
            "ServiceLifecycle", "OrderedCollections", "CGatewayFiles",
        ]),

        "Services/Messaging/Main": ["RTMMessagingServer", "RTMServiceKit", "RTMConfigurationFile"],
        "Services/Presence/Main": ["RTMPresenceServer", "RTMServiceKit", "RTMConfigurationFile"],
        "Services/Storage/Main": [
            "RTMStorageServer", "RTMStoragePostgreSQL", "RTMServiceKit", "RTMConfigurationFile",
        ],
        "Services/Edge/Main": ["RTMEdgeServer", "RTMServiceKit", "RTMConfigurationFile", "RTMWebhookCall"],
        "Services/Gateway/Main": ["RTMGatewayServer", "RTMServiceKit", "RTMConfigurationFile"],
        "Services/Standalone/Main": [
            "RTMEdgeServer", "RTMGatewayServer", "RTMMessagingServer", "RTMPresenceServer",
            "RTMStorageServer", "RTMStoragePostgreSQL", "RTMCredentials", "RTMServiceKit",
            "RTMConfigurationFile",
            "RTMServiceLink",
            "RTMWebhookCall", "Logging", "NIOCore", "NIOPosix",
        ],

        "Clients/RTMClient": [
            "RTMModel", "RTMCryptography", "RTMProtocol", "SwiftProtobuf", "Logging", "DequeModule",
            "HeapModule", "NIOCore", "NIOPosix",
            "NIOSSL", "NIOHTTP1", "NIOWebSocket", "NIOConcurrencyHelpers", "Atomics",
        ],
        // Where every branch for a platform is (docs/packages.md).
        "Clients/RTMClient/Platform": [
            "NIOCore", "NIOPosix", "NIOConcurrencyHelpers", "Network", "NIOTransportServices",
        ],
        "Clients/AgoraRtmKit": [
            "RTMClient", "RTMModel", "Logging", "DequeModule", "NIOConcurrencyHelpers",
        ],
        "TestKit": [
            "RTMClient", "RTMModel", "RTMProtocol", "RTMAccessToken", "RTMServiceLink", "RTMServiceKit",
            "RTMEdgeServer", "RTMMessagingServer", "RTMPresenceServer", "RTMStorageServer", "SwiftProtobuf",
            "Logging", "NIOCore", "NIOEmbedded",
        ],
        "Clients/Ledger": ["CLedgerTexts"],
        "Clients/rtm": [
            "RTMClient", "RTMModel", "RTMCredentials", "RTMAccessToken", "RTMLedger",
            "Logging", "ArgumentParser",
        ],
        "Clients/rtm/Gateway": [
            "RTMClient", "RTMModel", "RTMCredentials", "ArgumentParser", "AsyncHTTPClient", "NIOCore",
            "NIOHTTP1",
            "NIOPosix", "NIOSSL",
        ],
    ])

    private static let calling: Set<String> = ["RTMModel", "RTMWire", "RTMServiceLink", "Logging", "NIOCore"]

    private static let serving: Set<String> = calling.union([
        "RTMServiceKit", "DequeModule", "NIOPosix",
    ])

    func violations(in file: SwiftFile) -> [Violation] {
        let room = room(of: file.path)
        return file.code.enumerated().compactMap { index, line in
            guard let module = Self.imported(by: line) else { return nil }
            if Self.tooNew.contains(module), Self.linkedByApps.contains(where: file.path.hasPrefix) {
                let advice =
                    "apps run where \(module) is missing (docs/packages.md): use NIOConcurrencyHelpers"
                return Violation(path: file.path, line: index + 1, advice: advice)
            }
            if Self.toolchain.contains(module) { return nil }
            guard let room, let allowed = rooms[room] else {
                let advice = "no room: say in Tests/Tidy/ImportRules.swift what \(file.folder) may import"
                return Violation(path: file.path, line: index + 1, advice: advice)
            }
            if allowed.contains(module) { return nil }
            let advice = "\(room) may not import \(module): \(Self.replacement(for: module, in: room))"
            return Violation(path: file.path, line: index + 1, advice: advice)
        }
    }

    /// The nearest listed folder above a file.
    func room(of path: String) -> String? {
        rooms.keys.filter { path.hasPrefix($0 + "/") }.max { $0.count < $1.count }
    }

    static func imported(by line: String) -> String? {
        let statement = #/^\s*(?:@[\w()]+\s+)*(?:\w+\s+)?import\s+(.*)$/#
        guard line.contains("import"), let match = line.firstMatch(of: statement) else { return nil }
        // `import struct A.B` names a kind in front of the module.
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
        ]
        let words = match.1.split { $0 == " " || $0 == "." || $0 == ";" }
        return words.first { !kinds.contains($0) }.map(String.init)
    }

    private static func replacement(for module: String, in room: String) -> String {
        switch module {
        case "RTMProtocolC", "CProtobufC":
            "only Shared/Wire sees the generated C; use RTMWire's messages"
        case "CHiredis":
            "only Shared/Redis sees hiredis; use RTMRedis"
        case "CCrypto", "Crypto", "CryptoExtras", "CryptoKit", "Security":
            "only Shared/Cryptography sees OpenSSL and CryptoKit; use RTMCryptography"
        case "CZlib":
            "only Shared/AccessToken sees zlib"
        case "CSQLite":
            "only Services/Storage/Server/Engines/SQLite sees the database"
        case "CPQ":
            "only Services/Storage/PostgreSQL sees libpq"
        case "RTMWire", "RTMServiceLink", "RTMServiceKit":
            room.hasPrefix("Clients/")
                ? "clients speak the protocol through RTMProtocol" : "it lies above this room"
        case "RTMProtocol", "SwiftProtobuf":
            "the services use RTMWire; the Swift codec is the client library's"
        case let server where server.hasPrefix("RTM") && server.hasSuffix("Server"):
            "call that service through RTM\(server.dropFirst(3).dropLast(6))Client"
        default:
            "if it should, add it to Package.swift and to Tests/Tidy/ImportRules.swift"
        }
    }
}

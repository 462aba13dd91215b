// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target of ours (docs/decisions/0001-language-settings.md).
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
let webSocket: [Target.Dependency] = [
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOWebSocket", package: "swift-nio"),
]
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let concurrency: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let atomics: Target.Dependency = .product(name: "Atomics", package: "swift-atomics")
/// Connections over Network.framework.
let transport: Target.Dependency = .product(
    name: "NIOTransportServices", package: "swift-nio-transport-services",
    condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]))
/// Nothing that a named product needs may depend on it: every app would fetch it.
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
/// The gateway's framework for HTTP. As with Yams, no named product may need it.
let hummingbird: [Target.Dependency] =
    [
        ("Hummingbird", "hummingbird"), ("HummingbirdCore", "hummingbird"),
        ("HTTPTypes", "swift-http-types"), ("NIOHTTPTypes", "swift-nio-extras"),
        ("NIOHTTPTypesHTTP1", "swift-nio-extras"),
        ("ServiceLifecycle", "swift-service-lifecycle"),
    ].map { .product(name: $0, package: $1) } + [
        .product(name: "NIOHTTP1", package: "swift-nio")
    ]
/// What webhooks and hooks are called with, and `rtm` calls the gateway with. No named product may need it.
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
/// libcrypto, where there is no CryptoKit.
let openSSL: Target.Dependency = .target(
    name: "CCrypto", condition: .when(platforms: [.linux, .android, .openbsd]))
let ordered: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

/// What Apple asks of a library. Elsewhere a bundle would draw Foundation into the build for nothing.
let privacy = "PrivacyInfo.xcprivacy"
#if canImport(Darwin)
    let privacyResources: [Resource]? = [.copy(privacy)]
    let privacyExclusions: [String] = []
#else
    let privacyResources: [Resource]? = nil
    let privacyExclusions = [privacy]
#endif

func room(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    resources: [Resource]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources,
        swiftSettings: strict)
}

/// The targets of one service: the client that other services call it with (where they do), the server that
/// holds all its logic, and an executable of a few lines.
func service(
    _ name: String, hasClient: Bool = true, calls: [String] = [], server: [Target.Dependency] = [],
    main: [Target.Dependency] = [], settings: [SwiftSetting] = strict, resources: [Resource]? = nil
) -> [Target] {
    let clients: [Target.Dependency] = ((hasClient ? [name] : []) + calls).map {
        .target(name: "RTM\($0)Client")
    }
    let own: [Target.Dependency] = ["RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", logging]
    var targets = [
        room(
            "RTM\(name)Server", "Services/\(name)/Server", own + clients + nio + server,
            resources: resources),
        Target.executableTarget(
            name: "rtm-" + name.lowercased(),
            dependencies: [.target(name: "RTM\(name)Server"), "RTMServiceKit", "RTMConfigurationFile"] + main,
            path: "Services/\(name)/Main", swiftSettings: settings),
    ]
    if hasClient {
        let client: [Target.Dependency] = ["RTMModel", "RTMWire", "RTMServiceLink", logging]
        targets.append(room("RTM\(name)Client", "Services/\(name)/Client", client))
    }
    return targets
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["RTMTestSupport"], path: "Tests/\(name)",
        swiftSettings: strict)
}

/// Whether storage on PostgreSQL is built as well, which needs libpq. It is a target of its own, and only
/// what depends on it is compiled anew when this changes: the mains that offer it, and its tests.
let hasPostgreSQL = Context.environment["POSTGRESQL"].map { !$0.isEmpty } ?? false
let postgresEngine: [Target.Dependency] = hasPostgreSQL ? ["RTMStoragePostgreSQL"] : []
let mainSettings = strict + (hasPostgreSQL ? [.define("PostgreSQL")] : [])
let postgresRoom: [Target] =
    !hasPostgreSQL
    ? []
    : [
        .systemLibrary(
            name: "CPQ", path: "Shared/CPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        room(
            "RTMStoragePostgreSQL", "Services/Storage/PostgreSQL",
            ["RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMStorageServer", "CPQ", ordered]),
        // It runs the tests of storage over the other engine, too.
        tests(
            "StoragePostgreSQL",
            [
                "RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMStorageServer", "StorageTests",
                "RTMStoragePostgreSQL", "RTMProtocol", "CPQ", protobuf, logging,
            ] + nio),
    ]

let shared: [Target] = [
    room("RTMModel", "Shared/Model", []),
    // A target of its own, so that another commit compiles one small file and nothing else.
    .target(
        name: "CBuild", path: "Shared/CBuild",
        cSettings: [.define("RTM_COMMIT", to: Context.environment["RTM_COMMIT"] ?? "unknown")]),
    .systemLibrary(
        name: "CProtobufC", path: "Shared/CProtobufC", pkgConfig: "libprotobuf-c",
        providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]),
    .systemLibrary(
        name: "CCrypto", path: "Shared/CCrypto", pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
        name: "CZlib", path: "Shared/CZlib", pkgConfig: "zlib",
        providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
        name: "CSQLite", path: "Shared/CSQLite", pkgConfig: "sqlite3",
        providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Without pkg-config: it names a flag that the package manager warns of, and the module map says enough.
    .systemLibrary(
        name: "CHiredis", path: "Shared/CHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
    room("RTMCryptography", "Shared/Cryptography", [openSSL]),
    room("RTMCredentials", "Shared/Credentials", ["RTMCryptography"]),
    room(
        "RTMAccessToken", "Shared/AccessToken",
        ["RTMModel", "RTMCryptography", "CZlib"]),
    .target(name: "RTMProtocolC", dependencies: ["CProtobufC"], path: "protocol/generated/c"),
    .target(
        name: "RTMProtocol", dependencies: [protobuf],
        path: "protocol/generated/swift"),
    room(
        "RTMWire", "Shared/Wire",
        ["RTMModel", "RTMProtocolC", "CProtobufC", .product(name: "NIOCore", package: "swift-nio")]),
    room(
        "RTMServiceLink", "Shared/ServiceLink",
        ["RTMModel", "RTMCryptography", "RTMWire", nioSSL, logging] + nio),
    room(
        "RTMRedis", "Shared/Redis",
        ["RTMServiceKit", "RTMServiceLink", "CHiredis", nioSSL, logging, collections] + nio),
    room(
        "RTMServiceKit", "Shared/ServiceKit",
        [
            "CBuild", "RTMModel", "RTMCryptography", "RTMServiceLink", nioSSL, logging,
            .product(name: "NIOHTTP1", package: "swift-nio"),
        ] + nio),
    room("RTMConfigurationFile", "Shared/ConfigurationFile", ["RTMServiceKit", yams]),
    room(
        "RTMAppConfiguration", "Shared/AppConfiguration",
        ["RTMModel", "RTMAccessToken", "RTMCredentials", "RTMServiceKit", "RTMWire", logging] + nio),
    room(
        "RTMPublishHook", "Shared/PublishHook",
        ["RTMModel", "RTMServiceKit", "RTMServiceLink", "RTMCredentials", logging, collections] + nio),
    // A target of its own, so that the edge's library needs no client for HTTP: RTMTestKit links that
    // library.
    room(
        "RTMWebhookCall", "Shared/WebhookCall",
        [
            "RTMAppConfiguration", "RTMPublishHook", "RTMServiceKit", "RTMServiceLink", "RTMCredentials",
            httpClient, nioSSL,
            .product(name: "NIOHTTP1", package: "swift-nio"),
        ] + nio),
]

let services: [Target] =
    postgresRoom
    + service(
        "Messaging", server: ["RTMRedis", collections],
        // The Lua scripts travel in the binary.
        resources: [.embedInCode("Scripts")])
    + service(
        "Presence", calls: ["Messaging"],
        server: ["RTMRedis", collections, heap, ordered],
        // The Lua scripts travel in the binary.
        resources: [.embedInCode("Scripts")])
    + service(
        "Storage", server: ["RTMMessagingClient", "CSQLite", collections, heap, ordered],
        main: postgresEngine, settings: mainSettings)
    + service(
        "Edge", hasClient: false, calls: ["Messaging", "Presence", "Storage"],
        server: [
            "RTMAccessToken", "RTMAppConfiguration", "RTMEdgeWebSocket", "RTMPublishHook",
            nioSSL, nioTLS, collections,
        ] + webSocket, main: ["RTMWebhookCall"])
    + [
        // The console and the web client travel in the gateway's binary.
        .target(
            name: "CGatewayFiles", path: "Services/Gateway/Files", exclude: ["generate.py"])
    ]
    + service(
        "Gateway", hasClient: false, calls: ["Messaging", "Presence", "Storage"],
        server: [
            "CGatewayFiles", "RTMCredentials", "RTMAccessToken", "RTMAppConfiguration", "RTMCryptography",
            "RTMProtocol", "RTMPublishHook", "RTMWebhookCall",
            protobuf, nioSSL, collections, ordered,
        ] + hummingbird)
    + [
        room(
            "RTMEdgeWebSocket", "Services/Edge/WebSocket",
            ["RTMWire", "CZlib", .product(name: "NIOCore", package: "swift-nio")] + webSocket),
        .executableTarget(
            name: "rtm-standalone",
            dependencies: [
                "RTMEdgeServer", "RTMGatewayServer", "RTMMessagingServer", "RTMPresenceServer",
                "RTMStorageServer", "RTMCredentials", "RTMServiceKit", "RTMConfigurationFile",
                "RTMServiceLink",
                "RTMWebhookCall", logging,
            ] + nio + postgresEngine,
            path: "Services/Standalone/Main", swiftSettings: mainSettings),
    ]

let clients: [Target] = [
    room(
        "RTMClient", "Clients/RTMClient",
        [
            "RTMModel", "RTMCryptography", "RTMProtocol", protobuf, nioSSL, logging, collections, heap,
            concurrency, atomics, transport,
        ] + nio + webSocket, exclude: privacyExclusions, resources: privacyResources),
    room("AgoraRtmKit", "Clients/AgoraRtmKit", ["RTMClient", "RTMModel", logging, collections, concurrency]),
    // The table that docs/compatibility.md is made of travels in the binary.
    .target(name: "CLedgerTexts", path: "Clients/Ledger/Texts"),
    room(
        "RTMLedger", "Clients/Ledger", ["CLedgerTexts"],
        exclude: ["introduction.md", "Texts"]
            + ["configuration", "calls", "options", "data", "events", "responses"].map { "\($0).txt" }),
    .executableTarget(
        name: "rtm",
        dependencies: [
            "RTMClient", "RTMModel", "RTMCredentials", "RTMAccessToken", "RTMLedger",
            logging, httpClient, nioSSL,
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ] + nio,
        path: "Clients/rtm", swiftSettings: strict),
]

let testKit: [Target] = [
    room(
        "RTMTestKit", "TestKit",
        [
            "RTMClient", "RTMModel", "RTMProtocol", "RTMAccessToken", "RTMServiceLink", "RTMServiceKit",
            "RTMEdgeServer", "RTMMessagingServer", "RTMPresenceServer", "RTMStorageServer", protobuf,
            logging, .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ])
]

/// They see what an app sees: nothing but the public API.
let samples: [Target] = [
    .target(
        name: "ChatSample", dependencies: ["RTMClient"], path: "Samples/Chat/Model", packageAccess: false,
        swiftSettings: strict),
    .target(
        name: "BotSample", dependencies: ["RTMClient"], path: "Samples/Bot/Model", packageAccess: false,
        swiftSettings: strict),
    .executableTarget(
        name: "sample-bot", dependencies: ["BotSample", "RTMClient"], path: "Samples/Bot/Main",
        packageAccess: false, swiftSettings: strict),
    .testTarget(
        name: "SamplesTests", dependencies: ["ChatSample", "BotSample", "RTMClient", "RTMTestKit"],
        path: "Samples/Tests", packageAccess: false, swiftSettings: strict),
]

/// FUZZED=wire leaves out the broker and what reads HTTP and configurations: `make fuzz` compiles a third
/// then, and neither BoringSSL nor Hummingbird.
let fuzzesServers = Context.environment["FUZZED"] != "wire"

let testing: [Target] = [
    // Nothing of ours but the model, so that the tests of a room depend on that room alone.
    room(
        "RTMTestSupport", "Tests/Support",
        ["RTMModel", "CSpawn", .product(name: "NIOHTTP1", package: "swift-nio")] + nio,
        exclude: ["Client", "Redis", "Spawn", "Tokens"]),
    .target(name: "CSpawn", path: "Tests/Support/Spawn"),
    room("RTMClientTestSupport", "Tests/Support/Client", ["RTMModel", "RTMClient"]),
    room("RTMRedisTestSupport", "Tests/Support/Redis", ["RTMTestSupport", "RTMRedis"] + nio),
    room("RTMTokenTestSupport", "Tests/Support/Tokens", ["RTMModel", "RTMAccessToken"]),
    tests("Model", ["RTMModel", "RTMProtocol"]),
    tests("Cryptography", ["RTMTokenTestSupport", "RTMCryptography"]),
    tests("AccessToken", ["RTMTokenTestSupport", "RTMModel", "RTMAccessToken"]),
    tests("Wire", ["RTMModel", "RTMWire", "RTMProtocol", "RTMProtocolC", "CProtobufC", protobuf] + nio),
    tests("ServiceLink", ["RTMModel", "RTMWire", "RTMServiceLink", "RTMProtocol", protobuf, logging] + nio),
    tests("ServiceKit", ["RTMModel", "RTMServiceKit", "RTMConfigurationFile", logging] + nio),
    tests(
        "PublishHook",
        [
            "RTMTokenTestSupport",
            "RTMModel", "RTMAccessToken", "RTMAppConfiguration", "RTMServiceKit", "RTMConfigurationFile",
            "RTMPublishHook", "RTMWebhookCall", "RTMCredentials", logging, nioSSL,
        ] + nio),
    tests(
        "Messaging",
        [
            "RTMRedisTestSupport",
            "RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMMessagingClient",
            "RTMMessagingServer", "RTMRedis", "RTMProtocol", protobuf, logging,
        ] + nio),
    tests(
        "Storage",
        [
            "RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMStorageServer", "RTMStorageClient",
            "RTMMessagingClient", "RTMMessagingServer", "RTMProtocol", "CSQLite", protobuf, logging,
            ordered,
        ] + nio),
    tests(
        "Edge",
        [
            "RTMTokenTestSupport",
            "RTMModel", "RTMAccessToken", "RTMAppConfiguration", "RTMWire", "RTMServiceLink",
            "RTMServiceKit", "RTMConfigurationFile", "RTMEdgeServer", "RTMEdgeWebSocket",
            "RTMMessagingServer", "RTMPublishHook",
            "RTMProtocol", protobuf, logging,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio + webSocket),
    tests(
        "Gateway",
        [
            "RTMTokenTestSupport",
            "RTMModel", "RTMCredentials", "RTMAccessToken", "RTMAppConfiguration", "RTMConfigurationFile",
            "RTMServiceKit", "RTMServiceLink", "RTMGatewayServer", "RTMProtocol",
            "RTMCryptography", "RTMPublishHook", "RTMWebhookCall", yams, protobuf,
            logging, nioSSL,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio + hummingbird),
    tests(
        "Redis",
        ["RTMRedisTestSupport", "RTMModel", "RTMRedis", "RTMServiceLink", "RTMMessagingServer", logging] + nio
    ),
    tests(
        "Presence",
        [
            "RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMMessagingClient",
            "RTMMessagingServer", "RTMPresenceServer", "RTMRedis", "RTMProtocol", protobuf, logging,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio),
    tests(
        "Client",
        [
            "RTMClientTestSupport", "RTMModel", "RTMClient", "RTMCryptography", "RTMProtocol", protobuf,
            logging,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio + webSocket),
    tests("AgoraRtmKit", ["AgoraRtmKit", "RTMClient", "RTMModel", "RTMLedger"]),
    // Code that belongs to the main actor by default, as that of new apps does.
    .testTarget(
        name: "AgoraRtmKitMainActorTests",
        dependencies: ["AgoraRtmKit", "RTMTestSupport", "rtm-main-actor-program"],
        path: "Tests/AgoraRtmKitMainActor",
        swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]),
    .executableTarget(
        name: "rtm-main-actor-program", dependencies: ["AgoraRtmKit"], path: "Tests/MainActorProgram",
        swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]),
    // The reference's samples are kept to the letter, and some of them draw warnings.
    .testTarget(
        name: "AgoraRtmKitSamplesTests", dependencies: ["AgoraRtmKit", "RTMTestSupport"],
        path: "Tests/AgoraRtmKitSamples",
        swiftSettings: [.swiftLanguageMode(.v6)]),
    tests(
        "CLI",
        [
            "RTMTokenTestSupport",
            "rtm", "RTMClient", "RTMModel", "RTMCredentials", "RTMAccessToken", "RTMLedger",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
    tests("Tidy", []),
    tests(
        "Integration",
        [
            "RTMClientTestSupport", "RTMTokenTestSupport",
            "RTMModel", "RTMCredentials", "RTMAccessToken", "RTMClient", "AgoraRtmKit", "RTMProtocol",
            protobuf,
            logging, nioSSL,
        ] + nio + webSocket),
    tests(
        "Simulation",
        [
            "RTMRedisTestSupport",
            "RTMModel", "RTMClient", "RTMProtocol", "RTMServiceLink", "RTMServiceKit", "RTMEdgeServer",
            "RTMMessagingServer", "RTMPresenceServer", "RTMStorageServer", "RTMGatewayServer", "RTMWire",
            "RTMRedis", "RTMTestKit", "RTMWebhookCall", protobuf, logging,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio),
    // It reads the modules that were built beside it.
    tests("Documentation", ["AgoraRtmKit", "RTMClient", "RTMModel", "RTMTestKit"]),
    tests("TestKit", ["RTMTestKit", "RTMClient", "RTMModel", "AgoraRtmKit"]),
    // Steps of a message, to be counted (`make bench`).
    .executableTarget(
        name: "rtm-microbench",
        dependencies: [
            "RTMModel", "RTMWire", "RTMProtocol", "RTMServiceKit", "RTMServiceLink", "RTMMessagingServer",
            "RTMEdgeServer", "RTMClient", protobuf, logging,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio,
        path: "Tests/Benchmarks/micro", exclude: ["baseline.txt", "measure.py", "run.sh"],
        swiftSettings: strict),
    // What storage does per second (`make bench WHAT=storage`).
    .executableTarget(
        name: "rtm-storage-bench",
        dependencies: [
            "RTMModel", "RTMWire", "RTMServiceLink", "RTMServiceKit", "RTMMessagingServer",
            "RTMStorageServer", "CSQLite", logging,
        ] + nio + postgresEngine,
        path: "Tests/Benchmarks/storage", exclude: ["run.sh"], swiftSettings: mainSettings),
    // What presence costs, in memory and over Redis (`make bench WHAT=presence`).
    .executableTarget(
        name: "rtm-presence-bench",
        dependencies: ["RTMModel", "RTMWire", "RTMRedis", "RTMPresenceServer", logging] + nio,
        path: "Tests/Benchmarks/presence", exclude: ["run.sh"], swiftSettings: strict),
    // What `make fuzz` feeds with bytes of libFuzzer's making, and FuzzTests with those that are kept.
    .target(
        name: "RTMFuzzTargets",
        dependencies: [
            "RTMModel", "RTMWire", "RTMProtocolC", "CProtobufC", "RTMAccessToken", "RTMEdgeWebSocket",
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
        ]
            + (fuzzesServers
                ? [
                    "RTMCredentials", "RTMConfigurationFile", "RTMEdgeServer", "RTMGatewayServer",
                    "RTMMessagingServer", "RTMPresenceServer", "RTMServiceKit", "RTMStorageServer",
                    "RTMWebhookCall",
                ] : []),
        path: "Tests/Fuzz/Targets", exclude: fuzzesServers ? [] : ["Servers"],
        swiftSettings: strict + (fuzzesServers ? [.define("FUZZES_SERVERS")] : [])),
    .executableTarget(
        name: "rtm-fuzz", dependencies: ["RTMFuzzTargets"], path: "Tests/Fuzz/Main", swiftSettings: strict),
    .testTarget(
        name: "FuzzTests", dependencies: ["RTMFuzzTargets"], path: "Tests/Fuzz/Replay",
        swiftSettings: strict),
]

/// All targets, or fewer where the environment says what is wanted: EXECUTABLES the programs (`make run`,
/// `make build`), ROOM the one room that is tested (`make room`). No compiler is called with other arguments
/// for it, so what one of them has built the others find built.
let targets: [Target] = {
    let all = shared + services + clients + testKit + samples + testing
    if let room = Context.environment["ROOM"] {
        return all.filter {
            $0.type != .test || $0.name == room + "Tests"
                || $0.name == "StorageTests" && room == "StoragePostgreSQL"
        }
    }
    guard let executables = Context.environment["EXECUTABLES"] else { return all }
    var wanted = executables.split(separator: " ").map(String.init)
    var needed: Set<String> = []
    while let name = wanted.popLast() {
        guard needed.insert(name).inserted else { continue }
        for dependency in all.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): wanted.append(name)
            default: break
            }
        }
    }
    return all.filter { needed.contains($0.name) }
}()

let package = Package(
    name: "Heliograph",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    // An executable is a product without being named here. Were it named, an app would fetch what it needs.
    products: [("AgoraRTM", "AgoraRtmKit"), ("RTMClient", "RTMClient"), ("RTMTestKit", "RTMTestKit")]
        .filter { product in targets.contains { $0.name == product.1 } }
        .map { .library(name: $0, targets: [$1]) },
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-transport-services.git", from: "1.28.0"),
        .package(url: "https://github.com/apple/swift-atomics.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0",
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.20.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: targets
)

import RTMModel
import Testing

@testable import RTMEdgeServer
@testable import RTMWire

@Suite("What a connection may ask, and when")
struct ConnectionStateMachineTests {
    enum State: CaseIterable {
        case new, greeted, admitting, active, ended
    }

    enum Request: CaseIterable {
        case hello, login, renewToken, logout, heartbeat, subscribe, unsubscribe, publish, unknown
    }

    /// Every state × every request.
    static let table: [State: [Request: String]] = [
        .new: [
            .hello: "welcome 1", .login: "disconnect 3501", .renewToken: "disconnect 3501",
            .logout: "disconnect 3501",
            .heartbeat: "disconnect 3501", .subscribe: "disconnect 3501", .unsubscribe: "disconnect 3501",
            .publish: "disconnect 3501", .unknown: "disconnect 3501",
        ],
        .greeted: [
            .hello: "disconnect 3501", .login: "login anna", .renewToken: "refuse -10002",
            .logout: "refuse -10002",
            .heartbeat: "heartbeat", .subscribe: "refuse -10002", .unsubscribe: "refuse -10002",
            .publish: "refuse -10002", .unknown: "refuse -10002",
        ],
        .admitting: [
            .hello: "disconnect 3501", .login: "refuse -10017", .renewToken: "refuse -10002",
            .logout: "refuse -10002",
            .heartbeat: "heartbeat", .subscribe: "refuse -10002", .unsubscribe: "refuse -10002",
            .publish: "refuse -10002", .unknown: "refuse -10002",
        ],
        .active: [
            .hello: "disconnect 3501", .login: "refuse -10017", .renewToken: "renew anna",
            .logout: "logout",
            .heartbeat: "heartbeat", .subscribe: "subscribe lobby", .unsubscribe: "unsubscribe lobby",
            .publish: "publish lobby", .unknown: "refuse -10022",
        ],
        .ended: [
            .hello: "ignore", .login: "ignore", .renewToken: "ignore", .logout: "ignore",
            .heartbeat: "ignore", .subscribe: "ignore", .unsubscribe: "ignore", .publish: "ignore",
            .unknown: "ignore",
        ],
    ]

    @Test("every request in every state", arguments: State.allCases, Request.allCases)
    func transitions(_ state: State, _ request: Request) throws {
        var machine = Self.machine(in: state)
        let expected = try #require(Self.table[state]?[request])
        #expect(Self.received(request, by: &machine) == expected)
    }

    @Test("a request without an id ends the connection in every state", arguments: State.allCases)
    func noRequestID(_ state: State) {
        for request in Request.allCases {
            var machine = Self.machine(in: state)
            let expected = state == .ended ? "ignore" : "disconnect 3501"
            #expect(Self.received(request, id: 0, by: &machine) == expected)
        }
    }

    @Test("only a logged-in connection is active, only one that ended has ended", arguments: State.allCases)
    func flags(_ state: State) {
        let machine = Self.machine(in: state)
        #expect(machine.isActive == (state == .active))
        #expect(machine.isEnded == (state == .ended))
    }

    @Test("a refusal leaves the state as it was", arguments: [State.greeted, .admitting, .active])
    func refusalsChangeNothing(_ state: State) {
        for request in Request.allCases {
            var machine = Self.machine(in: state)
            guard Self.received(request, by: &machine).hasPrefix("refuse") else { continue }
            for next in Request.allCases {
                var copy = machine
                #expect(Self.received(next, by: &copy) == Self.table[state]?[next])
            }
        }
    }

    @Test(
        "the highest version that both speak is taken, and none is said with its own code",
        arguments: [
            (1, 1, "welcome 1"), (0, 1, "welcome 1"), (1, 9, "welcome 1"), (0, .max, "welcome 1"),
            (2, 3, "disconnect 3504"), (0, 0, "disconnect 3504"), (5, 1, "disconnect 3504"),
            (.max, .max, "disconnect 3504"),
        ] as [(UInt32, UInt32, String)])
    func versions(_ min: UInt32, _ max: UInt32, _ expected: String) {
        var machine = ConnectionStateMachine()
        Self.withText("client") { client in
            let hello = ClientRequest.Hello(versionMin: min, versionMax: max, client: client)
            let action = machine.received(ClientRequest(id: 1, body: .hello(hello)))
            #expect(Self.text(action) == expected)
        }
        var next = machine
        #expect(
            Self.received(.heartbeat, by: &next)
                == (expected == "welcome 1" ? "heartbeat" : "disconnect 3501"))
    }

    @Test(
        "protocol, Hello: a client names itself with 64 bytes at most",
        arguments: [(64, "welcome 1"), (65, "disconnect 3501")])
    func clientName(_ count: Int, _ expected: String) {
        var machine = ConnectionStateMachine()
        Self.withText(String(repeating: "x", count: count)) { client in
            let hello = ClientRequest.Hello(versionMin: 1, versionMax: 1, client: client)
            #expect(Self.text(machine.received(ClientRequest(id: 1, body: .hello(hello)))) == expected)
        }
    }

    // MARK: -

    private static func machine(in state: State) -> ConnectionStateMachine {
        var machine = ConnectionStateMachine()
        if state == .new { return machine }
        _ = received(.hello, by: &machine)
        if state == .greeted { return machine }
        _ = received(.login, by: &machine)
        if state == .admitting { return machine }
        machine.loggedIn()
        if state == .ended { machine.ended() }
        return machine
    }

    private static func received(
        _ request: Request, id: UInt64 = 7, by machine: inout ConnectionStateMachine
    ) -> String {
        withText("anna") { user in
            withText("lobby") { channel in
                text(machine.received(ClientRequest(id: id, body: body(request, user, channel))))
            }
        }
    }

    private static func body(_ request: Request, _ user: WireText, _ channel: WireText) -> ClientRequest.Body
    {
        switch request {
        case .hello: .hello(.init(versionMin: 1, versionMax: 1, client: user))
        case .login:
            .login(
                .init(
                    appID: channel, userID: user, token: user, heartbeatIntervalSeconds: 5,
                    presenceTimeoutSeconds: 5, inboxAfter: nil, instance: 0, attempt: 0,
                    isAsked: false, message: nil))
        case .renewToken: .renewToken(.init(token: user))
        case .logout: .logout
        case .heartbeat: .heartbeat
        case .subscribe:
            .subscribe(
                .init(
                    channelType: .message, channel: channel, features: .message, after: nil, requestID: 0,
                    token: .empty, ownMessages: false, message: nil))
        case .unsubscribe: .unsubscribe(.init(channelType: .message, channel: channel))
        case .publish:
            .publish(
                .init(
                    channelType: .message, channel: channel,
                    message: MessageView(type: .text, payload: user, customType: user), storeInHistory: false)
            )
        case .unknown: .unknown
        }
    }

    private static func text(_ action: ConnectionStateMachine.Action) -> String {
        switch action {
        case .welcome(let version, _): "welcome \(version)"
        case .login(let login): "login \(login.userID.string)"
        case .renewToken(let renewal): "renew \(renewal.token.string)"
        case .logout: "logout"
        case .answerHeartbeat: "heartbeat"
        case .subscribe(let subscribe): "subscribe \(subscribe.channel.string)"
        case .unsubscribe(let unsubscribe): "unsubscribe \(unsubscribe.channel.string)"
        case .publish(let publish): "publish \(publish.channel.string)"
        case .call(let call): "call \(call.kind)"
        case .subscribeUserMetadata(let subscribe): "subscribe user \(subscribe.userID.string)"
        case .unsubscribeUserMetadata(let userID): "unsubscribe user \(userID.string)"
        case .refuse(let error): "refuse \(error.code.rawValue)"
        case .disconnect(let reason): "disconnect \(reason.code.rawValue)"
        case .ignore: "ignore"
        }
    }

    private static func withText<Result>(_ text: String, _ body: (WireText) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes { body(WireText($0)) }
    }
}

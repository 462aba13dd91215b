import RTMRedis

/// The Lua scripts, which are embedded in the binary. The head of each one says what it takes, returns and
/// costs.
enum PresenceScripts {
    static let enter = roster("enter", PackageResources.enter_lua)
    static let leave = roster("leave", PackageResources.leave_lua)
    static let lose = roster("lose", PackageResources.lose_lua)
    static let advance = roster("advance", PackageResources.advance_lua)
    static let setStates = roster("set_states", PackageResources.set_states_lua)
    static let removeStates = roster("remove_states", PackageResources.remove_states_lua)
    static let acknowledge = part("acknowledge", PackageResources.acknowledge_lua)
    static let snapshot = alone("snapshot", PackageResources.snapshot_lua)
    static let page = alone("page", PackageResources.page_lua)
    static let hold = alone("hold", PackageResources.hold_lua)
    static let renew = alone("renew", PackageResources.renew_lua)
    static let expire = alone("expire", PackageResources.expire_lua)
    static let claim = part("claim", PackageResources.claim_lua)
    static let clock = alone("clock", PackageResources.clock_lua)
    static let settle = alone("settle", PackageResources.settle_lua)

    static let all = [
        enter, leave, lose, advance, setStates, removeStates, acknowledge, snapshot, page, hold, renew,
        expire, claim, clock, settle,
    ]

    private static func roster(_ name: String, _ bytes: [UInt8]) -> RedisScript {
        part(name, PackageResources.roster_lua + bytes)
    }

    private static func part(_ name: String, _ bytes: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: text(PackageResources.part_lua) + text(bytes))
    }

    private static func alone(_ name: String, _ bytes: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: text(bytes))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

import Dispatch
import NIOCore
import RTMTestSupport
import Testing

@testable import RTMWebhookCall

/// One app's name whose name servers are gone is nothing that another app's hook may wait for.
struct AddressLookupTests {
    @Test("a name that takes long holds no other name, and is given up at the deadline")
    func slow() async throws {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let asked = Shared<[String]>([])
        let lookup = AddressLookup { host in
            asked.withLock { $0.append(host) }
            if host == "slow.example" { gate.wait() }
            return ["93.184.216.34"]
        }
        for _ in 0..<3 {
            await #expect(throws: AddressLookup.Failure.self) {
                try await lookup.addresses(of: "slow.example", port: 443, within: .milliseconds(20))
            }
            let found = try await lookup.addresses(of: "quick.example", port: 443, within: .seconds(60))
            #expect(found.map(\.ipAddress) == ["93.184.216.34"] && found.map(\.port) == [443])
        }
        #expect(asked.present.count { $0 == "slow.example" } == 1, "it is looked up once at a time")
        let address = try await lookup.addresses(of: "127.0.0.1", port: 80, within: .zero)
        #expect(address.map(\.ipAddress) == ["127.0.0.1"] && !asked.present.contains("127.0.0.1"))
    }

    @Test("whoever asks meanwhile gets the same answer, and beyond 64 names there is none")
    func shared() async throws {
        let gate = DispatchSemaphore(value: 0)
        let asked = Shared(0)
        let lookup = AddressLookup { host in
            asked.withLock { $0 += 1 }
            gate.wait()
            defer { gate.signal() }
            return ["93.184.216.34"]
        }
        try await withThrowingTaskGroup(of: [SocketAddress].self) { group in
            for number in 0..<AddressLookup.countMax * 2 {
                group.addTask {
                    try await lookup.addresses(
                        of: "name\(number / 2).example", port: 443, within: .seconds(60))
                }
            }
            try await eventually("64 names are being looked up") { asked.present == AddressLookup.countMax }
            await #expect(throws: AddressLookup.Failure.self) {
                try await lookup.addresses(of: "more.example", port: 443, within: .seconds(60))
            }
            gate.signal()
            for try await found in group { #expect(found.count == 1) }
        }
    }
}

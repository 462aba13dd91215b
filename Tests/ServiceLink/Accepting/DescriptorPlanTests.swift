import Testing

@testable import RTMServiceLink

@Suite("Sharing out the descriptors of a process")
struct DescriptorPlanTests {
    @Test("connections get what the process doesn't need itself")
    func connections() {
        let plan = DescriptorPlan(limit: 1_024, loops: 4)
        #expect(plan.connectionsMax == 1_024 - 128 - 32)
        #expect(plan.refusedMax == 32 && plan.adminMax == 32)
        #expect(DescriptorPlan(limit: 1_024, loops: 4, more: 100).connectionsMax == plan.connectionsMax - 100)
        let unknown = DescriptorPlan(limit: nil, loops: 4)
        #expect(unknown.connectionsMax > 1_000_000 && unknown.refusedMax == 64 && unknown.adminMax == 64)
        #expect(unknown.shortage == nil && unknown.mayKeep(1_000_000, for: .peer))
    }

    @Test("with too few descriptors it says how many are needed and how to get them")
    func shortage() throws {
        let plan = DescriptorPlan(limit: 100, loops: 2)
        let shortage = try #require(plan.shortage)
        #expect(shortage.contains("100") && shortage.contains("\(plan.needed)"))
        #expect(shortage.contains("LimitNOFILE") && shortage.contains("ulimit"))
        #expect(plan.connectionsMax >= 1)
        let enough = DescriptorPlan(limit: plan.needed, loops: 2)
        #expect(enough.shortage == nil && enough.connectionsMax == 32)
        #expect(DescriptorPlan(limit: plan.needed - 1, loops: 2).shortage != nil)
    }

    @Test("the last descriptors are the process's own, and some before them are for the admin port")
    func numbers() {
        for limit in [120, 256, 1_024, 65_536] {
            let plan = DescriptorPlan(limit: limit, loops: 2)
            let lastOfPeers = (0..<limit).last { plan.mayKeep($0, for: .peer) }
            let lastOfAdmin = (0..<limit).last { plan.mayKeep($0, for: .operating) }
            #expect(lastOfPeers == limit - 1 - 16 - plan.adminMax)
            #expect(lastOfAdmin == limit - 1 - 16)
            // All that is counted fits below, beside half of what the process may need itself.
            #expect(plan.connectionsMax + plan.refusedMax + 40 <= limit - 16 - plan.adminMax)
        }
    }

    @Test("a service's limits follow from the descriptors: links, connections in their handshake, by address")
    func service() {
        var wide = ServiceLinkServerConfiguration(service: "echo")
        let plenty = AcceptPolicy(DescriptorPlan(limit: 65_536, loops: 2)) { _, _ in }
        let isReduced = wide.fit(plenty)
        #expect(!isReduced && wide.linksMax == 1_024 && wide.unauthenticatedMax == 1_024)
        for limit in [120, 256, 1_024] {
            let plan = DescriptorPlan(limit: limit, loops: 2)
            var tight = ServiceLinkServerConfiguration(service: "echo")
            let isReduced = tight.fit(AcceptPolicy(plan) { _, _ in })
            #expect(isReduced && tight.linksMax >= 16)
            #expect(tight.linksMax + tight.unauthenticatedMax <= plan.connectionsMax)
            #expect(tight.unauthenticatedPerAddressMax <= tight.unauthenticatedMax / 2)
            #expect(tight.refusedMax == plan.refusedMax)
        }
    }
}

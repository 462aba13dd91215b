import Testing

@testable import RTMEdgeServer

@Suite("Room for connections")
struct ConnectionRoomTests {
    @Test("an edge takes as many clients as the operator says, or as its descriptors allow without its own")
    func room() {
        let wide = ConnectionRoom(connectionsMax: 1_000, descriptorsMax: 10_000, loops: 4)
        #expect(wide.connectionsMax == 1_000 && !wide.isTight)
        let tight = ConnectionRoom(connectionsMax: 100_000, descriptorsMax: 1_024, loops: 4)
        #expect(tight.connectionsMax == 1_024 - 128 - 32 && tight.isTight)
        #expect(tight.refusedMax < 128)
        let unknown = ConnectionRoom(connectionsMax: 100_000, descriptorsMax: nil, loops: 4)
        #expect(unknown.connectionsMax == 100_000 && !unknown.isTight)
        #expect(ConnectionRoom(connectionsMax: 10, descriptorsMax: 64, loops: 1).connectionsMax == 1)
    }
}

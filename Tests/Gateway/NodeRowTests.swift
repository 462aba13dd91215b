import Foundation
import RTMServiceKit
import Testing

@testable import RTMGatewayServer

/// What the gateway makes of the reports of other processes.
@Suite struct NodeRowTests {
    private func answer(_ address: String?, _ fields: String, instance: String = "i") throws
        -> NodeReports.Answer
    {
        let text = """
            {"program": "rtm-edge", "version": "1", "commit": "c", "instance": "\(instance)", "since": 1,
             "isReady": true, "notReady": [], \(fields)}
            """
        return NodeReports.Answer(address: address, outcome: .success(try NodeReport(json: Data(text.utf8))))
    }

    private func setting(_ value: String) -> String {
        #"{"key": "edge.connections.max", "value": "\#(value)", "source": "default", "isDefault": true, "#
            + #""isLive": false}"#
    }

    @Test(
        "numbers that no counter has are shown as what can be written, and end nothing",
        arguments: ["-1", "1e300"])
    func strangeNumbers(number: String) throws {
        let figures = ["process_resident_memory_bytes", "x_refused_total", "rtm_edge_connections"].map {
            #"{"metric": "\#($0)", "labels": {}, "value": \#(number)}"#
        }
        for bound in [number, "inf", "nan"] {
            let row = NodeRow(
                try answer(
                    "a:1",
                    """
                    "figures": [\(figures.joined(separator: ","))], "warnings": [],
                    "settings": [\(setting(bound))]
                    """))
            #expect(row.memoryBytes == (number == "-1" ? 0 : 1 << 53))
            #expect(row.refusals?.first?.count == row.memoryBytes)
        }
    }

    @Test(
        "a process with two addresses is one node, and nodes with other values are other rows"
    )
    func distinct() throws {
        let rest = { (value: String) in
            #""figures": [], "settings": [\#(self.setting(value))], "warnings": []"#
        }
        let answers = NodeReports.distinct([
            try answer("a:1", rest("5"), instance: "one"), try answer("b:1", rest("6"), instance: "two"),
            try answer("c:1", rest("5"), instance: "three"), try answer(nil, rest("6"), instance: "two"),
        ])
        #expect(answers.map(\.name) == ["a:1", "b:1", "c:1"])
        let rows = SettingRow.all(of: answers, prefix: "edge.", onlyChanged: false)
        #expect(rows.map(\.value) == ["5", "6"] && rows.map(\.nodes) == [["a:1", "c:1"], ["b:1"]])
        #expect(SettingRow.all(of: answers, prefix: "", onlyChanged: true).isEmpty)
    }
}

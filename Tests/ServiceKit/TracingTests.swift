import Foundation
import RTMServiceLink
import Testing

@testable import RTMServiceKit

/// The text that a collector of OpenTelemetry gets.
@Suite struct TracingTests {
    @Test("Spans are written as the JSON of OTLP")
    func text() throws {
        var first = Span(
            traceHigh: 1, traceLow: 0xABC, id: 2, parent: 0, name: "publish", kind: .server,
            begin: 1_700_000_000_000_000_001)
        first.end = 1_700_000_000_000_000_002
        first.attributes = [.init("rtm.app", "a \"quoted\" app")]
        var second = Span(
            traceHigh: 1, traceLow: 0xABC, id: .max, parent: 2, name: "messaging publish", kind: .client,
            begin: 5)
        second.end = 6
        second.error = "notConnected"
        let text = OTLPText(resource: [("service.name", "rtm-edge")]).text([first, second])
        let scope = "{\"name\":\"heliograph\",\"version\":\"\(BuildInformation.version)\"}"
        #expect(
            text == """
                {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":\
                "rtm-edge"}}]},"scopeSpans":[{"scope":\(scope),"spans":[\
                {"traceId":"00000000000000010000000000000abc","spanId":"0000000000000002",\
                "name":"publish","kind":2,"startTimeUnixNano":"1700000000000000001",\
                "endTimeUnixNano":"1700000000000000002","attributes":[{"key":"rtm.app",\
                "value":{"stringValue":"a \\"quoted\\" app"}}]},\
                {"traceId":"00000000000000010000000000000abc","spanId":"ffffffffffffffff",\
                "parentSpanId":"0000000000000002","name":"messaging publish","kind":3,\
                "startTimeUnixNano":"5","endTimeUnixNano":"6","attributes":[],\
                "status":{"code":2,"message":"notConnected"}}]}]}]}
                """)
        #expect((try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil)
    }
}

internal import RTMServiceLink

/// Spans as the JSON of OTLP, the protocol of OpenTelemetry's collectors. Pure.
struct OTLPText {
    /// Who sends the spans: `service.name` and the like.
    let resource: [(name: String, value: String)]

    func text(_ spans: [Span]) -> String {
        let scope = JSONText.object([
            ("name", JSONText.quoted("heliograph")), ("version", JSONText.quoted(BuildInformation.version)),
        ])
        let scopeSpans = JSONText.object([("scope", scope), ("spans", JSONText.array(spans.map(Self.text)))])
        let attributes = resource.map { Self.attribute($0.name, $0.value) }
        let sender = JSONText.object([("attributes", JSONText.array(attributes))])
        let all = JSONText.object([("resource", sender), ("scopeSpans", JSONText.array([scopeSpans]))])
        return JSONText.object([("resourceSpans", JSONText.array([all]))])
    }

    private static func text(_ span: Span) -> String {
        var fields: [(name: String, json: String)] = [
            ("traceId", JSONText.quoted(hex(span.traceHigh) + hex(span.traceLow))),
            ("spanId", JSONText.quoted(hex(span.id))),
        ]
        if span.parent != 0 { fields.append(("parentSpanId", JSONText.quoted(hex(span.parent)))) }
        fields += [
            ("name", JSONText.quoted(span.name)), ("kind", "\(span.kind.rawValue)"),
            // Numbers of 64 bits are texts in the JSON of protobuf.
            ("startTimeUnixNano", JSONText.quoted("\(span.begin)")),
            ("endTimeUnixNano", JSONText.quoted("\(span.end)")),
            ("attributes", JSONText.array(span.attributes.map { attribute($0.name, $0.value) })),
        ]
        if let error = span.error {
            fields.append(("status", JSONText.object([("code", "2"), ("message", JSONText.quoted(error))])))
        }
        return JSONText.object(fields)
    }

    private static func attribute(_ name: String, _ value: String) -> String {
        let value = JSONText.object([("stringValue", JSONText.quoted(value))])
        return JSONText.object([("key", JSONText.quoted(name)), ("value", value)])
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

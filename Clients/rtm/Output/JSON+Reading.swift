import Foundation

extension JSON {
    /// Nil if the text is no JSON. The fields of an object are in the order of their names, as gateways write
    /// them.
    init?(parsing text: String) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: Data(text.utf8)) else { return nil }
        self = value
    }

    subscript(_ name: String) -> JSON? { fields?.first { $0.name == name }?.value }

    var fields: [Field]? {
        guard case .object(let fields) = self else { return nil }
        return fields
    }

    var array: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var int: Int? { literal.flatMap { Int($0) } }
    /// Milliseconds since 1970.
    var time: UInt64? { literal.flatMap { UInt64($0) } }
    var double: Double? { literal.flatMap { Double($0) } }
    var isTrue: Bool { self == .literal("true") }

    private var literal: String? {
        guard case .literal(let literal) = self else { return nil }
        return literal
    }
}

extension JSON: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            let names = object.allKeys.map(\.stringValue).sorted()
            self = .object(
                try names.map { name in
                    Field(name: name, value: try object.decode(JSON.self, forKey: Name(stringValue: name)))
                })
            return
        }
        let value = try decoder.singleValueContainer()
        if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let isTrue = try? value.decode(Bool.self) {
            self = JSON(booleanLiteral: isTrue)
        } else if value.decodeNil() {
            self = .null
        } else if let number = try? value.decode(Int64.self) {
            self = .number(number)
        } else if let number = try? value.decode(UInt64.self) {
            self = .number(number)
        } else {
            self = .literal("\(try value.decode(Double.self))")
        }
    }
}

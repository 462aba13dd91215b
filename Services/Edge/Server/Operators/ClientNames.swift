import RTMWire

/// The names that clients give their software, each of them once: a connection keeps a number of one byte.
/// Pure.
struct ClientNames {
    private var names = [""]
    private var numbers: [String: UInt8] = [:]

    /// 0 for no name, and for one more than there are numbers.
    mutating func number(of name: WireText) -> UInt8 {
        guard !name.isEmpty else { return 0 }
        let name = name.string
        if let number = numbers[name] { return number }
        guard names.count <= UInt8.max else { return 0 }
        names.append(name)
        numbers[name] = UInt8(names.count - 1)
        return UInt8(names.count - 1)
    }

    /// Empty for 0.
    subscript(number: UInt8) -> String { names[Int(number)] }
}

/// A list that nearly always has one element, or none. One element lies in the list itself, where an array
/// would take 64 bytes of memory for it.
///
/// It is public although only servers use it: the compiler specialises no members of package types for other
/// modules, also inlinable ones, and a fan-out through the generic ones costs twice as much.
@frozen
public enum ShortList<Element> {
    case none
    case one(Element)
    /// Two at least, or one that others have left.
    case more(ContiguousArray<Element>)

    @inlinable @inline(__always) public init() { self = .none }

    @inlinable public mutating func append(_ element: Element) {
        switch self {
        case .none: self = .one(element)
        case .one(let first): self = .more([first, element])
        case .more(var elements):
            // Otherwise the array has two owners, and is copied.
            self = .none
            elements.append(element)
            self = .more(elements)
        }
    }

    /// Removes an element, and puts the last one in its place.
    @inlinable public mutating func swapRemove(at index: Int) {
        guard case .more(var elements) = self else {
            self = .none
            return
        }
        self = .none
        elements.swapAt(index, elements.count - 1)
        elements.removeLast()
        if !elements.isEmpty { self = .more(elements) }
    }

    @inlinable public mutating func removeAll(where isGone: (Element) -> Bool) {
        switch self {
        case .none: break
        case .one(let element): if isGone(element) { self = .none }
        case .more(var elements):
            self = .none
            elements.removeAll(where: isGone)
            if !elements.isEmpty { self = .more(elements) }
        }
    }

    @inlinable public mutating func append(contentsOf other: Self) {
        if isEmpty { self = other } else { other.each { append($0) } }
    }

    /// Both lists, one behind the other. To gather many lists, `append(contentsOf:)` copies less.
    @inlinable public static func + (first: consuming Self, second: Self) -> Self {
        first.append(contentsOf: second)
        return first
    }

    /// Calls `body` with each element: quicker than an iteration, which looks at each step where the element
    /// is.
    @inlinable public func each(_ body: (Element) throws -> Void) rethrows {
        switch self {
        case .none: break
        case .one(let element): try body(element)
        case .more(let elements): for element in elements { try body(element) }
        }
    }
}

extension ShortList: RandomAccessCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { count }

    @inlinable public var isEmpty: Bool {
        if case .none = self { true } else { false }
    }

    @inlinable public var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .more(let elements): elements.count
        }
    }

    @inlinable public subscript(index: Int) -> Element {
        switch self {
        case .none: preconditionFailure("the list is empty")
        case .one(let element):
            precondition(index == 0, "the list has one element")
            return element
        case .more(let elements): return elements[index]
        }
    }
}

extension ShortList: ExpressibleByArrayLiteral {
    @inlinable public init(_ element: Element?) { self = element.map { .one($0) } ?? .none }

    @inlinable public init(arrayLiteral elements: Element...) { self.init(elements) }

    @inlinable public init(_ elements: some Sequence<Element>) {
        self = .none
        for element in elements { append(element) }
    }
}

extension ShortList: Sendable where Element: Sendable {}

extension ShortList: Equatable where Element: Equatable {
    @inlinable public static func == (one: Self, other: Self) -> Bool { one.elementsEqual(other) }
}

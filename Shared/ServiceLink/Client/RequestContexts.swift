/// What a caller remembers of its requests until their answers, each under the number that its request
/// carries.
///
/// It is inlinable, because the compiler doesn't specialise generic code of another module, and code that
/// isn't specialised looks up types at run time, for each message.
@usableFromInline
package struct RequestContexts<Context> {
    @usableFromInline
    var contexts: ContiguousArray<Context?> = []
    @usableFromInline
    var free: ContiguousArray<Int> = []

    @inlinable
    package init() {}

    /// The number under which `remove` finds the context.
    @inlinable
    package mutating func insert(_ context: Context) -> Int {
        guard let number = free.popLast() else {
            contexts.append(context)
            return contexts.count - 1
        }
        contexts[number] = context
        return number
    }

    /// The context of a request that has been answered. Every request has one answer, so the number was
    /// inserted and not removed since.
    @inlinable
    package mutating func remove(_ number: Int) -> Context {
        guard let context = contexts[number].take() else {
            preconditionFailure("a request is answered twice")
        }
        free.append(number)
        return context
    }
}

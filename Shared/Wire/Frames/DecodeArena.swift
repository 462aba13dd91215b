import CProtobufC

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Memory for decoded protobuf-c messages: one block per event loop, which is given back as a whole before
/// the next message.
///
/// protobuf-c asks an allocator for every string, submessage and bytes field. Here an allocation is an
/// addition, and freeing does nothing. The allocator's state is plain memory: a Swift object in these
/// callbacks would cost a retain and a release for each field (measured: 175 ns a message against 90). A
/// message that needs more than the block gets single allocations, which are freed with it; the frame limit
/// bounds them.
package struct DecodeArena: ~Copyable {
    private let state: UnsafeMutablePointer<ArenaState>
    let allocator: UnsafeMutablePointer<ProtobufCAllocator>

    /// - Parameters:
    ///   - capacity: bytes of the block. A message decodes into a small multiple of its encoded size.
    ///   - bytesMax: bytes that one message may take in all. A frame made for the purpose decodes into
    ///     seventy times its size; one that would go beyond this limit is refused as undecodable.
    package init(capacity: Int = 64 * 1024, bytesMax: Int = 64 * 1024 * 1024) {
        state = .allocate(capacity: 1)
        state.initialize(to: ArenaState(capacity: capacity, bytesMax: bytesMax))
        allocator = .allocate(capacity: 1)
        allocator.initialize(
            to: ProtobufCAllocator(
                alloc: { context, size in
                    context?.assumingMemoryBound(to: ArenaState.self).pointee.allocate(size)
                },
                free: { _, _ in },
                allocator_data: UnsafeMutableRawPointer(state)))
    }

    /// Ends the life of everything decoded so far.
    func reset() { state.pointee.reset() }

    deinit {
        state.pointee.reset()
        state.pointee.block.deallocate()
        state.deallocate()
        allocator.deallocate()
    }
}

private struct ArenaState {
    let block: UnsafeMutableRawPointer
    let capacity: Int
    let bytesMax: Int
    var used = 0
    var overflowBytes = 0
    /// The newest of the single allocations. Each begins with the address of the one before it.
    var overflow: UnsafeMutableRawPointer?

    private static let alignment = 16

    init(capacity: Int, bytesMax: Int) {
        self.capacity = capacity
        self.bytesMax = bytesMax
        block = .allocate(byteCount: capacity, alignment: Self.alignment)
    }

    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        let rounded = (size + Self.alignment - 1) & ~(Self.alignment - 1)
        if rounded <= capacity - used {
            defer { used += rounded }
            return block + used
        }
        guard rounded <= bytesMax - capacity - overflowBytes, let single = malloc(rounded + Self.alignment)
        else { return nil }
        overflowBytes += rounded
        single.storeBytes(of: overflow, as: UnsafeMutableRawPointer?.self)
        overflow = single
        return single + Self.alignment
    }

    mutating func reset() {
        used = 0
        overflowBytes = 0
        while let single = overflow {
            overflow = single.load(as: UnsafeMutableRawPointer?.self)
            free(single)
        }
    }
}

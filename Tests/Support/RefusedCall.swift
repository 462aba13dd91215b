package import RTMModel

/// The code of the error that the call throws, or nil if it succeeds.
package func code(
    isolation: isolated (any Actor)? = #isolation, of call: () async throws -> Void
) async -> ErrorCode? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? RTMError)?.code
    }
}

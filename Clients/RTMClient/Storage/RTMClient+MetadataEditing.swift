public import RTMModel

// The loop around a compare-and-set, so that apps needn't write it.

extension RTMClient {
    /// Limit: attempts of one edit. In each round somebody else wins, so that a set that many edit at once is
    /// edited by everybody in the end.
    public static let metadataEditAttemptsMax = 32

    /// Reads the set, lets `edit` decide what to set, and writes that if nobody else wrote meanwhile.
    /// Otherwise it begins again with what there is then. In this way no write of others is lost.
    ///
    /// ```swift
    /// try await client.editMetadata(of: .channel("auction")) { now in
    ///     [MetadataChange("bid", String((Int(now["bid"] ?? "") ?? 0) + 10))]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - options: `majorRevision` is filled in.
    ///   - edit: returns the items to set. If there are none, nothing is written. It may be called several
    ///     times.
    /// - Returns: the set's major revision after the edit.
    /// - Throws: as ``setMetadata(_:of:options:)-([MetadataChange],_,_)`` does, and
    ///   `.storageOutdatedRevision` (-12014) after so many attempts that others won.
    @discardableResult
    public func editMetadata(
        of target: MetadataTarget, options: MetadataWriteOptions = .init(),
        _ edit: (RTMMetadata) throws(RTMError) -> [MetadataChange]
    ) async throws(RTMError) -> Int64 {
        var attempt = 1
        while true {
            do throws(RTMError) {
                let now = try await metadata(of: target)
                let items = try edit(now)
                guard !items.isEmpty else { return now.majorRevision }
                var options = options
                options.majorRevision = now.majorRevision
                return try await setMetadata(items, of: target, options: options)
            } catch {
                guard attempt < Self.metadataEditAttemptsMax, let pause = error.pauseBeforeNextEdit(attempt)
                else { throw error }
                attempt += 1
                do {
                    try await Task.sleep(for: pause)
                } catch {
                    throw .cancelled(.setChannelMetadata)
                }
            }
        }
    }
}

extension RTMError {
    /// `nil` if another attempt wouldn't help. The pause is random, so that those who collided stay apart.
    fileprivate func pauseBeforeNextEdit(_ attempt: Int) -> Duration? {
        if code == .operationRateExceedLimitation, let retryAfter { return retryAfter }
        guard conflict != nil else { return nil }
        return .milliseconds(Int.random(in: 0...min(10 * attempt, 200)))
    }
}

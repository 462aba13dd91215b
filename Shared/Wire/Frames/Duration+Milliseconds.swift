extension Duration {
    /// Rounded up, so that a time that is not zero stays so.
    package var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1000
            + UInt64(max(0, (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}

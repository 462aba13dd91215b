import RTMModel

/// Why a link doesn't accept a request. Nothing was sent.
struct ServiceLinkRefusal {
    let service: String
    let requestsMax: Int
    let frameBytesMax: Int

    func notConnected(_ reason: ServiceLinkDownReason?) -> RTMError {
        let why = reason.map { ": \($0)" } ?? ""
        return RTMError(.notConnected, "\(service) is not connected\(why)")
    }

    var tooMany: RTMError {
        RTMError(
            .operationRateExceedLimitation, "too many requests wait for \(service)",
            retryAfter: .milliseconds(100), limit: .init(name: "open requests", value: UInt64(requestsMax)))
    }

    func tooLong(_ length: Int) -> RTMError {
        RTMError(
            .invalidParameter, "\(length) bytes are too many for one request to \(service)",
            limit: .init(name: "frame bytes", value: UInt64(frameBytesMax)))
    }
}

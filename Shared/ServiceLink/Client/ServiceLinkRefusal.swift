import RTMModel

/// Why a link doesn't accept a request. Nothing was sent.
struct ServiceLinkRefusal {
    let service: String
    let requestsMax: Int
    let frameBytesMax: Int
    let queueBytesMax: Int

    /// The cause is in the log. It has addresses of the installation, and this text reaches clients.
    var notConnected: RTMError { RTMError(.notConnected, "\(service) can't be reached at present") }

    var tooMany: RTMError {
        RTMError(
            .operationRateExceedLimitation, "too many requests wait for \(service)",
            retryAfter: .milliseconds(100), limit: .init(name: "open requests", value: UInt64(requestsMax)))
    }

    var full: RTMError {
        RTMError(
            .operationRateExceedLimitation, "too many bytes wait for \(service)",
            retryAfter: .milliseconds(100),
            limit: .init(name: "bytes waiting for a service", value: UInt64(queueBytesMax)))
    }

    func tooLong(_ length: Int) -> RTMError {
        RTMError(
            .invalidParameter, "\(length) bytes are too many for one request to \(service)",
            limit: .init(name: "frame bytes", value: UInt64(frameBytesMax)))
    }
}

import Logging
import RTMServiceKit
import RTMServiceLink

/// Where the commands of operators reach a storage service that listens at no port: a socket in the data
/// directory, which only the user of the process may open.
struct OperatorListener: Service {
    /// Limit: bytes of the path of a socket, as Linux has it; one byte ends it.
    private static let pathBytesMax = 107

    let name = "operator listener"
    private let server: ServiceLinkServer
    private let path: String
    private let logger: Logger

    init(_ server: ServiceLinkServer, data: String, logger: Logger) {
        self.server = server
        self.path = Self.path(data)
        self.logger = logger
    }

    static func path(_ data: String) -> String { data + "/operator.sock" }

    func start() async throws {
        guard path.utf8.count <= Self.pathBytesMax else {
            return logger.warning(
                "kick, ban, unban and bans can't reach this process, because the path of their socket is too long",
                metadata: ["path": "\(path)", "bytesMax": "\(Self.pathBytesMax)"])
        }
        do {
            try await server.listen(path: path)
        } catch {
            throw ServiceFailure.unavailable("the socket \(path) for the commands of operators", error)
        }
    }
}

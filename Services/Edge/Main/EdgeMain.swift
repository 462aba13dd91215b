import RTMConfigurationFile
import RTMEdgeServer
import RTMServiceKit

@main struct EdgeMain: ServiceMain {
    static let program = ServiceProgram(
        EdgeDefinition.service, admin: HostPort(host: "127.0.0.1", port: 7711))
}

import RTMConfigurationFile
import RTMGatewayServer
import RTMServiceKit

@main struct GatewayMain: ServiceMain {
    static let program = ServiceProgram(
        GatewayDefinition.service, admin: HostPort(host: "127.0.0.1", port: 7751))
}

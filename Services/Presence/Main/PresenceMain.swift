import RTMConfigurationFile
import RTMPresenceServer
import RTMServiceKit

@main struct PresenceMain: ServiceMain {
    static let program = ServiceProgram(
        PresenceDefinition.service, admin: HostPort(host: "127.0.0.1", port: 7731))
}

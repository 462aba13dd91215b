import RTMConfigurationFile
import RTMMessagingServer
import RTMServiceKit

@main struct MessagingMain: ServiceMain {
    static let program = ServiceProgram(
        MessagingDefinition.service, admin: HostPort(host: "127.0.0.1", port: 7721))
}

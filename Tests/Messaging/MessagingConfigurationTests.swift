import RTMModel
import RTMServiceKit
import RTMServiceLink
import Testing

@testable import RTMMessagingServer

@Suite("The configuration of messaging")
struct MessagingConfigurationTests {
    private func problems(_ arguments: String...) -> [String] {
        let schema = ConfigurationSchema(MessagingDefinition.service.keys, section: "messaging")
        let loader = ConfigurationLoader(schema: schema, rules: MessagingDefinition.service.rules) { _ in "" }
        do {
            _ = try loader.load(arguments: arguments, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("S-17, S-20: the tail of a log outlasts the resume window, or messaging refuses to start")
    func tailOutlastsResumeWindow() {
        #expect(problems().isEmpty)
        #expect(problems("--tail-age-max", "120s").isEmpty)
        #expect(
            problems("--tail-age-max", "119s") == [
                "messaging.tail.ageMax (--tail-age-max): the value 119s is shorter than the resume window, "
                    + "which is 2m: a client that comes back within the window has to find every entry it "
                    + "missed. Set messaging.tail.ageMax to at least 2m"
            ])
        #expect(problems("--tail-age-max", "0s").count == 1)
    }

    @Test("the same rule holds for messaging inside another program")
    func inProcess() {
        let definition = MessagingDefinition.inProcess(.init(name: "messaging"))
        #expect(definition.rules.count == MessagingKeys.rules.count)
    }
}

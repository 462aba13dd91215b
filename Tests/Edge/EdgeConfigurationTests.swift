import RTMServiceKit
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

@Suite("The apps of an edge")
struct EdgeConfigurationTests {
    @Test("an app with and one without a certificate")
    func good() throws {
        let text = "dev,\(SampleApp.id):\(SampleApp.certificate)"
        let configuration = EdgeConfiguration(try load(["--apps", text]))
        #expect(configuration.applications.map(\.id) == ["dev", SampleApp.id])
        #expect(configuration.applications.map(\.certificate) == [nil, SampleApp.certificate])
    }

    @Test(
        "A-7: a certificate that can be none is refused by its key and record, and not shown",
        arguments: ["tops3cret", "5CFd2fd1755d40ecb72977518be15d3", "5CFd2fd1755d40ecb72977518be15d3bb"])
    func badCertificate(_ certificate: String) {
        #expect(
            problems(["--apps", "dev,\(SampleApp.id):\(certificate)"]) == [
                "apps (--apps): the value has a certificate in record 2 that is not 32 hexadecimal digits"
            ])
    }

    @Test("A-7: an app with a certificate has an id that tokens can be made for")
    func badID() {
        #expect(
            problems(["--apps", "my-app:\(SampleApp.certificate)"]) == [
                "apps (--apps): the value has an id in record 1 that is not 32 hexadecimal digits, "
                    + "which it has to be where there is a certificate"
            ])
    }

    @Test("R-6 to R-8: the rates of an app replace those of every app")
    func rates() throws {
        let configuration = EdgeConfiguration(
            try load(["--apps", "one,two::::::::40:0:3", "--rates-acquire-lock", "5"]))
        let rates = configuration.applications.map(\.rates)
        #expect(rates.map(\.channelMetadata.perSecond) == [10, 40])
        #expect(rates.map(\.userMetadata.isUnlimited) == [false, true])
        #expect(rates.map(\.acquireLock.perSecond) == [5, 3])
    }

    private func load(_ arguments: [String]) throws(ConfigurationError) -> Configuration {
        let schema = ConfigurationSchema(EdgeKeys.own, section: "edge")
        return try ConfigurationLoader(schema: schema, rules: EdgeKeys.rules) { _ in "" }
            .load(arguments: arguments, environment: [:])
    }

    private func problems(_ arguments: [String]) -> [String] {
        do {
            _ = try load(arguments)
            return []
        } catch { return error.problems.map(\.description) }
    }
}

import ArgumentParser
import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("What is published")
struct PayloadTests {
    @Test("contents are a text unless binary is asked for")
    func kinds() throws {
        let contents = Data("grüße\n".utf8)
        #expect(try PayloadArguments.payload(of: contents, asBinary: false) == .text("grüße\n"))
        #expect(try PayloadArguments.payload(of: contents, asBinary: true) == .data(contents))
        #expect(try PayloadArguments.payload(of: Data(), asBinary: false) == .text(""))
    }

    @Test("bytes that are no text are refused, not mended")
    func notText() throws {
        let contents = Data([0x68, 0xFF])
        let error = #expect(throws: RTMError.self) {
            try PayloadArguments.payload(of: contents, asBinary: false)
        }
        #expect(error?.code == .channelInvalidMessage)
        #expect(try PayloadArguments.payload(of: contents, asBinary: true) == .data(contents))
    }

    @Test("an input without end is refused before it fills the memory (L-20)")
    func tooLong() {
        let contents = Data(count: PayloadArguments.inputBytesMax + 1)
        let error = #expect(throws: RTMError.self) {
            try PayloadArguments.payload(of: contents, asBinary: true)
        }
        #expect(error?.code == .channelMessageLengthExceedLimitation)
    }

    @Test("the command line needs exactly one source")
    func sources() throws {
        #expect(throws: (any Error).self) { try PublishCommand.parse(["lobby"]) }
        // M-42: an id is that of one message.
        #expect(throws: (any Error).self) { try PublishCommand.parse(["lobby", "--lines", "--id", "a"]) }
        #expect(throws: (any Error).self) {
            try PublishCommand.parse(["lobby", "hi", "--outbox", "x", "--id", "a"])
        }
        #expect(try PublishCommand.parse(["lobby", "hi", "--id", "a"]).message.id == "a")
        #expect(throws: (any Error).self) { try PublishCommand.parse(["lobby", "hi", "--file", "x"]) }
        #expect(
            try PublishCommand.parse(["lobby", "hi", "--custom-type", "note"]).message.customType == "note")
        #expect(try PublishCommand.parse(["lobby", "-"]).message.text == "-")
        #expect(try PublishCommand.parse(["lobby", "--", "--json"]).message.text == "--json")
    }

    @Test("bench takes one shape, or its own without one, and sizes within limits")
    func bench() throws {
        #expect(try BenchCommand.parse([]).payload == 128)
        #expect(throws: (any Error).self) { try BenchCommand.parse(["--pairs", "1", "--fan-out", "1"]) }
        #expect(throws: (any Error).self) { try BenchCommand.parse(["--pairs", "1", "--payload", "15"]) }
        #expect(
            try BenchCommand.parse(["--fan-out", "100", "--server-pid", "1", "--server-pid", "2"]).serverPid
                == [1, 2])
    }
}

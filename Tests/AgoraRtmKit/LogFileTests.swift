import Foundation
import Logging
import RTMModel
import Testing

@testable import AgoraRtmKit

@Suite("Log file")
struct LogFileTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "log-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func text(_ folder: URL, _ name: String) -> String? {
        try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private func logger(
        _ path: String, _ level: AgoraRtmLogLevel = .info, kilobytes: Int32 = 1024
    ) throws -> Logger? {
        let config = AgoraRtmLogConfig()
        config.filePath = path
        config.level = level
        config.fileSizeInKB = kilobytes
        return try config.logger()
    }

    @Test(
        "N-7: each level includes the more severe ones, and none writes no file",
        arguments: [
            (.none, nil), (.info, "info notice warning error critical"), (.warn, "warning error critical"),
            (.error, "error critical"), (.fatal, "critical"),
        ] as [(AgoraRtmLogLevel, String?)])
    func levels(level: AgoraRtmLogLevel, written: String?) throws {
        try withFolder { folder in
            let logger = try logger(folder.appending(path: "own.log").path, level)
            for level in Logger.Level.allCases { logger?.log(level: level, "a record") }
            let lines = text(folder, "own.log")?.split(separator: "\n")
            #expect(lines?.map { $0.split(separator: " ")[1] }.joined(separator: " ") == written)
        }
    }

    @Test("N-7: a record is one line with its time, its level and what is known, sorted by name")
    func line() throws {
        try withFolder { folder in
            var logger = try #require(try logger(folder.path + "/"))
            logger[metadataKey: "user"] = "alice"
            logger.warning("lost", metadata: ["channel": "a\nb", "type": "message"])
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for file in files {
                let path = folder.appending(path: file).path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600, "nobody else may read who talks with whom")
            }
            let line = try #require(text(folder, "agora.log"))
            #expect(line.hasSuffix("Z warning lost channel=a\\nb type=message user=alice\n"))
            #expect(line.first == "2" && line.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        }
    }

    @Test("A folder that exists gets agora.log, and a file that exists is continued")
    func places() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try logger(folder.path)?.error("first")
            try logger(folder.path)?.error("second")
            #expect(text(folder, "agora.log")?.split(separator: "\n").count == 2)
        }
    }

    @Test("L-48: a full file makes room, four older files are kept, and each stays within the size")
    func rotation() throws {
        try withFolder { folder in
            // A size below the range counts as 128 KB.
            let logger = try #require(try logger(folder.path + "/", kilobytes: 1))
            let filling = String(repeating: "x", count: 1000)
            for number in 0..<1000 { logger.info("\(number)", metadata: ["filling": "\(filling)"]) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == ["agora.log"] + (1...4).map { "agora.log.\($0)" })
            let texts = ["agora.log.4", "agora.log.3", "agora.log.2", "agora.log.1", "agora.log"].compactMap {
                text(folder, $0)
            }
            for text in texts.prefix(4) { #expect((126 * 1024...128 * 1024).contains(text.utf8.count)) }
            let numbers = texts.joined().split(separator: "\n").compactMap {
                Int($0.split(separator: " ")[2])
            }
            #expect(numbers == Array((1000 - numbers.count)..<1000))
        }
    }

    @Test(
        "L-48: the size of a file is 128 to 1,024 KB",
        arguments: [(Int32.min, 128), (127, 128), (128, 128), (500, 500), (1024, 1024), (.max, 1024)])
    func bounds(given: Int32, used: Int) throws {
        try withFolder { folder in
            let logger = try #require(try logger(folder.path + "/", kilobytes: given))
            let filling = String(repeating: "x", count: 1023)
            while text(folder, "agora.log.1") == nil { logger.info("\(filling)") }
            let bytes = try #require(text(folder, "agora.log.1")).utf8.count
            #expect((used * 1024 - 1100...used * 1024).contains(bytes))
        }
    }

    @Test("Two clients that name one file share it, also when it becomes full")
    func shared() throws {
        try withFolder { folder in
            let loggers = try (0..<2).compactMap { _ in try logger(folder.path + "/", kilobytes: 128) }
            let filling = String(repeating: "x", count: 1000)
            for number in 0..<400 {
                loggers[number % 2].info("\(number)", metadata: ["filling": "\(filling)"])
            }
            let count = ["agora.log", "agora.log.1", "agora.log.2", "agora.log.3"].compactMap {
                text(folder, $0)
            }.joined().split(separator: "\n").count
            #expect(count == 400)
        }
    }

    @Test("A file that can't be written is refused by name (-10007)")
    func unwritable() {
        do throws(RTMError) {
            let config = AgoraRtmLogConfig()
            config.filePath = "/proc/nowhere/agora.log"
            _ = try config.logger()
            Issue.record("it was not refused")
        } catch {
            #expect(error.code == .initServiceFailed)
            #expect(error.reason.contains("/proc/nowhere/agora.log"))
        }
    }
}

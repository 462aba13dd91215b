import Foundation
import RTMFuzzTargets

/// `FUZZ_TARGET=… rtm-fuzz …`: built by `make fuzz`, it takes libFuzzer's arguments, and libFuzzer makes the
/// inputs; built otherwise, it takes files and reads each once, as one wants it under a debugger.
///
/// The target is in the environment because libFuzzer takes every word for a folder of its own, and starts
/// processes of this program with the words that it was given.
@main
enum Fuzz {
    static func main() {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
            FileHandle.standardError.write(Data("FUZZ_TARGET must be one of \(names)\n".utf8))
            exit(64)
        }
        run(target)
    }

    /// A disagreement ends the process as a trap does: libFuzzer keeps the input then.
    static func check(_ target: FuzzTarget, _ bytes: UnsafeRawBufferPointer) {
        do throws(Disagreement) {
            try target.run(bytes)
        } catch {
            FileHandle.standardError.write(Data("\(target.rawValue): \(error)\n".utf8))
            abort()
        }
    }
}

#if FUZZING
    // Of libFuzzer's archive, which comes with the toolchain. libFuzzer has no header for it.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    /// libFuzzer's own main asks for this name. Without optimisation the linker takes that main, too, but
    /// begins with ours.
    @_cdecl("LLVMFuzzerTestOneInput")
    func testOneInput(_ start: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
        Fuzz.check(Fuzz.target, UnsafeRawBufferPointer(start: start, count: length))
        return 0
    }

    extension Fuzz {
        // Safety: written once, before libFuzzer, which has one thread, calls anything.
        nonisolated(unsafe) fileprivate static var target = FuzzTarget.request

        fileprivate static func run(_ target: FuzzTarget) {
            self.target = target
            var count = CommandLine.argc
            var arguments = CommandLine.unsafeArgv
            exit(runDriver(&count, &arguments) { testOneInput($0, $1) })
        }
    }
#else
    extension Fuzz {
        fileprivate static func run(_ target: FuzzTarget) {
            for file in CommandLine.arguments.dropFirst() {
                guard let bytes = FileManager.default.contents(atPath: file) else {
                    FileHandle.standardError.write(Data("no file \(file)\n".utf8))
                    exit(66)
                }
                bytes.withUnsafeBytes { check(target, $0) }
            }
        }
    }
#endif

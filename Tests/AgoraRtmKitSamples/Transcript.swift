import Synchronization

/// What the samples print, since they say by nothing else how their calls went.
let transcript = Mutex<[String]>([])

/// Takes the place of the standard library's function in this module: the samples stay as they are.
func print(_ items: Any...) {
    let line = items.map { "\($0)" }.joined(separator: " ")
    transcript.withLock { $0.append(line) }
}

#if canImport(Combine)
    public import Combine

    // SwiftUI's observation from iOS 16 on; the macro `@Observable` needs iOS 17.
    extension ViewModel: ObservableObject {}
#endif

/// What the values of a client have in common that a view shows: ``LinkModel`` and ``RosterModel``.
///
/// On Apple's platforms it is an `ObservableObject`, for `@StateObject` and `@ObservedObject`. Everywhere
/// else, and in UIKit, ``onChange`` says that there is something new.
@MainActor public class ViewModel {
    #if canImport(Combine)
        /// SwiftUI is notified before each change of this, and reads the values after it.
        @Published private var changes: UInt64 = 0
    #endif

    /// Is called on the main actor after each change.
    public var onChange: (@MainActor () -> Void)?

    init() {}

    /// Makes a change, and notifies those who watch.
    func change(_ body: () -> Void) {
        #if canImport(Combine)
            changes += 1
        #endif
        body()
        onChange?()
    }
}

// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names that `import AgoraRtmKit` alone brings into an app.
//
// The samples use `Data` and `NSObject` without importing Foundation, and `YES` (api-surface.md, section 6).
// Of the rooms below nothing reaches the app's namespace.

@_exported public import Foundation

/// `true`, as samples that came from Objective-C write it.
public let YES = true
/// `false`, as samples that came from Objective-C write it.
public let NO = false

// The names are the vendor's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names that `import AgoraRtmKit` alone brings into an app.
//
// The samples use `Data` and `NSObject` without importing Foundation, and `YES` (api-surface.md, section 6).
// Error codes, channel types and the words of the link state are defined once, in the rooms below. Here they
// get the names of this API. They are exported one by one, so that nothing else of those rooms reaches the
// app's namespace.

@_exported public import Foundation

@_exported public import enum RTMClient.LinkOperation
@_exported public import enum RTMClient.LinkState
@_exported public import enum RTMClient.LinkStateReason
@_exported public import enum RTMModel.ChannelType
@_exported public import enum RTMModel.ErrorCode

/// `true`, as samples that came from Objective-C write it.
public let YES = true
/// `false`, as samples that came from Objective-C write it.
public let NO = false

/// What went wrong with a call. The raw values are the numbers of the vendor's error table.
public typealias AgoraRtmErrorCode = ErrorCode

/// The kind of a channel: `message`, `stream`, or `user` (whose channel name is a user id).
public typealias AgoraRtmChannelType = ChannelType

/// The state of the connection between the client and its servers.
public typealias AgoraRtmLinkState = LinkState

/// Which operation caused a change of the link state.
public typealias AgoraRtmLinkOperation = LinkOperation

/// Why the link state changed.
public typealias AgoraRtmLinkStateChangeReason = LinkStateReason

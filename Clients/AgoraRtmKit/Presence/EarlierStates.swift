// The states of the versions 2.1, which were lists of objects. Of what is received only the dictionaries
// exist: a property can't have two types.

import RTMClient
import RTMModel

/// One state in the form of earlier versions. A dictionary takes its place.
@available(*, deprecated, message: "states are dictionaries: [key: value]")
public final class AgoraRtmStateItem: NSObject {
    /// The key.
    public var key = ""
    /// The value.
    public var value = ""

    override public init() { super.init() }
}

@available(*, deprecated, message: "states are dictionaries: [key: value]")
extension AgoraRtmPresence {
    /// See ``setState(channelName:channelType:items:completion:)`` with a dictionary. A key that occurs twice
    /// gets `.presenceStateDuplicateKey` (-13010) (P-40).
    @preconcurrency
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [AgoraRtmStateItem],
        completion completionBlock: AgoraRtmOperationBlock? = nil
    ) {
        kit.begin(
            "setState", needs: .message, completionBlock, Self.setting(items, channelName, channelType))
    }

    /// See ``setState(channelName:channelType:items:)`` with a dictionary.
    @discardableResult
    public func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [AgoraRtmStateItem]
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await kit.perform("setState", needs: .message, Self.setting(items, channelName, channelType))
    }

    private static func setting(
        _ items: [AgoraRtmStateItem], _ channelName: String, _ channelType: AgoraRtmChannelType
    ) -> AgoraRtmClientKit.Call<Void> {
        let items = items.map { ($0.key, $0.value) }
        return { client throws(RTMError) in
            let states = Dictionary(items) { first, _ in first }
            guard states.count == items.count else {
                throw RTMError(.presenceStateDuplicateKey, "a key occurs twice among the states")
            }
            try await client.setState(states, in: channelName, type: channelType.kind)
        }
    }
}

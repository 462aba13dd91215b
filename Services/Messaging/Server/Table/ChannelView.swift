import RTMModel
import RTMWire

/// The full name of a channel where it lies in a request. To look a channel up, no string is made.
struct ChannelView {
    let appID: WireText
    let type: ChannelType
    let name: WireText

    /// A copy.
    var key: ChannelKey { ChannelKey(appID: appID.string, type: type, name: name.string) }
}

extension ChannelKey {
    func withView<Result>(_ body: (ChannelView) -> Result) -> Result {
        appID.withWireText { appID in
            name.withWireText { name in body(ChannelView(appID: appID, type: type, name: name)) }
        }
    }

    /// Whether they name the same channel: the bytes decide.
    func isSame(as view: ChannelView) -> Bool {
        type == view.type
            && withView { $0.name.hasSameBytes(as: view.name) && $0.appID.hasSameBytes(as: view.appID) }
    }
}

package import RTMModel

/// The full name of a channel where it lies in a request. To look a channel up, no string is made.
package struct ChannelView {
    package let appID: WireText
    package let type: ChannelType
    package let name: WireText

    package init(appID: WireText, type: ChannelType, name: WireText) {
        self.appID = appID
        self.type = type
        self.name = name
    }

    /// A copy.
    package var key: ChannelKey { ChannelKey(appID: appID.string, type: type, name: name.string) }
}

extension ChannelKey {
    package func withView<Result>(_ body: (ChannelView) -> Result) -> Result {
        appID.withWireText { appID in
            name.withWireText { name in body(ChannelView(appID: appID, type: type, name: name)) }
        }
    }

    /// Whether they name the same channel: the bytes decide.
    package func isSame(as view: ChannelView) -> Bool {
        type == view.type
            && withView { $0.name.hasSameBytes(as: view.name) && $0.appID.hasSameBytes(as: view.appID) }
    }
}

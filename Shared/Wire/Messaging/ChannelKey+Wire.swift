import CProtobufC
package import RTMModel
import RTMProtocolC

extension ChannelKey: WireMessage {
    package typealias Fields = Schema.ChannelKey
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.type, type)
        sink.field(Fields.name, name)
    }
}

extension ChannelKey {
    init(decoded key: UnsafeMutablePointer<Rtm__Service__ChannelKey>?) throws(WireError) {
        guard let key = key?.pointee, let type = ChannelType(rawValue: Int(key.type.rawValue)) else {
            throw .undecodable
        }
        self.init(appID: WireText(key.app_id).string, type: type, name: WireText(key.name).string)
    }
}

// MARK: - Views

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

/// A ChannelKey as views.
struct ScannedKey: ScanDecodable {
    var appID = WireText.empty
    /// Nil if there is no key at all.
    var type: Int?
    var name = WireText.empty

    init() {}

    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        type = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ChannelKey.appId: appID = try field.view
            case Schema.ChannelKey.type: type = try field.enumeration
            case Schema.ChannelKey.name: name = try field.view
            default: break
            }
        }
    }
}

extension ScannedKey {
    /// The key as a value that may be kept. Throws if there was none, or one of an unknown type.
    func channel() throws(WireError) -> ChannelKey {
        guard let number = type, let type = ChannelType(rawValue: number) else { throw .undecodable }
        return ChannelKey(appID: appID.string, type: type, name: name.string)
    }
}

import RTMModel
import RTMProtocol

extension StreamPosition {
    init(_ position: Rtm_Client_StreamPosition) {
        self.init(epoch: position.epoch, offset: position.offset)
    }
}

extension Rtm_Client_StreamPosition {
    init(_ position: StreamPosition) {
        self.init()
        epoch = position.epoch
        offset = position.offset
    }
}

extension ChannelType {
    /// A type that this version doesn't know counts as `none`.
    init(_ type: Rtm_Client_ChannelType) { self = ChannelType(rawValue: type.rawValue) ?? .none }
}

extension Rtm_Client_ChannelType {
    init(_ type: ChannelType) { self = Rtm_Client_ChannelType(rawValue: type.rawValue) ?? .none }
}

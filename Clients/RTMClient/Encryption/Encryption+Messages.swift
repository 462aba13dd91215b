import Foundation
import RTMModel

extension Encryption {
    /// The message as it travels: its bytes are the sealed content, whatever the app has given.
    func seal(_ message: OutgoingMessage) throws(RTMError) -> OutgoingMessage {
        let place = ContentPlace(message.destination, publisher: userID, customType: message.customType)
        var sealed = message
        sealed.payload = .data(try seal(message.payload, at: place, for: .publish))
        return sealed
    }

    /// Opens a message that was delivered.
    ///
    /// - Returns: `nil` if it can't be decrypted. Then it is left out, and reported.
    func open(_ event: MessageEvent) -> MessageEvent? {
        let place = ContentPlace(
            .message, event.channelType, event.channelName, publisher: event.publisher,
            item: event.customType)
        switch openDelivered(event.payload.bytes, at: place) {
        case .success(let payload):
            var event = event
            event.payload = payload
            return event
        case .failure(let failure):
            report(
                UndecryptableEvent(
                    content: .message, failure: failure, channelType: event.channelType,
                    channelName: event.channelName, publisher: event.publisher))
            return nil
        }
    }

    /// Opens a page of stored messages. What can't be decrypted is empty and says why, and the rest of the
    /// page stays readable (H-13).
    func open(_ page: HistoryPage, of source: MessageDestination) -> HistoryPage {
        var page = page
        for index in page.messages.indices {
            let message = page.messages[index]
            let place = ContentPlace(source, publisher: message.publisher, customType: message.customType)
            switch openStored(message.payload.bytes, at: place) {
            case .success(let payload): page.messages[index].payload = payload
            case .failure(let failure):
                page.messages[index].payload = .data(Data())
                page.messages[index].decryptionFailure = failure
            }
        }
        return page
    }
}

extension ContentPlace {
    fileprivate init(_ destination: MessageDestination, publisher: String, customType: String) {
        switch destination {
        case .channel(let name):
            self.init(.message, .message, name, publisher: publisher, item: customType)
        case .user(let id): self.init(.message, .user, id, publisher: publisher, item: customType)
        case .topic(let topic, let channel):
            let name = TopicName(topic, in: channel).text
            self.init(.message, .topic, name, publisher: publisher, item: customType)
        }
    }
}

import RTMModel

/// One order per channel for all subscribers, nothing twice, and each publisher's messages in the order in
/// which it published them (M-24, M-25).
///
/// A channel's timestamps grow strictly, over all its logs, so they are the order: whoever sees a message
/// sees it under one offset and one timestamp, and every app sees a channel's timestamps grow.
struct OrderCheck: Check {
    private struct Stamp: Hashable, Comparable {
        let offset: UInt64
        let timestamp: UInt64

        /// Entries of one millisecond are of one log, so their offsets say which came first.
        static func < (left: Stamp, right: Stamp) -> Bool {
            (left.timestamp, left.offset) < (right.timestamp, right.offset)
        }
    }

    private struct View: Hashable {
        let device: DeviceID
        let place: Place
    }

    private struct Publish {
        let device: DeviceID
        /// The place of the call among all calls of its app.
        let number: Int
        let place: Place
    }

    private var stamps: [Place: [String: Stamp]] = [:]
    /// Of what apps were told when they published.
    private var texts: [Place: [Stamp: String]] = [:]
    private var newest: [View: Message] = [:]
    private var received: [DeviceID: Set<String>] = [:]
    private var publishes: [String: Publish] = [:]
    private var calls: [DeviceID: [Int: String]] = [:]
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, .publish(let text, let place)):
            publishes[text] = Publish(device: device, number: number, place: place)
            calls[device, default: [:]][number] = text
        case .ended(let device, let number, let outcome):
            guard let text = calls[device]?[number], let publish = publishes[text],
                case .published(let offset, let timestamp) = outcome
            else { return }
            stamp(text, publish.place, Stamp(offset: offset, timestamp: timestamp), entry.time)
        case .message(let device, let place, let message):
            receive(message, View(device: device, place: place), entry.time)
        default:
            break
        }
    }

    private mutating func receive(_ message: Message, _ view: View, _ time: Duration) {
        let isNew = received[view.device, default: []].insert(message.text).inserted
        if !isNew {
            found.append(Finding(time: time, text: "\(view.device) receives \(message) again"))
        }
        guard let publish = publishes[message.text], publish.place == view.place else {
            found.append(
                Finding(
                    time: time, text: "nobody published \(message) to \(view.place), and it is seen there"))
            return
        }
        if publish.device.user != message.publisher {
            found.append(Finding(time: time, text: "\(message) comes from \(message.publisher)"))
        }
        if let last = newest[view], (last.timestamp, last.order) >= (message.timestamp, message.order) {
            let text = "\(view.device) receives \(message) of \(view.place) behind \(last), which is newer"
            found.append(Finding(time: time, text: text))
        }
        newest[view] = message
        stamp(
            message.text, view.place, Stamp(offset: message.offset, timestamp: message.timestamp), time)
    }

    private mutating func stamp(_ text: String, _ place: Place, _ stamp: Stamp, _ time: Duration) {
        if let other = stamps[place]?[text], other != stamp {
            found.append(Finding(time: time, text: "\(text) lies at \(other) and at \(stamp) of \(place)"))
        }
        if let other = texts[place]?[stamp], other != text {
            found.append(Finding(time: time, text: "\(text) and \(other) lie both at \(stamp) of \(place)"))
        }
        stamps[place, default: [:]][text] = stamp
        texts[place, default: [:]][stamp] = text
    }

    mutating func findings() -> [Finding] {
        for (place, stamps) in stamps {
            var newest: [DeviceID: (number: Int, text: String)] = [:]
            for (text, _) in stamps.sorted(by: { $0.value < $1.value }) {
                guard let publish = publishes[text] else { continue }
                if let last = newest[publish.device], last.number > publish.number {
                    let order = "\(last.text) lies before \(text) in \(place), and was published after it"
                    found.append(Finding(time: .zero, text: order))
                }
                newest[publish.device] = (publish.number, text)
            }
        }
        return found
    }
}

// The output for a person: one line per event, `12:34:56 lobby alice: hi`.
//
// Names and contents come from strangers. Control characters in them could move the cursor, recolour the
// terminal or fake a line of another user, so none of them reaches the terminal.

import Foundation
import RTMClient

/// Turns events into lines for a person.
struct Transcript: Sendable {
    var timeZone = TimeZone.current
    /// Decides which day is today. Only what happened on another one is shown with its date.
    var now: @Sendable () -> Date = { Date() }
    var palette = Palette.plain
    /// Whether the channel is shown. It is not where there is only one channel anyway.
    var showsChannel = true

    /// Returns nil for an event that a person needn't see.
    func line(for event: RTMEvent) -> String? {
        switch event {
        case .message(let message): line(for: message)
        case .metadata(let event): line(for: event)
        case .lock(let event): line(for: event)
        case .linkState(let change): sentence(for: change).map(remark)
        case .tokenWillExpire(let notice):
            remark(
                "the token \(notice.channelName.map { "of stream channel \($0) " } ?? "")expires in "
                    + "\(notice.remaining.components.seconds) s, and the "
                    + "\(notice.channelName == nil ? "connection" : "membership") with it")
        case .gap(let gap):
            remark("messages of \(gap.channelName) may be missing here: the server no longer has them")
        case .presence(let presence): line(for: presence)
        case .topic(let event): sentence(for: event).map(remark)
        case .streamChannelEnded(let event):
            remark("stream channel \(event.channelName) is over: \(event.error.reason)")
        // No command opens one.
        case .outbox: nil
        case .undecryptable(let event):
            remark(
                "\(event.count) of what arrived in \(event.channelName) can't be decrypted: "
                    + "\(event.failure.reason)")
        case .overflow(let dropped): remark("\(dropped) events came too fast and were dropped")
        }
    }

    private func line(for message: MessageEvent) -> String {
        var place = showsChannel ? " " + message.channelName.visible : ""
        if message.channelType == .user { place = " (to you)" }
        if !message.topic.isEmpty { place += "/" + message.topic.visible }
        let publisher = message.publisher.visible
        let mark = message.customType.isEmpty ? "" : " [\(message.customType.visible)]"
        return time(message.timestampMilliseconds) + palette.quiet(place) + " "
            + palette.name(publisher) + palette.quiet(mark) + ": " + text(of: message.payload)
    }

    /// A line that the user has published. All others get it as an event; the publisher doesn't (M-21).
    func line(forOwn text: String, at milliseconds: UInt64) -> String {
        time(milliseconds) + " " + palette.own("you") + "> " + indented(text)
    }

    /// A quiet line that is about the conversation and not part of it.
    func remark(_ sentence: String) -> String { palette.quiet("-- " + sentence.visible) }

    private func text(of payload: MessagePayload) -> String {
        switch payload {
        case .text(let text): indented(text)
        case .data(let data): palette.quiet("(binary, \(data.count) bytes)")
        }
    }

    /// Indents further lines of a message, so that they can't be mistaken for messages.
    private func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).visible }
            .joined(separator: "\n    ")
    }

    private func sentence(for change: LinkStateEvent) -> String? {
        switch change.currentState {
        case .idle, .connecting: nil
        case .connected: change.isResumed ? "the connection is back" : "connected"
        case .disconnected: "the connection is lost (\(change.reason)); trying again"
        case .suspended: "still no connection (\(change.reason)); trying every 30 s"
        case .failed: "the connection has ended for good: \(change.reason)"
        }
    }

    private func sentence(for event: TopicEvent) -> String? {
        switch event.change {
        case .snapshot(let topics):
            topics.isEmpty
                ? "nobody publishes a topic of \(event.channelName) yet"
                : "topics of \(event.channelName): "
                    + topics.map { topic in
                        "\(topic.name) (\(topic.publishers.map(\.userID).joined(separator: ", ")))"
                    }.joined(separator: ", ")
        case .joined(let topic, let publisher): "\(publisher.userID) publishes topic \(topic)"
        case .left(let topic, let publisher): "\(publisher.userID) publishes topic \(topic) no more"
        }
    }

    func time(_ milliseconds: UInt64) -> String {
        let date = Date(timeIntervalSince1970: TimeInterval(milliseconds / 1000))
        let (day, ofDay) = local(date)
        let parts = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60]
        let time = parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        guard day != local(now()).day else { return palette.quiet(time) }
        let style = Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day()
        return palette.quiet(date.formatted(style) + " " + time)
    }

    /// The day by number, and the second of it.
    private func local(_ date: Date) -> (day: Int, second: Int) {
        let seconds = Int(date.timeIntervalSince1970) + timeZone.secondsFromGMT(for: date)
        return (seconds / 86_400, seconds % 86_400)
    }
}

extension String {
    /// The text without anything that steers a terminal: control characters, and those that change the
    /// direction of writing.
    var visible: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar {
                    case "\t": " "
                    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}",
                        "\u{2066}"..."\u{2069}":
                        "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}

import NIOCore
package import RTMModel
package import RTMWire

/// What a subscriber missed comes in pages.
extension Broker {
    package struct Page {
        package let entries: [LogEntry]
        /// The position of the last entry that was looked at; after a gap, where the log can be read on.
        package let position: StreamPosition
        package let gap: Bool
        package let more: Bool
    }

    /// The entries after a position, up to `bytesMax` bytes of frames but at least one entry. Entries of
    /// `exceptPublisher` that its own session doesn't receive are left out, but for the messages among them
    /// if the features ask for these (M-43).
    package mutating func read(_ request: ReadRequest, bytesMax: Int, now: UInt64) throws(RTMError) -> Page {
        let slot = try channels.occupy(request.channel, by: .anybody, now: now)
        let head = channels.position(of: slot)
        let continuation = self.continuation(
            at: slot, after: request.after, features: request.features,
            except: request.exceptPublisher.withWireText(names.user))
        if let start = continuation.skippedTo {
            // Within an epoch the reader continues live: a reader that is too slow would lose more and more.
            guard start.epoch != request.after.epoch else {
                return Page(entries: [], position: head, gap: true, more: false)
            }
            return Page(entries: [], position: start, gap: true, more: start != head)
        }
        return self.page(continuation.entries, at: slot, request, bytesMax: bytesMax)
    }

    private func page(
        _ places: [EntryPlace], at slot: ChannelSlot, _ request: ReadRequest, bytesMax: Int
    ) -> Page {
        let (head, tail) = (channels.position(of: slot), channels.tail(of: slot))
        var page: [LogEntry] = []
        var bytes = 0
        for place in places {
            let entry = tail.entry(at: place)
            let leavesOutOwn = request.features.leavesOutOwn(entry.feature)
            guard !leavesOutOwn || !entry.isFrom(request.exceptPublisher) else { continue }
            bytes += entry.frame.readableBytes
            if bytes > bytesMax, let last = page.last {
                let position = StreamPosition(epoch: head.epoch, offset: last.offset)
                return Page(entries: page, position: position, gap: false, more: true)
            }
            page.append(entry)
        }
        return Page(entries: page, position: head, gap: false, more: false)
    }
}

extension LogEntry {
    /// Whether this publisher sent the entry and its own session doesn't receive it.
    fileprivate func isFrom(_ publisher: String) -> Bool {
        publisherSession != 0 && !publisher.isEmpty && hasPublisher(publisher)
    }

    /// Reads the publisher from the frame. Few readers ask for it, and otherwise every entry would have to
    /// keep the name.
    func hasPublisher(_ publisher: String) -> Bool {
        frame.withUnsafeReadableBytes { bytes in
            Publication.publisher(inFrame: bytes)?.bytes.elementsEqual(publisher.utf8) ?? false
        }
    }
}

package import NIOCore
import NIOPosix

/// Something that collects work during a turn of its event loop and does it once at the end.
package protocol Flushable: AnyObject {
    /// Called once for each `schedule`. May schedule itself or others again; that runs in the next round of
    /// the same turn.
    func flushAtEndOfTurn()
}

/// The end of an event loop's turn: after all reads that were due, before the loop sleeps.
///
/// Whatever became dirty during a turn registers here and is flushed once, so that a socket gets one write a
/// turn however many entries are due (measured: worth a factor of 50). A flush may make others dirty: the
/// rounds go on until nothing is, and sockets come last, when nothing more can be added to what they write.
/// Belongs to one event loop and is touched on it only.
package final class EndOfTurn {
    /// Limit: after so many rounds the loop looks at its sockets first. Two in-process services which answer
    /// each other without end would otherwise starve them.
    private static let roundsMax = 64
    /// NIO returns to its selector when no task is due at the instant at which it looks. How soon it looks
    /// depends on the machine (a sanitizer makes it tens of microseconds): a loop that stays dirty pauses
    /// longer each time.
    private static let pauseMin = TimeAmount.microseconds(20)
    private static let pauseMax = TimeAmount.microseconds(320)

    package let eventLoop: any EventLoop
    private var dirty: [any Flushable] = []
    private var flushing: [any Flushable] = []
    private var writers: [any Flushable] = []
    private var isArranged = false
    private var pause = EndOfTurn.pauseMin
    private var instant: NIODeadline?

    package init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    // Safety: a thread-specific variable gives every thread a value of its own; an event loop is one thread,
    // and the value is used on it only.
    private nonisolated(unsafe) static let ofThread = ThreadSpecificVariable<EndOfTurn>()

    /// The one that all users of this event loop share. Call it on the loop.
    package static func shared(on eventLoop: any EventLoop) -> EndOfTurn {
        eventLoop.preconditionInEventLoop()
        if let present = ofThread.currentValue, present.eventLoop === eventLoop { return present }
        let fresh = EndOfTurn(eventLoop: eventLoop)
        ofThread.currentValue = fresh
        return fresh
    }

    /// Has `flushable` flushed at the end of this turn. It keeps its own dirty flag: each call here is one
    /// flush.
    package func schedule(_ flushable: any Flushable) {
        eventLoop.assertInEventLoop()
        dirty.append(flushable)
        arrange()
    }

    /// The same for what ends in a socket: it is flushed once everything else is.
    package func scheduleWrite(_ writer: any Flushable) {
        eventLoop.assertInEventLoop()
        writers.append(writer)
        arrange()
    }

    /// The time of this turn, read from the clock once per round instead of once per message.
    package var now: NIODeadline {
        if let instant { return instant }
        let read = eventLoop.now
        instant = read
        arrange()
        return read
    }

    private func arrange() {
        guard !isArranged else { return }
        isArranged = true
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flush() {
        for _ in 0..<Self.roundsMax {
            instant = nil
            if dirty.isEmpty {
                guard !writers.isEmpty else { break }
                swap(&writers, &flushing)
            } else {
                swap(&dirty, &flushing)
            }
            for flushable in flushing { flushable.flushAtEndOfTurn() }
            flushing.removeAll(keepingCapacity: true)
        }
        instant = nil
        guard !dirty.isEmpty || !writers.isEmpty else {
            isArranged = false
            pause = Self.pauseMin
            return
        }
        eventLoop.assumeIsolated().scheduleTask(in: pause) { self.flush() }
        pause = min(pause * 2, Self.pauseMax)
    }
}

package import NIOCore
import NIOPosix

/// Something that collects work during a turn of its event loop and does it once at the end.
package protocol Flushable: AnyObject {
    /// Called once for each `schedule`. It may schedule itself or others again; they are flushed in the next
    /// round of the same turn.
    func flushAtEndOfTurn()
}

/// The end of an event loop's turn: after all reads that were due, and before the loop sleeps.
///
/// Whatever became dirty during a turn registers here and is flushed once, so that a socket gets one write in
/// each turn however many entries are due (measured: worth a factor of 50). A flush may make others dirty, so
/// the rounds continue until nothing is dirty. Sockets come last, when nothing more can be added to what they
/// write. The end of turn belongs to one event loop and is touched on it only.
package final class EndOfTurn {
    /// Limit: after so many rounds the loop looks at its sockets first. Otherwise two services of one process
    /// that answer each other without end would starve the sockets.
    private static let roundsMax = 64
    /// NIO returns to its selector when no task is due at the instant at which it looks. How soon it looks
    /// depends on the machine (a sanitizer makes it tens of microseconds), so a loop that stays dirty pauses
    /// longer each time.
    private static let pauseMin = TimeAmount.microseconds(20)
    private static let pauseMax = TimeAmount.microseconds(320)

    package let eventLoop: any EventLoop
    /// Nil where nothing is traced.
    package var tracer: Tracer?
    /// Gets how long each turn took, from its first work to its end. Without it no clock is read for that.
    package var turnEnded: ((TimeAmount) -> Void)?
    private var began: NIODeadline?
    private var dirty: [any Flushable] = []
    private var flushing: [any Flushable] = []
    private var writers: [any Flushable] = []
    private var lastWriters: [any Flushable] = []
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

    /// Has `flushable` flushed at the end of this turn. Each call here is one flush, so it keeps a dirty flag
    /// of its own.
    package func schedule(_ flushable: any Flushable) {
        eventLoop.assertInEventLoop()
        dirty.append(flushable)
        arrange()
    }

    /// Does the same for what ends in a socket. It is flushed when everything else has been.
    package func scheduleWrite(_ writer: any Flushable) {
        eventLoop.assertInEventLoop()
        writers.append(writer)
        arrange()
    }

    /// Does the same for a socket that only gets what nobody else waits for. It is flushed behind those of
    /// `scheduleWrite`.
    package func scheduleLastWrite(_ writer: any Flushable) {
        eventLoop.assertInEventLoop()
        lastWriters.append(writer)
        arrange()
    }

    /// The time of this turn. It is read from the clock once per round instead of once per message.
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
        if turnEnded != nil { began = instant ?? eventLoop.now }
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    private func flushAll() {
        for flushable in flushing { flushable.flushAtEndOfTurn() }
        flushing.removeAll(keepingCapacity: true)
    }

    private func flush() {
        for _ in 0..<Self.roundsMax {
            instant = nil
            if !dirty.isEmpty {
                swap(&dirty, &flushing)
            } else if !writers.isEmpty {
                swap(&writers, &flushing)
            } else if !lastWriters.isEmpty {
                swap(&lastWriters, &flushing)
            } else {
                break
            }
            flushAll()
        }
        // Others that have work without end don't hold up what comes last.
        if !lastWriters.isEmpty {
            swap(&lastWriters, &flushing)
            flushAll()
        }
        instant = nil
        guard !dirty.isEmpty || !writers.isEmpty || !lastWriters.isEmpty else {
            isArranged = false
            pause = Self.pauseMin
            if let turnEnded, let began { turnEnded(eventLoop.now - began) }
            return
        }
        eventLoop.assumeIsolated().scheduleTask(in: pause) { self.flush() }
        pause = min(pause * 2, Self.pauseMax)
    }
}

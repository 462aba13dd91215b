import ArgumentParser

extension Duration {
    /// Reads `500ms`, `10s`, `1.5s`, `2m` and `1h`.
    init(argument: String) throws {
        let number = argument.prefix { $0.isNumber || $0 == "." }
        let milliseconds: Double? =
            switch argument.dropFirst(number.count) {
            case "ms": 1
            case "s": 1000
            case "m": 60_000
            case "h": 3_600_000
            default: nil
            }
        guard let milliseconds, let value = Double(number), (value * milliseconds).isFinite,
            value * milliseconds <= Self.argumentMillisecondsMax
        else {
            throw ValidationError("a duration is a number and a unit, like 500ms, 10s, 2m or 1h")
        }
        self = .milliseconds(Int64((value * milliseconds).rounded()))
    }

    /// A thousand days, which is far below what a clock can add to its present time.
    private static let argumentMillisecondsMax = 1000 * 86_400_000.0

    var milliseconds: Double { self / .milliseconds(1) }

    /// The duration for a person: `10 s`, `500 ms`.
    var text: String {
        self >= .seconds(1)
            ? (self / .seconds(1)).shortText + " s"
            : milliseconds.shortText + " ms"
    }
}

extension Double {
    /// The number with two decimals, or without decimals if they are zero.
    fileprivate var shortText: String { self == rounded() ? text(decimals: 0) : text(decimals: 2) }
}

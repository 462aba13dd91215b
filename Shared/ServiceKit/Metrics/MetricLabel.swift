/// The closed set of label values that the series of one metric can have, so that no input can make a new
/// series.
///
/// Conform an enum to `MetricLabel`, and combine two with `LabelPair`.
package protocol MetricLabels: Hashable, Sendable, CaseIterable {
    static var labelNames: [String] { get }
    /// The values in the order of the names.
    var labelValues: [String] { get }
}

/// One label. An enum of strings conforms by naming it: `static let labelName = "method"`.
package protocol MetricLabel: MetricLabels {
    static var labelName: String { get }
    var labelValue: String { get }
}

extension MetricLabel {
    package static var labelNames: [String] { [labelName] }
    package var labelValues: [String] { [labelValue] }
}

extension MetricLabel where Self: RawRepresentable<String> {
    package var labelValue: String { rawValue }
}

/// Every combination of two labels.
package struct LabelPair<First: MetricLabel, Second: MetricLabel>: MetricLabels {
    package let first: First
    package let second: Second

    package init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    package static var labelNames: [String] { [First.labelName, Second.labelName] }
    package var labelValues: [String] { [first.labelValue, second.labelValue] }

    package static var allCases: [Self] {
        First.allCases.flatMap { first in Second.allCases.map { Self(first, $0) } }
    }
}

/// One metric with several series, one per value of its labels; all of them exist from the declaration on.
package struct Family<Labels: MetricLabels, Instrument: Sendable>: Sendable {
    private let instruments: [Labels: Instrument]

    init(_ instruments: [Labels: Instrument]) {
        precondition(instruments.count == Labels.allCases.count, "every label value has its instrument")
        self.instruments = instruments
    }

    /// Looks the instrument up by hash; on a hot path keep the instrument instead.
    package subscript(labels: Labels) -> Instrument {
        guard let instrument = instruments[labels] else {
            preconditionFailure("\(labels) is not among the cases of its own type")
        }
        return instrument
    }
}

/// The rates that all loops of an edge count together.
struct SharedRates: Sendable {
    private let publishes: [String: AppPublishRate]

    init(_ applications: [Application]) {
        publishes = Dictionary(
            applications.map { ($0.id, AppPublishRate($0.rates.appPublish)) }
        ) { _, last in last }
    }

    /// What the sessions of the app may publish together.
    func publishes(of application: Application) -> AppPublishRate {
        publishes[application.id] ?? AppPublishRate(.unlimited)
    }
}

/// This node's place among those that share a database.
protocol StorageMembership: Sendable {
    /// Takes the place, and says by the claims of the shards which of them this node wants. It blocks.
    ///
    /// - Parameter report: receives the nodes each time that something is new, on any thread.
    func start(_ report: @escaping @Sendable (StorageNodes) -> Void) throws(StoreFailure)
    /// The others don't count on this node any more, and take its shards as soon as it has given them up. It
    /// blocks for a moment.
    func leave()
    /// Gives the place up. It blocks for a moment.
    func end()
}

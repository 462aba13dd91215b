/// This node's place among those that share a database.
package protocol StorageMembership: Sendable {
    /// Takes the place, and says by the claims of the shards which of them this node wants. It blocks.
    ///
    /// - Parameter report: receives the nodes each time that something is new, on any thread.
    func start(_ report: @escaping @Sendable (StorageNodes) -> Void) throws(StoreFailure)
    /// Gives all shards to the other nodes, by the claims. It blocks until they are given up, for two seconds
    /// at most. Returns whether there is a node that can take them.
    func leave() -> Bool
    /// Gives the place up. It blocks for a moment.
    func end()
}

import NIOCore
import RTMServiceKit
import RTMWebhookCall
import Synchronization

/// Asks all nodes of the installation what they say about themselves: this process, and those whose admin
/// ports the configuration names. A name with several addresses stands for a node at each.
final class NodeReports: Sendable {
    /// What one node has answered.
    struct Answer: Sendable {
        /// The address of its admin port; nil for this process.
        let address: String?
        let outcome: Result<NodeReport, AdminClient.Failure>

        /// The address, or the program where there is none.
        var name: String { address ?? (try? outcome.get().program) ?? "" }
    }

    private let addresses: Mutex<[HostPort]>
    private let own: @Sendable () -> NodeReport?

    init(_ addresses: [HostPort], own: @escaping @Sendable () -> NodeReport?) {
        self.addresses = Mutex(addresses)
        self.own = own
    }

    /// The configuration names other nodes now.
    func take(_ addresses: [HostPort]) { self.addresses.withLock { $0 = addresses } }

    /// In the order of the configuration; this process is the last if it isn't named there. One that doesn't
    /// answer within two seconds is listed with the reason.
    func all() async -> [Answer] {
        let places = addresses.withLock { $0 }
        let lists = await withTaskGroup(of: (Int, [Answer]).self) { group in
            for (index, place) in places.enumerated() {
                group.addTask { (index, await Self.ask(place)) }
            }
            var lists = [[Answer]](repeating: [], count: places.count)
            for await (index, answers) in group { lists[index] = answers }
            return lists
        }
        let here = own().map { Answer(address: nil, outcome: .success($0)) }
        return Self.distinct(lists.flatMap(\.self) + [here].compactMap(\.self))
    }

    private static func ask(_ place: HostPort) async -> [Answer] {
        let found: [SocketAddress]
        do {
            found = try await AddressLookup.system.addresses(
                of: place.host, port: place.port, within: .seconds(5))
        } catch {
            let failure = AdminClient.Failure(reason: "\(error)")
            return [Answer(address: "\(place)", outcome: .failure(failure))]
        }
        return await withTaskGroup(of: Answer.self) { group in
            for address in found {
                group.addTask {
                    let name = HostPort(host: address.ipAddress ?? "", port: place.port)
                    do throws(AdminClient.Failure) {
                        let report = try await AdminClient.report(of: address)
                        return Answer(address: "\(name)", outcome: .success(report))
                    } catch {
                        return Answer(address: "\(name)", outcome: .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.name < $1.name }
        }
    }

    /// A process that is reached in two ways is one node, where it stands first.
    static func distinct(_ answers: [Answer]) -> [Answer] {
        var instances: Set<String> = []
        return answers.filter { answer in
            guard let report = try? answer.outcome.get() else { return true }
            return instances.insert(report.instance).inserted
        }
    }
}

/// The members of a roster, by their users. Most rosters have one member or two. These are searched; only a
/// larger roster has indexes, which would take more memory than the members themselves.
struct RosterMembers: Sendable {
    /// Limit: members without indexes.
    static let searchedMax = 8

    /// In no order that means anything.
    private var members: ContiguousArray<Roster.Member> = []
    /// By user, where in `members`; empty while there are few.
    private var indexes: [String: Int] = [:]
    /// The users who are listed; empty while there are few.
    private var names = SortedNames()

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }
    var all: some Sequence<Roster.Member> { members }

    /// How many users are listed in queries: those that are neither quiet nor leaving.
    var listedCount: Int { isIndexed ? names.count : members.count { $0.isListed } }

    /// Setting nil removes the member.
    subscript(user: String) -> Roster.Member? {
        get { index(of: user).map { members[$0] } }
        set {
            switch (newValue, index(of: user)) {
            case (let member?, let index?): set(member, at: index)
            case (let member?, nil): append(member)
            case (nil, let index?): remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// At most `countMax` listed users that come after the given one, in the order of their bytes; nil begins
    /// at the first one.
    func names(after user: String?, countMax: Int) -> [String] {
        guard !isIndexed else { return names.names(after: user, countMax: countMax) }
        let listed = members.lazy.filter(\.isListed).map(\.entry.user)
            .filter { name in user.map { name > $0 } ?? true }
        return Array(listed.sorted().prefix(countMax))
    }

    private var isIndexed: Bool { !indexes.isEmpty }

    private func index(of user: String) -> Int? {
        isIndexed ? indexes[user] : members.firstIndex { $0.entry.user == user }
    }

    private mutating func set(_ member: Roster.Member, at index: Int) {
        let wasListed = members[index].isListed
        members[index] = member
        guard isIndexed, wasListed != member.isListed else { return }
        if member.isListed { names.insert(member.entry.user) } else { names.remove(member.entry.user) }
    }

    private mutating func append(_ member: Roster.Member) {
        members.append(member)
        if isIndexed {
            addToIndexes(members.count - 1)
        } else if members.count > Self.searchedMax {
            for index in members.indices { addToIndexes(index) }
        }
    }

    private mutating func addToIndexes(_ index: Int) {
        indexes[members[index].entry.user] = index
        if members[index].isListed { names.insert(members[index].entry.user) }
    }

    /// The last member moves to the index that has become free.
    private mutating func remove(at index: Int) {
        let user = members[index].entry.user
        members.swapAt(index, members.count - 1)
        members.removeLast()
        guard isIndexed else { return }
        names.remove(user)
        indexes[user] = nil
        if index < members.count { indexes[members[index].entry.user] = index }
        if members.count <= Self.searchedMax / 2 { (indexes, names) = ([:], SortedNames()) }
    }
}

extension Roster.Member {
    /// Whether queries list the user.
    fileprivate var isListed: Bool { !entry.isQuiet && !isLeaving }
}

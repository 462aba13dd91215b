/// The members of a roster, by their users. Most rosters have one member or two. These are searched; only a
/// larger roster has indexes, which would take more memory than the members themselves.
struct RosterMembers: Sendable {
    /// Limit: members without indexes.
    static let searchedMax = 8

    /// In no order that means anything.
    private var members: ContiguousArray<Roster.Member> = []
    /// By user, where in `members`; empty while there are few.
    private var places: [String: Int] = [:]
    /// The users who are listed; empty while there are few.
    private var names = SortedNames()

    var isEmpty: Bool { members.isEmpty }
    var count: Int { members.count }
    var all: some Sequence<Roster.Member> { members }

    /// How many users are listed in queries: those that are neither quiet nor leaving.
    var listedCount: Int { isIndexed ? names.count : members.count { $0.isListed } }

    /// Setting nil removes the member.
    subscript(user: String) -> Roster.Member? {
        get { place(of: user).map { members[$0] } }
        set {
            switch (newValue, place(of: user)) {
            case (let member?, let place?): set(member, at: place)
            case (let member?, nil): append(member)
            case (nil, let place?): remove(at: place)
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

    private var isIndexed: Bool { !places.isEmpty }

    private func place(of user: String) -> Int? {
        isIndexed ? places[user] : members.firstIndex { $0.entry.user == user }
    }

    private mutating func set(_ member: Roster.Member, at place: Int) {
        let wasListed = members[place].isListed
        members[place] = member
        guard isIndexed, wasListed != member.isListed else { return }
        if member.isListed { names.insert(member.entry.user) } else { names.remove(member.entry.user) }
    }

    private mutating func append(_ member: Roster.Member) {
        members.append(member)
        if isIndexed {
            index(members.count - 1)
        } else if members.count > Self.searchedMax {
            for place in members.indices { index(place) }
        }
    }

    private mutating func index(_ place: Int) {
        places[members[place].entry.user] = place
        if members[place].isListed { names.insert(members[place].entry.user) }
    }

    /// The last member takes the place.
    private mutating func remove(at place: Int) {
        let user = members[place].entry.user
        members.swapAt(place, members.count - 1)
        members.removeLast()
        guard isIndexed else { return }
        names.remove(user)
        places[user] = nil
        if place < members.count { places[members[place].entry.user] = place }
        if members.count <= Self.searchedMax / 2 { (places, names) = ([:], SortedNames()) }
    }
}

extension Roster.Member {
    /// Whether queries list the user.
    fileprivate var isListed: Bool { !entry.isQuiet && !isLeaving }
}

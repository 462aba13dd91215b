/// A user id for somebody who gave none. It is easy to read, to say, and to tell from the next guest's.
enum GuestName {
    private static let moods = [
        "brave", "bright", "calm", "clever", "gentle", "happy", "keen", "lucky", "merry", "proud", "quick",
        "quiet", "sunny", "swift", "warm", "wise",
    ]
    private static let animals = [
        "badger", "beaver", "crane", "falcon", "fox", "hare", "heron", "ibex", "koala", "lynx", "marten",
        "otter", "owl", "panda", "raven", "seal",
    ]

    /// One of 256,000 names. Names rarely meet, which matters because a second login of one user ends the
    /// first (S-10).
    static func random() -> String {
        let mood = moods[Int.random(in: moods.indices)]
        let animal = animals[Int.random(in: animals.indices)]
        return "guest-\(mood)-\(animal)-\(Int.random(in: 0...999))"
    }
}

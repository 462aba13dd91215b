/// One line of text while it is being typed: keys go in, actions come out. It knows no terminal.
struct LineEditor: Sendable {
    /// Limit: bytes of a line. A longer line can't be sent (L-20), so further characters are not taken.
    static let lineBytesMax = 32 * 1024
    /// Limit: lines in the history. The oldest line is forgotten first.
    static let historyLinesMax = 200

    enum Action: Sendable, Hashable {
        case nothing
        /// The line or the cursor has changed.
        case changed
        /// The user wants to see the line again because other output has spoiled the screen.
        case clearScreen
        case submit(String)
        case leave
    }

    private(set) var characters: [Character] = []
    /// 0…characters.count: the index of the character under the cursor, or the end.
    private(set) var cursor = 0
    private var byteCount = 0

    private var history: [String] = []
    /// The place in the history. `history.count` is the line being written, which is kept in `draft`
    /// meanwhile.
    private var historyIndex = 0
    private var draft = ""

    var text: String { String(characters) }

    mutating func press(_ key: Key) -> Action {
        switch key {
        case .character(let character): insert(character)
        case .enter: submit()
        case .interrupt: .leave
        case .endOfInput: characters.isEmpty ? .leave : erase(cursor..<min(cursor + 1, characters.count))
        case .redraw: .clearScreen
        case .backspace: erase(max(cursor - 1, 0)..<cursor)
        case .delete: erase(cursor..<min(cursor + 1, characters.count))
        case .eraseWord: erase(wordStart..<cursor)
        case .eraseToStart: erase(0..<cursor)
        case .eraseToEnd: erase(cursor..<characters.count)
        case .left: move(to: cursor - 1)
        case .right: move(to: cursor + 1)
        case .wordLeft: move(to: wordStart)
        case .wordRight: move(to: wordEnd)
        case .home: move(to: 0)
        case .end: move(to: characters.count)
        case .up: recall(historyIndex - 1)
        case .down: recall(historyIndex + 1)
        }
    }

    private mutating func insert(_ character: Character) -> Action {
        let bytes = character.utf8.count
        guard byteCount + bytes <= Self.lineBytesMax else { return .nothing }
        byteCount += bytes
        characters.insert(character, at: cursor)
        cursor += 1
        join(at: cursor)
        join(at: cursor - 1)
        return .changed
    }

    /// Joins code points to one character. Terminals send accents and the parts of an emoji as code points of
    /// their own, but what the reader sees as one character must be one for the cursor, too.
    private mutating func join(at place: Int) {
        guard place > 0, place < characters.count else { return }
        let joined = String([characters[place - 1], characters[place]])
        guard joined.count == 1, let character = joined.first else { return }
        characters[place - 1] = character
        characters.remove(at: place)
        if cursor > place { cursor -= 1 }
    }

    private mutating func erase(_ range: Range<Int>) -> Action {
        guard !range.isEmpty else { return .nothing }
        byteCount -= characters[range].reduce(0) { $0 + $1.utf8.count }
        characters.removeSubrange(range)
        cursor = range.lowerBound
        join(at: cursor)
        return .changed
    }

    private mutating func move(to place: Int) -> Action {
        guard place != cursor, (0...characters.count).contains(place) else { return .nothing }
        cursor = place
        return .changed
    }

    private mutating func submit() -> Action {
        let line = text
        replace(with: "")
        if !line.isEmpty, history.last != line {
            history.append(line)
            if history.count > Self.historyLinesMax { history.removeFirst() }
        }
        historyIndex = history.count
        return .submit(line)
    }

    private mutating func recall(_ index: Int) -> Action {
        guard index != historyIndex, (0...history.count).contains(index) else { return .nothing }
        if historyIndex == history.count { draft = text }
        historyIndex = index
        replace(with: index == history.count ? draft : history[index])
        return .changed
    }

    private mutating func replace(with line: String) {
        characters = Array(line)
        byteCount = line.utf8.count
        cursor = characters.count
    }

    /// Where the word before the cursor begins.
    private var wordStart: Int {
        var place = cursor
        while place > 0, characters[place - 1] == " " { place -= 1 }
        while place > 0, characters[place - 1] != " " { place -= 1 }
        return place
    }

    /// Where the word at or after the cursor ends.
    private var wordEnd: Int {
        var place = cursor
        while place < characters.count, characters[place] == " " { place += 1 }
        while place < characters.count, characters[place] != " " { place += 1 }
        return place
    }
}

extension LineEditor {
    /// The part of the line that fits into one row, and the column of the cursor in it.
    struct View: Sendable, Hashable {
        var text: String
        var cursorColumn: Int
    }

    /// Lays out the line. The cursor is always visible, with as much text before it as fits.
    func view(columns: Int) -> View {
        let columns = max(columns, 2)
        // One column stays free for the cursor behind the last character.
        var start = cursor
        var cursorColumn = 0
        while start > 0, cursorColumn + characters[start - 1].columns < columns {
            start -= 1
            cursorColumn += characters[start].columns
        }
        var end = cursor
        var width = cursorColumn
        while end < characters.count, width + characters[end].columns < columns {
            width += characters[end].columns
            end += 1
        }
        return View(text: String(characters[start..<end]), cursorColumn: cursorColumn)
    }
}

extension Character {
    /// How many columns of a terminal the character takes: 2 for emoji and the scripts of East Asia. It is
    /// exact enough for a cursor.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default:
            return 1
        }
    }
}

import RTMClient
import Testing

@testable import rtm

@Suite("The line being typed")
struct LineEditorTests {
    private func typed(_ text: String) -> LineEditor {
        var editor = LineEditor()
        for character in text { _ = editor.press(.character(character)) }
        return editor
    }

    @Test("characters go where the cursor is, and Enter hands the line over")
    func typing() {
        var editor = typed("helo")
        _ = editor.press(.left)
        #expect(editor.press(.character("l")) == .changed)
        #expect(editor.text == "hello")
        #expect(editor.press(.enter) == .submit("hello"))
        #expect(editor.text.isEmpty)
    }

    @Test("erasing: one, a word, to the start, to the end")
    func erasing() {
        var editor = typed("one two three")
        #expect(editor.press(.backspace) == .changed)
        #expect(editor.text == "one two thre")
        _ = editor.press(.eraseWord)
        #expect(editor.text == "one two ")
        _ = editor.press(.wordLeft)
        _ = editor.press(.eraseToEnd)
        #expect(editor.text == "one ")
        _ = editor.press(.home)
        #expect(editor.press(.backspace) == .nothing)
        #expect(editor.press(.delete) == .changed)
        _ = editor.press(.end)
        _ = editor.press(.eraseToStart)
        #expect(editor.text.isEmpty)
    }

    @Test("Ctrl-C leaves; Ctrl-D leaves only an empty line")
    func leaving() {
        var editor = typed("ab")
        _ = editor.press(.home)
        #expect(editor.press(.endOfInput) == .changed)
        #expect(editor.text == "b")
        #expect(editor.press(.interrupt) == .leave)
        var empty = LineEditor()
        #expect(empty.press(.endOfInput) == .leave)
    }

    @Test("earlier lines come back, and the line that was begun isn't lost")
    func history() {
        var editor = LineEditor()
        for line in ["first", "second", "second", ""] {
            for character in line { _ = editor.press(.character(character)) }
            _ = editor.press(.enter)
        }
        for character in "draft" { _ = editor.press(.character(character)) }
        _ = editor.press(.up)
        #expect(editor.text == "second")
        _ = editor.press(.up)
        #expect(editor.text == "first")
        #expect(editor.press(.up) == .nothing)
        _ = editor.press(.down)
        _ = editor.press(.down)
        #expect(editor.text == "draft")
    }

    @Test("an accent that comes alone joins the character before it")
    func combining() {
        var editor = typed("e")
        _ = editor.press(.character("\u{301}"))
        #expect(editor.characters == ["é"])
        #expect(editor.cursor == 1)
        _ = editor.press(.backspace)
        #expect(editor.text.isEmpty)
    }

    @Test("a line can't grow beyond what a message carries (L-20)")
    func limit() {
        var editor = LineEditor()
        for _ in 0..<LineEditor.lineBytesMax { _ = editor.press(.character("x")) }
        #expect(editor.press(.character("x")) == .nothing)
        _ = editor.press(.backspace)
        #expect(editor.press(.character("é")) == .nothing)
        #expect(editor.press(.character("e")) == .changed)
    }

    @Test("the view is one row, and the cursor is in it")
    func view() {
        var editor = typed("0123456789")
        #expect(editor.view(columns: 80) == .init(text: "0123456789", cursorColumn: 10))
        #expect(editor.view(columns: 5) == .init(text: "6789", cursorColumn: 4))
        _ = editor.press(.home)
        #expect(editor.view(columns: 5) == .init(text: "0123", cursorColumn: 0))
        #expect(typed("日本語").view(columns: 5) == .init(text: "本語", cursorColumn: 4))
    }

    @Test("random keys never bring the cursor outside the line or the view")
    func randomWalk() {
        let keys: [Key] = [
            .character("a"), .character("日"), .character(" "), .character("\u{301}"), .backspace, .delete,
            .left, .right, .wordLeft, .wordRight, .home, .end, .up, .down, .eraseWord, .eraseToStart,
            .eraseToEnd, .enter, .endOfInput,
        ]
        var editor = LineEditor()
        for _ in 0..<20_000 {
            _ = editor.press(keys.randomElement() ?? .enter)
            #expect((0...editor.characters.count).contains(editor.cursor))
            let view = editor.view(columns: Int.random(in: 2...12))
            #expect(view.cursorColumn <= view.text.reduce(0) { $0 + $1.columns })
            #expect(view.text.reduce(0) { $0 + $1.columns } < 12)
        }
    }
}

@Suite("The bytes of a terminal")
struct KeyDecoderTests {
    @Test("characters, control characters and sequences become keys")
    func keys() {
        var decoder = KeyDecoder()
        #expect(decoder.decode("aß👋\r".utf8) == [.character("a"), .character("ß"), .character("👋"), .enter])
        #expect(
            decoder.decode([0x03, 0x04, 0x7F, 0x15]) == [.interrupt, .endOfInput, .backspace, .eraseToStart])
        #expect(
            decoder.decode("\u{1B}[A\u{1B}OB\u{1B}[3~\u{1B}[1;5D\u{1B}b".utf8)
                == [.up, .down, .delete, .wordLeft, .wordLeft])
    }

    @Test("it doesn't matter where reads cut")
    func cuts() {
        let bytes = Array("x\u{1B}[1;5C日\u{1B}[Hé\r".utf8)
        var whole = KeyDecoder()
        var single = KeyDecoder()
        #expect(whole.decode(bytes) == bytes.flatMap { single.decode([$0]) })
    }

    @Test("unknown and broken sequences are dropped, and what follows is read")
    func garbage() {
        var decoder = KeyDecoder()
        #expect(decoder.decode("\u{1B}[99;99u\u{1B}[?1;2ca".utf8) == [.character("a")])
        #expect(decoder.decode([0xE6, 0x97, 0x61, 0xFF, 0x80, 0x62]) == [.character("a"), .character("b")])
        #expect(
            decoder.decode(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 30) + [0x63]) == [
                .character("c")
            ])
    }
}

@Suite("Lines of a pipe, and what they mean")
struct ChatLineTests {
    @Test("lines end with LF or CRLF; the last one needs no end")
    func splitting() throws {
        var splitter = LineSplitter()
        #expect(try splitter.split("one\r\ntw".utf8) == ["one"])
        #expect(try splitter.split("o\n\nthr".utf8) == ["two", ""])
        #expect(splitter.finish() == "thr")
        #expect(splitter.finish() == nil)
    }

    @Test("a line without end is refused (L-20)")
    func endless() {
        var splitter = LineSplitter()
        #expect(throws: RTMError.self) {
            try splitter.split(Array(repeating: UInt8(ascii: "x"), count: LineSplitter.lineBytesMax + 1))
        }
    }

    @Test("a slash begins a command, two begin a text")
    func commands() {
        #expect(ChatLine("hi /quit") == .say("hi /quit"))
        #expect(ChatLine("/quit ") == .quit)
        #expect(ChatLine("//quit") == .say("/quit"))
        #expect(ChatLine("/dance now") == .unknown("/dance"))
        #expect(ChatLine("/help") == .help)
        #expect(ChatLine("  ") == .nothing)
    }
}

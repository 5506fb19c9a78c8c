/// Where a rule was broken, and which.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// From 1; 0 where it is the file as a whole.
    let line: Int
    let fault: String

    var description: String { "\(path):\(line): \(fault)" }
}

/// What holds for every source file. Each rule is a function, so that it can be shown to fail.
enum Rules {
    /// A room imports what its row allows, and nothing else.
    static func imports(_ file: SourceFile) -> [Violation] {
        guard let room = Room.named(file.room) else {
            return [violation(file, 0, "there is no room named \(file.room)")]
        }
        return file.code.enumerated().compactMap { index, line in
            guard let module = importedModule(line) else { return nil }
            if room.mayImport.contains(module) || room.system.contains(module) { return nil }
            return violation(file, index, "\(room.name) may not import \(module)")
        }
    }

    /// No way round the concurrency checker, no trap in place of an error, no global queue.
    static func escapes(_ file: SourceFile) -> [Violation] {
        let forbidden = [
            "@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency", "try!", "as!",
            "DispatchQueue.global", ".concurrent", "DispatchSemaphore", "import Foundation",
        ]
        return file.code.enumerated().flatMap { index, line in
            forbidden.filter { contains(line, $0) }.map { violation(file, index, $0) }
        }
    }

    /// What is to be done is done, or is an issue.
    static func leftovers(_ file: SourceFile) -> [Violation] {
        file.lines.enumerated().flatMap { index, line in
            ["TODO", "FIXME", "XXX"].filter { contains(line, $0) }.map {
                violation(file, index, $0)
            }
        }
    }

    static func width(_ file: SourceFile) -> [Violation] {
        file.lines.enumerated().filter { $0.element.count > 100 }.map { index, line in
            violation(file, index, "\(line.count) columns")
        }
    }

    static func length(_ file: SourceFile) -> [Violation] {
        // A file ends with a line break.
        let count = file.lines.count - 1
        return count > 400 ? [violation(file, count - 1, "\(count) lines")] : []
    }

    /// A function fits on a screen.
    static func functions(_ file: SourceFile) -> [Violation] {
        file.code.indices.compactMap { index in
            guard opensFunction(file.code[index]) else { return nil }
            let count = bodyLength(in: file.code[index...])
            return count > 70 ? violation(file, index, "a function of \(count) lines") : nil
        }
    }

    /// A room whose name does not begin with `Auth` does not know what a token is.
    static func tokens(_ file: SourceFile) -> [Violation] {
        if file.room.hasPrefix("Auth") { return [] }
        let allowed = mayNameTokens[file.room] ?? []
        // The program names whatever it wires together.
        if file.room == "postern" { return [] }
        return file.code.enumerated().flatMap { index, line in
            identifiers(in: line).filter { name in
                name.lowercased().contains("token") && !allowed.contains(name)
            }.map { violation(file, index, "an identifier \($0)") }
        }
    }

    /// RFC 9110 §5.6.2: in HTTP's grammar a token is a run of certain characters.
    private static let mayNameTokens: [String: Set<String>] = [
        "HTTPEngine": ["token", "tokens", "isToken"]
    ]

    /// A room opens with what it owns and what it never does, in the file named for it.
    static func opening(of room: String, in files: [SourceFile]) -> [Violation] {
        let name = "/\(room).swift".lowercased()
        let mine = files.filter { $0.room == room && $0.path.lowercased().hasSuffix(name) }
        guard let opening = mine.first else {
            return [Violation(path: "Sources/\(room)", line: 0, fault: "has no opening")]
        }
        let comment = opening.lines.prefix { $0.hasPrefix("//") }.joined(separator: "\n")
        let says =
            comment.hasPrefix("// \(room)")
            && comment.lowercased().contains("owns")
            && comment.lowercased().contains("never")
        return says ? [] : [violation(opening, 0, "does not say what it owns and never does")]
    }

    private static func violation(_ file: SourceFile, _ index: Int, _ fault: String) -> Violation {
        Violation(path: file.path, line: index + 1, fault: fault)
    }
}

extension Rules {
    /// - Returns: `CSQLite` for `public import struct CSQLite.sqlite3`.
    static func importedModule(_ line: Substring) -> String? {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let keyword = words.firstIndex(of: "import"),
            words[..<keyword].allSatisfy({ $0.hasPrefix("@") || access.contains(String($0)) })
        else { return nil }
        let rest = words[(keyword + 1)...].drop { kinds.contains(String($0)) }
        return rest.first?.split(whereSeparator: { $0 == "." || $0 == ";" }).first.map(String.init)
    }

    private static let access: Set = ["public", "package", "internal", "fileprivate", "private"]

    private static let kinds: Set = [
        "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]

    private static func opensFunction(_ line: Substring) -> Bool {
        contains(line, "func") || contains(line, "init(") || contains(line, "init?(")
    }

    /// - Returns: the lines from the first one of `lines` to the brace that closes its body; 0 for
    ///   a requirement, which has none.
    private static func bodyLength(in lines: ArraySlice<Substring>) -> Int {
        var depth = 0
        var parentheses = 0
        for (count, line) in lines.enumerated() {
            for character in line {
                switch character {
                case "(", "[": parentheses += 1
                case ")", "]": parentheses -= 1
                case "{": depth += 1
                case "}":
                    depth -= 1
                    if depth <= 0, parentheses <= 0 { return depth < 0 ? 0 : count + 1 }
                default: break
                }
            }
            let isOver = line.allSatisfy(\.isWhitespace) || (count > 0 && opensFunction(line))
            if depth == 0, parentheses == 0, isOver { return 0 }
        }
        return 0
    }

    static func identifiers(in line: Substring) -> [String] {
        line.split { !isIdentifierPart($0) }.map(String.init)
    }

    /// Whether `word` stands in `line` and is not the beginning or end of a longer name.
    static func contains(_ line: Substring, _ word: String) -> Bool {
        line.ranges(of: word).contains { range in
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].first
            let startsName = word.first.map(isIdentifierPart) ?? false
            let endsName = word.last.map(isIdentifierPart) ?? false
            return !(startsName && before.map(isIdentifierPart) ?? false)
                && !(endsName && after.map(isIdentifierPart) ?? false)
        }
    }

    private static func isIdentifierPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

/// A place where a rule is broken.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    /// From 1; 0 for the file as a whole.
    let line: Int
    let fault: String

    var description: String { "\(path):\(line): \(fault)" }
}

/// The rules for source files. Each rule is a function, so that a test can show that it fails.
enum Rules {
    /// A module imports only what ``Module`` allows.
    static func imports(_ file: SourceFile) -> [Violation] {
        guard let module = Module.named(file.module) else {
            return [violation(file, 0, "there is no module named \(file.module)")]
        }
        return file.code.enumerated().compactMap { index, line in
            guard let imported = importedModule(line) else { return nil }
            if module.mayImport.contains(imported) || module.system.contains(imported) {
                return nil
            }
            return violation(file, index, "\(module.name) may not import \(imported)")
        }
    }

    /// Nothing switches off the concurrency checker, traps instead of throwing, or uses a global
    /// queue.
    static func escapes(_ file: SourceFile) -> [Violation] {
        let forbidden = [
            "@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency", "try!", "as!",
            "DispatchQueue.global", ".concurrent", "DispatchSemaphore", "import Foundation",
        ]
        return file.code.enumerated().flatMap { index, line in
            forbidden.filter { contains(line, $0) }.map { violation(file, index, $0) }
        }
    }

    /// Work that is left to do belongs into an issue.
    static func leftovers(_ file: SourceFile) -> [Violation] {
        file.lines.enumerated().flatMap { index, line in
            ["TODO", "FIXME", "XXX"].filter { contains(line, $0) }.map {
                violation(file, index, $0)
            }
        }
    }

    /// Texts from the network are taken apart by bytes: a Character can swallow a delimiter, and
    /// canonically equivalent Characters are equal.
    static func characters(_ file: SourceFile) -> [Violation] {
        let name = file.path.split(separator: "/").last.map(String.init) ?? ""
        guard readNetwork.contains(file.module), !takeOwnText.contains(name) else { return [] }
        let forbidden = [
            "separator: \"", "firstIndex(of: \"", "lastIndex(of: \"", "hasPrefix(", "hasSuffix(",
        ]
        return file.code.enumerated().flatMap { index, line in
            let line = line.replacing("joined(separator:", with: "joined(")
            return forbidden.filter { contains(line, $0) }.map { violation(file, index, $0) }
        }
    }

    private static let readNetwork: Set = [
        "Networking", "StrictJSON", "IdentityProviders", "JMAP", "LocalMail", "MIME",
        "Cryptography", "HTTPEngine",
        "AuthCore", "Fetching", "AuthAPI",
    ]

    /// The templates of routes, the URLs of this program's own requests, and URLs that have been
    /// checked to be visible ASCII.
    private static let takeOwnText: Set = [
        "RouteTree.swift", "Fetcher.swift", "FetchTarget.swift", "BaseURL.swift",
    ]

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

    /// A module whose name does not begin with `Auth` does not know what a token is.
    static func tokens(_ file: SourceFile) -> [Violation] {
        if file.module.hasPrefix("Auth") { return [] }
        let allowed = mayNameTokens[file.module] ?? []
        if nameTokens.contains(file.module) { return [] }
        return file.code.enumerated().flatMap { index, line in
            identifiers(in: line).filter { name in
                name.lowercased().contains("token") && !allowed.contains(name)
            }.map { violation(file, index, "an identifier \($0)") }
        }
    }

    /// The program names what it assembles, Configuration what can be set, AgentClient what it is
    /// given, and PosternTesting gives it to tests. IdentityProviders reads those of others.
    private static let nameTokens: Set = [
        "postern", "Configuration", "AgentClient", "PosternTesting", "IdentityProviders",
    ]

    /// RFC 9110 §5.6.2: in HTTP's grammar a token is a run of certain characters.
    private static let mayNameTokens: [String: Set<String>] = [
        "HTTPEngine": ["token", "tokens", "isToken"]
    ]

    /// The file named after a module begins with what the module owns and what it never does.
    static func opening(of module: String, in files: [SourceFile]) -> [Violation] {
        let name = "/\(module).swift".lowercased()
        let mine = files.filter { $0.module == module && $0.path.lowercased().hasSuffix(name) }
        guard let opening = mine.first else {
            return [Violation(path: "Sources/\(module)", line: 0, fault: "has no opening")]
        }
        let comment = opening.lines.prefix { $0.hasPrefix("//") }.joined(separator: "\n")
        let says =
            comment.hasPrefix("// \(module)")
            && comment.lowercased().contains("owns")
            && comment.lowercased().contains("never")
        return says ? [] : [violation(opening, 0, "does not say what it owns and never does")]
    }

    /// The folders of a module use each other in one direction.
    ///
    /// A file uses the types that it names and that exactly one file of its module declares.
    static func folderCycles(in files: [SourceFile]) -> [Violation] {
        Dictionary(grouping: files, by: \.module).sorted { $0.key < $1.key }.flatMap {
            module, files in
            var uses = folderUses(in: files)
            while let free = uses.first(where: { $0.value.isEmpty })?.key {
                uses[free] = nil
                for folder in uses.keys { uses[folder]?.remove(free) }
            }
            return uses.isEmpty
                ? []
                : [
                    Violation(
                        path: "Sources/\(module)", line: 0,
                        fault:
                            "folders use each other: \(uses.keys.sorted().joined(separator: ", "))")
                ]
        }
    }

    /// The folders that each folder uses, itself excepted.
    private static func folderUses(in files: [SourceFile]) -> [String: Set<String>] {
        var owners: [String: Set<String>] = [:]
        for file in files {
            for name in declaredTypes(in: file) { owners[name, default: []].insert(file.path) }
        }
        let folders = Dictionary(files.map { ($0.path, $0.folder) }) { first, _ in first }
        var uses: [String: Set<String>] = [:]
        for file in files {
            uses[file.folder, default: []].formUnion(
                Set(file.code.flatMap(identifiers)).compactMap { name in
                    guard let owner = owners[name], owner.count == 1, let path = owner.first else {
                        return nil
                    }
                    return folders[path] == file.folder ? nil : folders[path]
                })
        }
        return uses
    }

    /// The types that a file declares outside of others, and that are not private to it.
    private static func declaredTypes(in file: SourceFile) -> [String] {
        file.code.compactMap { line in
            guard line.first != " " else { return nil }
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            guard !words.contains("private"), !words.contains("fileprivate"),
                let keyword = words.firstIndex(where: { typeKeywords.contains(String($0)) }),
                words.indices.contains(keyword + 1)
            else { return nil }
            return String(words[keyword + 1])
        }
    }

    private static let typeKeywords: Set = [
        "struct", "class", "actor", "enum", "protocol", "typealias",
    ]

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

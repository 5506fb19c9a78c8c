internal import Glibc
internal import TOMLKit

/// Reads the settings of a TOML file, in which tables are the sections.
///
/// Every key of the file is either a setting or a fault.
public struct ConfigFile {
    public static let maximumBytes = 1_048_576
    /// Read when no other file is named, if it exists.
    public static let standardPath = "config/postern.toml"

    private let path: String
    private let lines: [String: Int]
    private var layer = ConfigLayer()

    /// - Parameters:
    ///   - text: the content of the file.
    ///   - path: the path for faults.
    public static func layer(of text: String, path: String) -> ConfigLayer {
        var file = ConfigFile(path: path, lines: keyLines(of: text))
        // The TOML parser takes a C string and would stop at a NUL without an error.
        guard !text.utf8.contains(0) else {
            file.addFault(line: nil, "contains a NUL character", "give TOML text (https://toml.io)")
            return file.layer
        }
        do {
            file.add(try parse(text), below: [])
        } catch let error as TOMLParseError {
            file.addFault(
                line: error.source.begin.line, "is not TOML: \(error.description)",
                "see https://toml.io for the syntax")
        } catch {
            file.addFault(
                line: nil, "cannot be read: \(error)", "see https://toml.io for the syntax")
        }
        return file.layer
    }

    /// The TOML parser aborts the process (an assertion) on some texts that are not TOML, such as
    /// `a = [}`. This handler then prints the reason, and the exit code is that of a faulty
    /// configuration.
    private static func parse(_ text: String) throws -> TOMLTable {
        let previous = signal(SIGABRT) { _ in
            let message: StaticString = """
                The configuration file is not TOML, see https://toml.io: the parser gave up and \
                named no line. Look for a missing bracket or quote.

                """
            write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
            _exit(78)
        }
        defer { signal(SIGABRT, previous) }
        return try TOMLTable(string: text)
    }

    private init(path: String, lines: [String: Int]) {
        self.path = path
        self.lines = lines
    }

    private mutating func addFault(line: Int?, _ problem: String, _ remedy: String) {
        layer.addFault("file", at: .file(path: path, line: line), problem, remedy)
    }

    private mutating func add(_ table: TOMLTable, below parents: [String]) {
        for key in table.keys.sorted() {
            guard let value = table[key] else { continue }
            let dotted = (parents + [key]).joined(separator: ".")
            let source = ConfigSource.file(path: path, line: lines[dotted])
            let isSection = Self.sections.contains(dotted)
            if let inner = value.table, isSection {
                add(inner, below: parents + [key])
            } else if isSection {
                layer.addFault(
                    dotted, at: source, "is a section, not a setting",
                    "write [\(dotted)] and its settings below it")
            } else if Config.settings.contains(where: { $0.key == dotted }) {
                layer.entries[dotted] = ConfigLayer.Entry(raw: RawValue(value), source: source)
            } else {
                layer.addFault(dotted, at: source, "no such setting", Self.suggestion(for: dotted))
            }
        }
    }

    private static let sections = Set(
        Config.settings.compactMap { setting in
            setting.key.firstIndex(of: ".").map { String(setting.key[..<$0]) }
        })

    private static func suggestion(for key: String) -> String {
        if let near = key.nearest(among: Config.settings.map(\.key)) {
            return "did you mean \(near)?"
        }
        let section = key.prefix { $0 != "." }
        let siblings = Config.settings.map(\.key).filter { $0.hasPrefix("\(section).") }
        return siblings.isEmpty
            ? "the sections are " + sections.sorted().joined(separator: ", ")
            : "[\(section)] has "
                + siblings.map { $0.dropFirst(section.count + 1) }.joined(separator: ", ")
    }

    /// The line number of each key, for faults, because the TOML parser does not report it. Keys
    /// that this simple search does not find (in inline tables) have no line number.
    private static func keyLines(of text: String) -> [String: Int] {
        var lines: [String: Int] = [:]
        var table = ""
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, row) in rows.enumerated() {
            let row = row.drop { $0 == " " || $0 == "\t" }
            if row.first == "[" {
                table = row.drop { $0 == "[" }.prefix { $0 != "]" } + "."
                let name = String(table.dropLast())
                if lines[name] == nil { lines[name] = index + 1 }
            } else if let equals = row.firstIndex(of: "="), row.first != "#" {
                let key = row[..<equals].filter { !" \t\"'\r".contains($0) }
                lines[table + key, default: index + 1] = index + 1
            }
        }
        return lines
    }
}

extension RawValue {
    init(_ value: any TOMLValueConvertible) {
        switch value.type {
        case .string: self = value.string.map { .string($0) } ?? .other("string")
        case .int: self = value.int.map { .integer($0) } ?? .other("integer")
        case .double: self = value.double.map { .number($0) } ?? .other("number")
        case .bool: self = value.bool.map { .boolean($0) } ?? .other("boolean")
        case .array: self = .list((value.array.map { Array($0) } ?? []).map { RawValue($0) })
        case .table:
            let table = value.table
            let fields = (table?.keys ?? []).compactMap { key in table?[key].map { (key, $0) } }
            self = .table(
                Dictionary(fields.map { ($0, RawValue($1)) }, uniquingKeysWith: { $1 }))
        case .date, .time, .dateTime: self = .other("date")
        }
    }
}

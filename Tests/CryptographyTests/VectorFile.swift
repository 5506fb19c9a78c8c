import Cryptography
import Glibc

/// The published vectors under `Vectors`: records of `name = value` lines, one empty line between
/// two records, `#` before the line that names the source.
struct VectorFile {
    struct Missing: Error {
        let what: String
    }

    struct Record: Sendable, CustomStringConvertible {
        let fields: [String: String]

        var description: String { fields["message"] ?? fields["password"] ?? "record" }

        func text(_ name: String) throws -> String {
            guard let value = fields[name] else { throw Missing(what: name) }
            return value
        }

        func bytes(_ name: String) throws -> [UInt8] {
            guard let value = Hex.decode(try text(name).utf8) else { throw Missing(what: name) }
            return value
        }

        func base64URL(_ name: String) throws -> [UInt8] {
            guard let value = Base64URL.decode(try text(name).utf8) else {
                throw Missing(what: name)
            }
            return value
        }

        func number(_ name: String) throws -> Int {
            guard let value = Int(try text(name)) else { throw Missing(what: name) }
            return value
        }
    }

    static func records(_ name: String) throws -> [Record] {
        var records: [Record] = []
        var fields: [String: String] = [:]
        for line in try contents(name).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#") { continue }
            guard let separator = line.firstIndex(of: "=") else {
                if !fields.isEmpty { records.append(Record(fields: fields)) }
                fields = [:]
                continue
            }
            let value = line[line.index(after: separator)...]
            fields[String(line[..<separator].filter { $0 != " " })] =
                String(value.drop { $0 == " " })
        }
        if records.isEmpty { throw Missing(what: name) }
        return records
    }

    /// The first number of a file, such as one in /proc.
    static func number(inFile path: String) throws -> Int? {
        try contents(ofFile: path).split(separator: " ").first.flatMap { Int($0) }
    }

    static func contents(_ name: String) throws -> String {
        let folder = #filePath.dropLast("VectorFile.swift".count)
        return try contents(ofFile: "\(folder)Vectors/\(name)")
    }

    private static func contents(ofFile name: String) throws -> String {
        let descriptor = open(name, O_RDONLY)
        guard descriptor >= 0 else { throw Missing(what: name) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

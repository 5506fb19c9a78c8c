internal import Cryptography
internal import Glibc

/// The published vectors in the folder `Vectors` beside a test's file: records of `name = value`
/// lines, one empty line between two records, `#` before a line that names the source.
public struct VectorFile {
    public struct Missing: Error {
        let what: String
    }

    public struct Record: Sendable, CustomStringConvertible {
        public let fields: [String: String]

        public var description: String {
            fields["name"] ?? fields["message"] ?? fields["password"] ?? "record"
        }

        public func text(_ name: String) throws -> String {
            guard let value = fields[name] else { throw Missing(what: name) }
            return value
        }

        public func bytes(_ name: String) throws -> [UInt8] {
            guard let value = Hex.decode(try text(name).utf8) else { throw Missing(what: name) }
            return value
        }

        public func base64URL(_ name: String) throws -> [UInt8] {
            guard let value = Base64URL.decode(try text(name).utf8) else {
                throw Missing(what: name)
            }
            return value
        }

        public func number(_ name: String) throws -> Int {
            guard let value = Int(try text(name)) else { throw Missing(what: name) }
            return value
        }
    }

    /// - Parameter test: the file of the test.
    public static func records(_ name: String, test: String = #filePath) throws -> [Record] {
        var records: [Record] = []
        var fields: [String: String] = [:]
        let text = try contents(name, test: test)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
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
    public static func number(inFile path: String) throws -> Int? {
        try contents(ofFile: path).split(separator: " ").first.flatMap { Int($0) }
    }

    public static func contents(_ name: String, test: String = #filePath) throws -> String {
        let folder = test.prefix(through: test.lastIndex(of: "/") ?? test.startIndex)
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

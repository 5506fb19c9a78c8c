internal import CResolver

/// Kinds of record that are looked up.
enum DNSRecordKind {
    case text, mailExchanger

    /// RFC 1035 §3.2.2.
    var code: Int32 {
        switch self {
        case .text: 16
        case .mailExchanger: 15
        }
    }
}

/// A question to a nameserver, as it is sent.
struct DNSQuery {
    let kind: DNSRecordKind
    let bytes: [UInt8]

    /// - Throws: ``DNSError/Cause/invalidName``.
    init(_ name: String, _ kind: DNSRecordKind) throws(DNSError.Cause) {
        guard (1...253).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw .invalidName
        }
        var query = [UInt8](repeating: 0, count: 512)
        let length = Int(cresolver_question(name, kind.code, &query, Int32(query.count)))
        guard length > DNSAnswer.headerBytes, length <= query.count else { throw .invalidName }
        query.removeLast(query.count - length)
        // A random number that an attacker who does not see the question cannot guess (RFC 5452).
        // The library's numbers can be guessed.
        let number = UInt16.random(in: .min ... .max)
        query[0] = UInt8(number >> 8)
        query[1] = UInt8(truncatingIfNeeded: number)
        self.kind = kind
        bytes = query
    }

    /// Whether `reply` has the number of this question and repeats it (RFC 5452 §9). Anything else
    /// is forged, or the late answer to an earlier question.
    func isAnswered(by reply: [UInt8]) -> Bool {
        reply.count >= bytes.count && reply[0] == bytes[0] && reply[1] == bytes[1]
            && reply[2] & 0x80 != 0 && reply[4] == 0 && reply[5] == 1
            && zip(bytes, reply).dropFirst(DNSAnswer.headerBytes).allSatisfy {
                Self.lowered($0) == Self.lowered($1)
            }
    }

    /// The server may repeat the name in another case. The length bytes in it are below `A`.
    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// The answer of a nameserver, from bytes that may be anything.
struct DNSAnswer {
    static let headerBytes = 12
    /// The longest answer that is read.
    static let maxBytes = 16_384
    /// Records in one answer that are read.
    static let maxRecords = 256

    private let bytes: [UInt8]

    /// - Throws: ``DNSError/Cause/responseCode(_:)`` when the server reports an error, or
    ///   ``DNSError/Cause/malformed``.
    init(_ bytes: [UInt8]) throws(DNSError.Cause) {
        guard bytes.count >= Self.headerBytes else { throw .malformed }
        // RFC 1035 §4.1.1: 0 is success, 3 says that there is no such name.
        let code = Int(bytes[3] & 0x0f)
        guard code == 0 || code == 3 else { throw .responseCode(code) }
        self.bytes = bytes
    }

    /// The values of all records of this kind, whatever their name: an alias was followed.
    func values(_ kind: DNSRecordKind) throws(DNSError.Cause) -> [[UInt8]] {
        let found: Result<[[UInt8]], DNSError.Cause> = bytes.withUnsafeBufferPointer { buffer in
            do throws(DNSError.Cause) {
                return .success(try Self.read(buffer, kind))
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    private static func read(
        _ bytes: UnsafeBufferPointer<UInt8>, _ kind: DNSRecordKind
    ) throws(DNSError.Cause) -> [[UInt8]] {
        var message = ns_msg()
        let count = cresolver_read(bytes.baseAddress, Int32(bytes.count), &message)
        guard count >= 0 else { throw .malformed }
        guard count <= maxRecords else { throw .tooLarge }
        var values: [(preference: Int, value: [UInt8])] = []
        for index in 0..<count {
            var start: UnsafePointer<UInt8>?
            var length: Int32 = 0
            let type = cresolver_record(&message, index, &start, &length)
            guard type >= 0 else { throw .malformed }
            guard type == kind.code else { continue }
            let data = UnsafeBufferPointer(start: start, count: Int(length))
            switch kind {
            case .text: values.append((0, try joined(data)))
            case .mailExchanger: values.append(try exchanger(data, &message))
            }
        }
        let inOrder = values.enumerated().sorted {
            ($0.element.preference, $0.offset) < ($1.element.preference, $1.offset)
        }
        return inOrder.map(\.element.value)
    }

    /// RFC 1035 §3.3.14: strings, each behind its length.
    private static func joined(_ data: UnsafeBufferPointer<UInt8>) throws(DNSError.Cause) -> [UInt8]
    {
        var rest = data[...]
        var text: [UInt8] = []
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { throw .malformed }
            text += rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
        }
        return text
    }

    /// RFC 1035 §3.3.9: the preference, then the host.
    private static func exchanger(
        _ data: UnsafeBufferPointer<UInt8>, _ message: inout ns_msg
    ) throws(DNSError.Cause) -> (preference: Int, value: [UInt8]) {
        guard data.count > 2, let start = data.baseAddress else { throw .malformed }
        var name = [CChar](repeating: 0, count: 1025)
        guard cresolver_name(&message, start + 2, &name, Int32(name.count)) >= 0 else {
            throw .malformed
        }
        var host = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        if host.last == UInt8(ascii: ".") { host.removeLast() }
        for index in host.indices
        where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(host[index]) {
            host[index] |= 0x20
        }
        return (Int(data[0]) << 8 | Int(data[1]), host)
    }
}

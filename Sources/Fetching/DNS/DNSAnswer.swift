internal import CResolver

/// What a nameserver sent, not yet believed.
struct DNSAnswer {
    /// Kinds of record that are looked up.
    enum Kind {
        case text, mailExchanger

        /// RFC 1035 §3.2.2.
        var code: Int32 {
            switch self {
            case .text: 16
            case .mailExchanger: 15
            }
        }
    }

    static let headerOctets = 12
    /// Octets of an answer that are taken.
    static let limit = 16_384
    /// Records in one answer that are taken.
    static let recordLimit = 256

    private let octets: [UInt8]

    /// - Throws: ``DNSFault/refused(code:)`` unless it is an answer, be it an empty one.
    init(_ octets: [UInt8]) throws(DNSFault) {
        guard octets.count >= Self.headerOctets else { throw .malformed }
        // RFC 1035 §4.1.1: 0 is success, 3 says that there is no such name.
        let code = Int(octets[3] & 0x0f)
        guard code == 0 || code == 3 else { throw .refused(code: code) }
        self.octets = octets
    }

    /// The values of all records of this kind, whatever their name: an alias was followed.
    func values(_ kind: Kind) throws(DNSFault) -> [[UInt8]] {
        let found: Result<[[UInt8]], DNSFault> = octets.withUnsafeBufferPointer { buffer in
            do throws(DNSFault) {
                return .success(try Self.read(buffer, kind))
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    private static func read(
        _ octets: UnsafeBufferPointer<UInt8>, _ kind: Kind
    ) throws(DNSFault) -> [[UInt8]] {
        var message = ns_msg()
        let count = cresolver_read(octets.baseAddress, Int32(octets.count), &message)
        guard count >= 0 else { throw .malformed }
        guard count <= recordLimit else { throw .tooLarge }
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
    private static func joined(_ data: UnsafeBufferPointer<UInt8>) throws(DNSFault) -> [UInt8] {
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
    ) throws(DNSFault) -> (preference: Int, value: [UInt8]) {
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

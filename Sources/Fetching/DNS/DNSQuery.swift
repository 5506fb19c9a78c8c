internal import CResolver

/// One question, as it is sent.
struct DNSQuery {
    let kind: DNSAnswer.Kind
    let octets: [UInt8]

    /// - Throws: ``DNSFault/invalidName``.
    init(_ name: String, _ kind: DNSAnswer.Kind) throws(DNSFault) {
        guard (1...253).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw .invalidName
        }
        var query = [UInt8](repeating: 0, count: 512)
        let length = Int(cresolver_question(name, kind.code, &query, Int32(query.count)))
        guard length > DNSAnswer.headerOctets, length <= query.count else { throw .invalidName }
        query.removeLast(query.count - length)
        // Who cannot see the question must not be able to answer it; the library's number may be
        // guessed.
        let number = UInt16.random(in: .min ... .max)
        query[0] = UInt8(number >> 8)
        query[1] = UInt8(truncatingIfNeeded: number)
        self.kind = kind
        octets = query
    }

    /// Whether `reply` has this question's number and repeats it. Anything else that arrives is
    /// somebody's attempt to be heard, or an answer that came too late.
    func isAnswered(by reply: [UInt8]) -> Bool {
        reply.count >= octets.count && reply[0] == octets[0] && reply[1] == octets[1]
            && reply[2] & 0x80 != 0 && reply[4] == 0 && reply[5] == 1
            && zip(octets, reply).dropFirst(DNSAnswer.headerOctets).allSatisfy {
                Self.lowered($0) == Self.lowered($1)
            }
    }

    /// A server may answer in another case. No octet of length is a letter.
    private static func lowered(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }
}

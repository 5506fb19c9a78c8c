import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

/// A header of version 2: signature, version and command, family and transport, length, and the
/// rest.
private func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
    Array("\r\n\r\n\0\r\nQUIT\n".utf8)
        + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xff)] + rest
}

private let v4Block: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 2, 0x1f, 0x90, 0, 80]
private let v6Block: [UInt8] =
    [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]
    + [UInt8](repeating: 0, count: 15) + [1, 0x1f, 0x90, 0, 80]
private let mappedBlock: [UInt8] =
    [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 1]
    + [UInt8](repeating: 0, count: 18) + [0, 80]
/// An extension (§2.2.7) of three bytes.
private let tlv: [UInt8] = [0x04, 0, 3, 1, 2, 3]

private let v1Headers: [(String, String?)] = [
    ("PROXY TCP4 192.0.2.1 198.51.100.2 8080 80\r\n", "192.0.2.1:8080"),
    ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535"),
    ("PROXY TCP4 192.0.2.1 198.51.100.2 0 0\r\n", "192.0.2.1:0"),
    ("PROXY TCP6 2001:db8::1 ::1 8080 80\r\n", "[2001:db8::1]:8080"),
    ("PROXY TCP6 ::ffff:192.0.2.1 ::1 8080 80\r\n", "192.0.2.1:8080"),
    ("PROXY UNKNOWN\r\n", nil), ("PROXY UNKNOWN 192.0.2.1 and \u{e9} what not\r\n", nil),
    ("PROXY UNKNOWN " + String(repeating: "f", count: 91) + "\r\n", nil),
]

private let v2Headers: [([UInt8], String?)] = [
    (binary(0x21, 0x11, v4Block), "192.0.2.1:8080"),
    (binary(0x21, 0x11, v4Block + tlv), "192.0.2.1:8080"),
    (binary(0x21, 0x21, v6Block), "[2001:db8::1]:8080"),
    (binary(0x21, 0x21, mappedBlock + tlv), "192.0.2.1:0"),
    (binary(0x21, 0x11, v4Block + [UInt8](repeating: 0, count: 4_068)), "192.0.2.1:8080"),
    // LOCAL with any content; UNSPEC; a Unix socket; an unspecified transport.
    (binary(0x20, 0x00, []), nil), (binary(0x20, 0x11, v4Block), nil),
    (binary(0x20, 0xff, []), nil),
    (binary(0x21, 0x00, tlv), nil), (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), nil),
    (binary(0x21, 0x10, v4Block), nil),
]

private let headers = v1Headers.map { (Array($0.0.utf8), $0.1) } + v2Headers

@Suite struct ProxyHeaderTests {
    @Test(arguments: headers)
    func theHeaderNamesTheClient(header: [UInt8], client: String?) {
        let request = Array("GET / HTTP/1.1\r\n".utf8)
        for bytes in [header, header + request, header + header] {
            guard case .done(let named, header.count) = ProxyHeader.read(bytes) else {
                Issue.record("\(ProxyHeader.read(bytes))")
                return
            }
            #expect(named?.description == client)
        }
    }

    @Test(arguments: headers)
    func everyPrefixOfAHeaderNeedsMore(header: [UInt8], client: String?) {
        for count in 0..<header.count {
            #expect(ProxyHeader.read(Array(header[..<count])) == .needMore, "\(count)")
        }
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\n", .missing), ("\r\nPROXY UNKNOWN\r\n", .missing),
            ("P\r\n", .missing),
            ("proxy UNKNOWN\r\n", .missing), ("PROXY\r\n", .missing), ("\n", .missing),
            ("PROXY \r\n", .badLine), ("PROXY UNKNOWN\n", .badLine), ("PROXY UNKNOWN\rx", .badLine),
            ("PROXY UNKNOWNS\r\n", .badLine), ("PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n", .badLine),
            ("PROXY  TCP4 1.2.3.4 1.2.3.4 1 1\r\n", .badLine), ("PROXY TCP4\r\n", .badLine),
            ("PROXY \u{301}UNKNOWN\r\n", .badLine), ("PROXY \u{301}\r\n", .badLine),
            ("PROXY TCP4\u{600} 1.2.3.4 1.2.3.4 1 1\r\n", .badLine),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", .badLine),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n", .badLine),
            ("PROXY TCP4 1.2.3.4  1.2.3.4 1 1\r\n", .badLine),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n", .badAddress),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n", .badAddress),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", .badAddress),
            ("PROXY TCP4 1.2.3.4 1.2.3.4 1 \u{661}\r\n", .badAddress),
            ("PROXY TCP4 1.2.3.4 1.2.3.256 1 1\r\n", .badAddress),
            ("PROXY TCP4 01.2.3.4 1.2.3.4 1 1\r\n", .badAddress),
            ("PROXY TCP4 ::1 ::1 1 1\r\n", .badAddress),
            ("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n", .badAddress),
            ("PROXY TCP6 [::1] ::1 1 1\r\n", .badAddress),
            ("PROXY TCP6 fe80::1%lo ::1 1 1\r\n", .badAddress),
            ("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 1\r\n", .badAddress),
            ("PROXY UNKNOWN " + String(repeating: "f", count: 92) + "\r\n", .tooLong),
        ] as [(String, ProxyHeaderError.Reason)])
    func anInvalidLineIsNotAccepted(text: String, error: ProxyHeaderError.Reason) {
        #expect(ProxyHeader.read(Array(text.utf8)) == .invalid(error))
    }

    @Test(
        arguments: [
            (binary(0x11, 0x11, v4Block), .badVersion), (binary(0x31, 0x11, v4Block), .badVersion),
            (binary(0x22, 0x11, v4Block), .badCommand), (binary(0x2f, 0x11, v4Block), .badCommand),
            (binary(0x21, 0x12, v4Block), .badFamily), (binary(0x21, 0x22, v6Block), .badFamily),
            (binary(0x21, 0x13, v4Block), .badFamily), (binary(0x21, 0x41, v4Block), .badFamily),
            (binary(0x21, 0x11, Array(v4Block.dropLast())), .badAddress),
            (binary(0x21, 0x21, Array(v6Block.dropLast())), .badAddress),
            (binary(0x21, 0x21, v4Block), .badAddress), (binary(0x21, 0x11, []), .badAddress),
            (binary(0x20, 0x00, [UInt8](repeating: 0, count: 4_081)), .tooLong),
        ] as [([UInt8], ProxyHeaderError.Reason)])
    func anInvalidBlockIsNotAccepted(bytes: [UInt8], error: ProxyHeaderError.Reason) {
        #expect(ProxyHeader.read(bytes) == .invalid(error))
    }

    @Test func aHeaderThatIsTooLongIsNotAwaited() {
        let endless = Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x66, count: 92)
        #expect(ProxyHeader.read(endless) == .invalid(.tooLong))
        let announced = binary(0x21, 0x11, []).dropLast(2) + [0xff, 0xff]
        #expect(ProxyHeader.read(Array(announced)) == .invalid(.tooLong))
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func theSplitOfAMutatedHeaderDoesNotMatter(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let input = mutated(using: &random)
            let whole = ProxyHeader.read(input)
            let split = firstDecision(on: input, using: &random)
            guard whole != split || isOutOfBounds(whole, input) else { continue }
            Issue.record("\(input): \(whole) or \(split)")
            return
        }
    }

    private func isOutOfBounds(_ progress: ProxyHeader.Progress, _ input: [UInt8]) -> Bool {
        switch progress {
        case .needMore: input.count >= ProxyHeader.maxBytes
        case .done(_, let bytes): bytes > min(input.count, ProxyHeader.maxBytes)
        case .invalid: false
        }
    }

    private func firstDecision(
        on input: [UInt8], using random: inout SeededGenerator
    ) -> ProxyHeader.Progress {
        var count = 0
        while count < input.count {
            count = min(input.count, count + Int.random(in: 1...9, using: &random))
            let progress = ProxyHeader.read(Array(input[..<count]))
            if progress != .needMore { return progress }
        }
        return ProxyHeader.read(input)
    }

    private func mutated(using random: inout SeededGenerator) -> [UInt8] {
        var bytes = headers.randomElement(using: &random)?.0 ?? []
        bytes = Array(bytes.prefix(300))
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where index < bytes.count:
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1 where index < bytes.count: bytes.remove(at: index)
            case 2:
                let splice = ["\r", "\n", "\r\n", " ", "\0", ":", ".", "9"].randomElement(
                    using: &random)
                bytes.insert(contentsOf: (splice ?? "").utf8, at: min(index, bytes.count))
            default: bytes.removeLast(min(bytes.count, index))
            }
        }
        return bytes
    }
}

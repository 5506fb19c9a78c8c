import Testing

@testable import WebAuthn

@Suite struct CBORTests {
    private func value(_ bytes: [UInt8]) throws -> CBORValue { try CBORReader.value(of: bytes) }

    /// Examples of RFC 8949, appendix A.
    @Test func theExamplesOfTheRFCAreRead() throws {
        #expect(try value([0x00]) == .integer(0))
        #expect(try value([0x17]) == .integer(23))
        #expect(try value([0x18, 0x18]) == .integer(24))
        #expect(try value([0x19, 0x03, 0xE8]) == .integer(1000))
        #expect(try value([0x1A, 0x00, 0x0F, 0x42, 0x40]) == .integer(1_000_000))
        #expect(
            try value([0x1B, 0x00, 0x00, 0x00, 0xE8, 0xD4, 0xA5, 0x10, 0x00])
                == .integer(1_000_000_000_000))
        #expect(try value([0x20]) == .integer(-1))
        #expect(try value([0x39, 0x03, 0xE7]) == .integer(-1000))
        #expect(try value([0x44, 1, 2, 3, 4]) == .bytes([1, 2, 3, 4]))
        #expect(try value([0x62, 0xC3, 0xBC]) == .text("ü"))
        #expect(try value([0x83, 1, 2, 3]) == .array([.integer(1), .integer(2), .integer(3)]))
        #expect(try value([0xF4]) == .bool(false))
        #expect(try value([0xF5]) == .bool(true))
        #expect(try value([0xF6]) == .null)
        guard case .map(let map) = try value([0xA2, 0x61, 0x61, 1, 0x02, 0x81, 3]) else {
            Issue.record("no map")
            return
        }
        #expect(map["a"] == .integer(1))
        #expect(map[2] == .array([.integer(3)]))
        #expect(map[1] == nil && map["b"] == nil && map.count == 2)
    }

    @Test func theGreatestAndLeastNumbersAreRead() throws {
        let most: [UInt8] = [0x7F] + [UInt8](repeating: 0xFF, count: 7)
        #expect(try value([0x1B] + most) == .integer(.max))
        #expect(try value([0x3B] + most) == .integer(.min))
    }

    static let refused: [[UInt8]] = [
        [],
        // Not the shortest form.
        [0x18, 0x17], [0x19, 0x00, 0xFF], [0x1A, 0x00, 0x00, 0xFF, 0xFF], [0x38, 0x17],
        [0x1B, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], [0x58, 0x01, 0x00], [0x98, 0x01, 0x00],
        // Beyond 63 bits.
        [0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x3B, 0xFF, 0, 0, 0, 0, 0, 0, 0],
        // Reserved and indefinite lengths, the break, tags, floating-point numbers, undefined.
        [0x1C], [0x1F], [0x5F, 0x41, 0x00, 0xFF], [0x7F, 0xFF], [0x9F, 0xFF], [0xBF, 0xFF], [0xFF],
        [0xC0, 0x00], [0xF9, 0x00, 0x00], [0xFA, 0, 0, 0, 0], [0xF7], [0xF8, 0x20], [0xE0],
        // Longer than the input.
        [0x41], [0x58, 0x20, 0x00], [0x81], [0xA1, 0x00],
        [0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0xBB, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        // Not UTF-8; a key twice, a key that is no integer and no text; more than one value.
        [0x61, 0xFF], [0x62, 0xC0, 0x80], [0xA2, 0x01, 0x00, 0x01, 0x00],
        [0xA2, 0x61, 0x61, 0x00, 0x61, 0x61, 0x00], [0xA1, 0x41, 0x00, 0x00], [0xA1, 0x80, 0x00],
        [0x00, 0x00],
    ]

    @Test(arguments: refused)
    func otherFormsAreRefused(bytes: [UInt8]) {
        #expect(throws: CBORReader.Malformed.self) { try value(bytes) }
    }

    @Test func depthIsLimited() throws {
        _ = try value([UInt8](repeating: 0x81, count: 8) + [0x00])
        #expect(throws: CBORReader.Malformed.self) {
            try value([UInt8](repeating: 0x81, count: 9) + [0x00])
        }
        #expect(throws: CBORReader.Malformed.self) {
            try value([UInt8](repeating: 0x81, count: 30_000))
        }
        let maps: [UInt8] = [[UInt8]](repeating: [0xA1, 0x00], count: 9).flatMap { $0 } + [0x00]
        #expect(throws: CBORReader.Malformed.self) { try value(maps) }
    }
}

import Testing

@testable import Fetching

/// The registries' rows once more, written down as addresses: first, last, and their neighbours.
@Suite struct SpecialBlockTests {
    /// `+` before a neighbour that is globally reachable, `!` before one that is not, `-` for none.
    private static let rows = """
        0.0.0.0 0.255.255.255 - +1.0.0.0
        10.0.0.0 10.255.255.255 +9.255.255.255 +11.0.0.0
        100.64.0.0 100.127.255.255 +100.63.255.255 +100.128.0.0
        127.0.0.0 127.255.255.255 +126.255.255.255 +128.0.0.0
        169.254.0.0 169.254.255.255 +169.253.255.255 +169.255.0.0
        172.16.0.0 172.31.255.255 +172.15.255.255 +172.32.0.0
        192.0.0.0 192.0.0.255 +191.255.255.255 +192.0.1.0
        192.0.0.0 192.0.0.7 +191.255.255.255 !192.0.0.8
        192.0.0.8 192.0.0.8 !192.0.0.7 !192.0.0.9
        192.0.0.9 192.0.0.9 !192.0.0.8 !192.0.0.10
        192.0.0.10 192.0.0.10 !192.0.0.9 !192.0.0.11
        192.0.0.170 192.0.0.170 !192.0.0.169 !192.0.0.171
        192.0.0.171 192.0.0.171 !192.0.0.170 !192.0.0.172
        192.0.2.0 192.0.2.255 +192.0.1.255 +192.0.3.0
        192.31.196.0 192.31.196.255 +192.31.195.255 +192.31.197.0
        192.52.193.0 192.52.193.255 +192.52.192.255 +192.52.194.0
        192.88.99.0 192.88.99.255 +192.88.98.255 +192.88.100.0
        192.88.99.2 192.88.99.2 !192.88.99.1 !192.88.99.3
        192.168.0.0 192.168.255.255 +192.167.255.255 +192.169.0.0
        192.175.48.0 192.175.48.255 +192.175.47.255 +192.175.49.0
        198.18.0.0 198.19.255.255 +198.17.255.255 +198.20.0.0
        198.51.100.0 198.51.100.255 +198.51.99.255 +198.51.101.0
        203.0.113.0 203.0.113.255 +203.0.112.255 +203.0.114.0
        224.0.0.0 239.255.255.255 +223.255.255.255 !240.0.0.0
        240.0.0.0 255.255.255.255 !239.255.255.255 -
        255.255.255.255 255.255.255.255 !255.255.255.254 -
        0.0.0.0 0.0.0.0 - !0.0.0.1
        :: :: - !::1
        ::1 ::1 !:: !::2
        :: ::255.255.255.255 - !::1:0:0
        ::ffff:0.0.0.0 ::ffff:255.255.255.255 !::fffe:ffff:ffff !::1:0:0:0
        64:ff9b:: 64:ff9b::ffff:ffff !64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff !64:ff9b::1:0:0
        64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff !64:ff9b:0:ffff:ffff:ffff:ffff:ffff !64:ff9b:2::
        100:: 100::ffff:ffff:ffff:ffff !ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !100:0:0:1::
        100:0:0:1:: 100::1:ffff:ffff:ffff:ffff !100::ffff:ffff:ffff:ffff !100:0:0:2::
        2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff +2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff +2001:200::
        2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff +2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff !2001:1::
        2001:1::1 2001:1::1 !2001:1:: !2001:1::2
        2001:1::2 2001:1::2 !2001:1::1 !2001:1::3
        2001:1::3 2001:1::3 !2001:1::2 !2001:1::4
        2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff !2001:1:ffff:ffff:ffff:ffff:ffff:ffff !2001:2:1::
        2001:3:: 2001:3:ffff:ffff:ffff:ffff:ffff:ffff !2001:2:ffff:ffff:ffff:ffff:ffff:ffff !2001:4::
        2001:4:112:: 2001:4:112:ffff:ffff:ffff:ffff:ffff !2001:4:111:ffff:ffff:ffff:ffff:ffff !2001:4:113::
        2001:10:: 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff !2001:f:ffff:ffff:ffff:ffff:ffff:ffff !2001:20::
        2001:20:: 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff !2001:1f:ffff:ffff:ffff:ffff:ffff:ffff !2001:30::
        2001:30:: 2001:3f:ffff:ffff:ffff:ffff:ffff:ffff !2001:2f:ffff:ffff:ffff:ffff:ffff:ffff !2001:40::
        2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff +2001:db7:ffff:ffff:ffff:ffff:ffff:ffff +2001:db9::
        2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff +2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff +2003::
        2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff +2620:4f:7fff:ffff:ffff:ffff:ffff:ffff +2620:4f:8001::
        3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff +3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff +3fff:1000::
        5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff !5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !5f01::
        fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !fe00::
        fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff !fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff !fec0::
        fec0:: feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff !ff00::
        ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff !feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff -
        """.split(separator: "\n").map(Row.init)

    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let first: String
        let last: String
        let neighbours: [String]

        init(_ line: Substring) {
            let fields = line.split(separator: " ").map(String.init)
            description = String(line)
            first = fields[0]
            last = fields[1]
            neighbours = fields[2...].filter { $0 != "-" }
        }
    }

    @Test func theTableHasEveryRowAndNoOther() {
        let expected = Set(Self.rows.map { "\($0.first) \($0.last)" })
        let listed = (SpecialBlock.v4 + SpecialBlock.v6).map {
            "\($0.block.first) \($0.block.last)"
        }
        #expect(Set(listed) == expected)
        #expect(listed.count == expected.count)
    }

    @Test func everyRowNamesItsDocument() {
        for row in SpecialBlock.v4 + SpecialBlock.v6 {
            #expect(row.source.hasPrefix("RFC ") && !row.name.isEmpty, "\(row.block)")
        }
    }

    @Test(arguments: rows) func aBlockIsRefusedFromItsFirstToItsLastAddress(row: Row) throws {
        let rules = AddressRules()
        let first = try #require(IPAddress(canonical: row.first))
        let last = try #require(IPAddress(canonical: row.last))
        #expect(!rules.allows(first))
        #expect(!rules.allows(last))
        #expect(!rules.allows(IPAddress(first.family, (first.number / 2) + (last.number / 2))))
    }

    @Test(arguments: rows) func aBlockEndsWhereItEnds(row: Row) throws {
        for neighbour in row.neighbours {
            let address = try #require(IPAddress(canonical: String(neighbour.dropFirst())))
            #expect(AddressRules().allows(address) == (neighbour.first == "+"), "\(neighbour)")
        }
    }
}

import Testing

@testable import Networking

/// The rows of the registries a second time, as addresses: first, last, and their neighbours.
@Suite struct SpecialPurposeBlockTests {
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
        /// Of the one block with this first and last address.
        var length: Int {
            let all = SpecialPurposeBlock.v4 + SpecialPurposeBlock.v6
            return all.first { "\($0.block.first)" == first && "\($0.block.last)" == last }?
                .block.length ?? 0
        }
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
        let listed = (SpecialPurposeBlock.v4 + SpecialPurposeBlock.v6).map {
            "\($0.block.first) \($0.block.last)"
        }
        #expect(Set(listed) == expected)
        #expect(listed.count == expected.count)
    }

    @Test func everyRowNamesItsDocument() {
        for row in SpecialPurposeBlock.v4 + SpecialPurposeBlock.v6 {
            #expect(row.source.hasPrefix("RFC ") && !row.name.isEmpty, "\(row.block)")
        }
    }

    @Test(arguments: rows) func noAddressOfABlockIsGloballyReachable(row: Row) throws {
        let block = IPBlock(of: try #require(IPAddress(row.first)), length: row.length)
        let middle = IPBlock(of: block.last, length: min(block.length + 1, block.first.bits)).first
        for address in [block.first, block.last, middle] {
            #expect(!address.isGloballyReachable, "\(address)")
            #expect(address.specialPurpose != nil, "\(address)")
        }
    }

    @Test(arguments: rows) func aBlockEndsAtItsLastAddress(row: Row) throws {
        for neighbour in row.neighbours {
            let address = try #require(IPAddress(canonical: String(neighbour.dropFirst())))
            #expect(address.isGloballyReachable == (neighbour.first == "+"), "\(neighbour)")
        }
    }

    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "192.167.1.1", "223.255.255.255", "2000::1",
        "2001:200::1", "2606:4700:4700::1111", "3ffe::1",
    ])
    func anAddressOfAHostIsGloballyReachable(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isGloballyReachable && !address.isPrivateNetwork)
        #expect(address.specialPurpose == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.100.100.200", "::1", "fc00::1",
        "fd12:3456::1",
    ])
    func privateNetworksAreNotGloballyReachable(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.isGloballyReachable && address.isPrivateNetwork)
    }

    @Test(arguments: [
        "169.254.169.254", "0.0.0.0", "224.0.0.1", "::", "fe80::1", "fec0::1", "ff02::1", "1fff::1",
        "4000::1", "8000::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::127.0.0.1",
        "2002:808:808::1",
        "64:ff9b::808:808", "64:ff9b::7f00:1", "2001:0:808:808::f7f7:f7f7",
    ])
    func otherAddressesAreNeither(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.isGloballyReachable && !address.isPrivateNetwork)
    }

    @Test(arguments: [
        ("169.254.169.254", "link local, RFC 3927"),
        ("0.0.0.0", "this host on this network, RFC 1122 §3.2.1.3"),
        ("0.0.0.1", "this network, RFC 791 §3.2"), ("2001:10::1", "deprecated ORCHID, RFC 4843"),
        ("::ffff:1.2.3.4", "IPv4-mapped, RFC 4291 §2.5.5.2"),
    ])
    func theSmallestBlockNamesTheReason(text: String, reason: String) {
        #expect(IPAddress(text)?.specialPurpose?.description == reason)
    }
}

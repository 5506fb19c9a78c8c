import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

/// The client where 10.0.0.0/8 and 2001:db8::/32 are trusted proxies.
private func client(
    _ peer: String, _ lists: [String], in header: ForwardedHeader = .xForwardedFor,
    also others: [(String, String)] = []
) throws -> String {
    var proxies = TrustedProxies()
    proxies.addresses = try ["10.0.0.0/8", "2001:db8::/32"].map { try #require(IPBlock($0)) }
    proxies.forwardedHeader = header
    let request = Request(
        method: .get, target: "/", headers: lists.map { (header.rawValue, $0) } + others)
    return ForwardedFor.client(
        of: request.headers, from: try #require(IPAddress(peer)).unmapped, trusting: proxies
    ).description
}

@Suite struct ForwardedForTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:65535", "192.0.2.1"),
        ("192.0.2.1:_a-b.c", "192.0.2.1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:1", "2001:db8::1"),
        ("[::ffff:192.0.2.1]", "192.0.2.1"),
    ])
    func aNodeIsAnAddressWithOrWithoutAPort(node: String, text: String) {
        for bracketed in [true, false] {
            let address = ForwardedFor.address(
                ofNode: Array(node.utf8)[...], bracketed: bracketed)
            #expect(address?.description == text)
        }
    }

    @Test func anIPv6AddressWithoutBracketsIsReadWhereBracketsAreOptional() {
        let node = "2001:db8::1"
        let bytes = Array(node.utf8)[...]
        #expect(ForwardedFor.address(ofNode: bytes, bracketed: false)?.description == node)
        #expect(ForwardedFor.address(ofNode: bytes, bracketed: true) == nil)
    }

    @Test(arguments: [
        "", ":", "[", "]", "[]", "[]:1", "[1.2.3.4]", "[::1", "::1]", "[::1]]", "[[::1]]", "[::1]:",
        "[::1]:65536", "[::1] :1", "1.2.3.4:", "1.2.3.4:-1", "1.2.3.4: 1", "1.2.3.4:1:",
        "1.2.3.4:_",
        "1.2.3.4:_a/b", "1.2.3.4:1x", " 1.2.3.4", "1.2.3.4 ", "1.2.3.4\0", "_hidden", "unknown",
    ])
    func anotherNodeIsNotAnAddress(node: String) {
        let bytes = Array(node.utf8)[...]
        #expect(ForwardedFor.address(ofNode: bytes, bracketed: true) == nil)
        #expect(ForwardedFor.address(ofNode: bytes, bracketed: false) == nil)
    }

    /// As Characters, each of these is one with the comma that the proxy appends, or is equal to a
    /// delimiter.
    @Test(arguments: [
        "\u{600}", "198.51.100.1\u{600}", "\u{110bd}", "10.0.0.9\u{600}", "\u{37e}", "\u{200d}",
    ])
    func nothingThatAClientSendsSwallowsTheDelimiterOfTheProxy(beginning: String) throws {
        for comma in [",", ", "] {
            #expect(try client("10.0.0.1", [beginning + comma + "203.0.113.9"]) == "203.0.113.9")
            let forwarded = "host=\"\(beginning)\"" + comma + "for=203.0.113.9"
            #expect(try client("10.0.0.1", [forwarded], in: .forwarded) == "203.0.113.9")
        }
    }

    @Test func mappedProxiesAreThoseOfIPv4() throws {
        var proxies = TrustedProxies()
        proxies.addresses = [try #require(IPBlock("::ffff:10.0.0.0/104"))]
        #expect(proxies.contain(IPAddress(v4: 0x0a01_0203)))
        #expect(!proxies.contain(IPAddress(v4: 0x0b01_0203)))
    }

    @Test func aPeerThatIsNotAProxyIsTheClient() throws {
        #expect(try client("192.0.2.1", ["203.0.113.9"]) == "192.0.2.1")
        #expect(try client("192.0.2.1", ["10.0.0.1"]) == "192.0.2.1")
    }

    @Test func theLastAddressThatIsNotAProxyIsTheClient() throws {
        #expect(try client("10.0.0.1", ["203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["198.51.100.1, 203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["203.0.113.9,10.0.0.2 , 2001:db8::5"]) == "203.0.113.9")
        #expect(
            try client("10.0.0.1", ["198.51.100.1", "203.0.113.9", "10.9.9.9"]) == "203.0.113.9")
    }

    @Test func theBeginningOfTheListIsNotTrusted() throws {
        #expect(try client("10.0.0.1", ["10.0.0.9", "10.0.0.8, 203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["198.51.100.1,, 203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["\"", "[, 203.0.113.9"]) == "203.0.113.9")
    }

    @Test func withoutAnotherAddressTheProxyIsTheClient() throws {
        #expect(try client("10.0.0.1", []) == "10.0.0.1")
        #expect(try client("10.0.0.1", ["10.0.0.3, 10.0.0.2"]) == "10.0.0.3")
    }

    @Test(arguments: [
        "unknown", "", "_hidden", "203.0.113.9.", "203.0.113.9 x", "[::", "\u{fffd}", "203.0.113",
        "203.0.113.9:", "203.0.113.9:x", "203.0.113.9:65536", "203.0.113.9:+1", ":80",
        "203.0.113.9:000080", "[2001:db9::1]x", "[2001:db9::1]:", "[2001:db9::1]80", "[]",
        "[203.0.113.9]", "2001:db9::1]", "fe80::1%eth0", "[fe80::1%eth0]:80", "\"203.0.113.9\"",
        "0313.0.113.9", "for=203.0.113.9", "203.0.113.9;203.0.113.10", "203.0.113.9:_",
    ])
    func anUnreadableEntryStandsForTheProxy(hop: String) throws {
        #expect(try client("10.0.0.1", ["203.0.113.9, \(hop)"]) == "10.0.0.1")
        #expect(try client("10.0.0.1", [hop, "10.0.0.2"]) == "10.0.0.2")
    }

    @Test func aPortDoesNotMatter() throws {
        #expect(try client("10.0.0.1", ["203.0.113.9:8080"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["203.0.113.9:0"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["[2001:db9::1]:8080"]) == "2001:db9::1")
        #expect(try client("10.0.0.1", ["2001:db9::1"]) == "2001:db9::1")
    }

    @Test func aMappedAddressIsTheIPv4Address() throws {
        #expect(try client("10.0.0.1", ["::ffff:203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["203.0.113.9, [::ffff:a00:2]:1"]) == "203.0.113.9")
        #expect(try client("::ffff:10.0.0.1", ["203.0.113.9"]) == "203.0.113.9")
    }

    @Test func onlyTheLastHopsOfALongListAreRead() throws {
        let list = String(repeating: ",10.0.0.2", count: 2_000)
        #expect(try client("10.0.0.1", ["203.0.113.9" + list]) == "10.0.0.2")
        let lines = [String](repeating: "10.0.0.3", count: ForwardedFor.maxHops)
        #expect(try client("10.0.0.1", ["203.0.113.9"] + lines) == "10.0.0.3")
        #expect(try client("10.0.0.1", ["203.0.113.9"] + lines.dropLast()) == "203.0.113.9")
    }

    @Test func onlyTheConfiguredHeaderIsRead() throws {
        #expect(
            try client("10.0.0.1", ["203.0.113.9"], also: [("Forwarded", "for=198.51.100.1")])
                == "203.0.113.9")
        #expect(
            try client(
                "10.0.0.1", ["for=203.0.113.9"], in: .forwarded,
                also: [("X-Forwarded-For", "198.51.100.1")]) == "203.0.113.9")
        #expect(try client("10.0.0.1", [], also: [("Forwarded", "for=1.2.3.4")]) == "10.0.0.1")
    }
}

/// RFC 7239.
@Suite struct ForwardedTests {
    @Test(arguments: [
        ("for=203.0.113.9", "203.0.113.9"), ("For=\"203.0.113.9\"", "203.0.113.9"),
        ("for=198.51.100.1, for=203.0.113.9", "203.0.113.9"),
        ("for=203.0.113.9;proto=http;by=203.0.113.43", "203.0.113.9"),
        ("by=_proxy;FOR=\"203.0.113.9:4711\" ; host=\"a,b;for=1.2.3.4\"", "203.0.113.9"),
        ("for=\"[2001:db9:cafe::17]:4711\"", "2001:db9:cafe::17"),
        ("for=\"[2001:db9::1]\"", "2001:db9::1"), ("for=\"203.0.113.9:_p0rt\"", "203.0.113.9"),
        ("for=203.0.113.9:80", "203.0.113.9"), ("for=\"203\\.0.113.9\"", "203.0.113.9"),
        ("for=203.0.113.9 ,\tfor=10.0.0.2,for=\"[2001:db8::7]\"", "203.0.113.9"),
        ("for=\"[::ffff:203.0.113.9]\"", "203.0.113.9"), (";;for=203.0.113.9;", "203.0.113.9"),
    ])
    func theLastAddressThatIsNotAProxyIsTheClient(list: String, expected: String) throws {
        #expect(try client("10.0.0.1", [list], in: .forwarded) == expected)
    }

    @Test(arguments: [
        "for=unknown", "for=_hidden", "for=\"_gazonk\"", "for=", "for=\"\"", "proto=http", "",
        "for=\"2001:db9::1\"", "for=[2001:db9::1]", "for=2001:db9::1",
        "for=203.0.113.9;for=1.2.3.4",
        "for=203.0.113.9;For=203.0.113.9", "for = 203.0.113.9", "for=\"203.0.113.9", "for",
        "for=\"203.0.113.9\\", "for=\"203.0.113.9\"x", "for=203.0.113.9 proto=http", "=1",
        "for=\" 203.0.113.9\"", "for='203.0.113.9'", "203.0.113.9", "for=203.0.113.9\u{e9}",
    ])
    func anUnreadableEntryStandsForTheProxy(element: String) throws {
        #expect(
            try client("10.0.0.1", ["for=203.0.113.9, \(element)"], in: .forwarded) == "10.0.0.1")
        #expect(try client("10.0.0.1", [element, "for=10.0.0.2"], in: .forwarded) == "10.0.0.2")
    }

    /// A client may send the beginning of the line that the proxy appends to.
    @Test(arguments: [
        "for=\"", "for=\"\\", "for=1.2.3.4;x=\"", "for=10.0.0.9, for=\"", "\"", ",", "for=1.2.3.4;",
        "for=1.2.3.4;host=\"a, for=1.2.3.4",
    ])
    func anOpenQuoteDoesNotHideTheClient(beginning: String) throws {
        for (own, expected) in [
            ("for=203.0.113.9", "203.0.113.9"), ("for=\"[2001:db9::1]:1\"", "2001:db9::1"),
            ("for=203.0.113.9;by=\"[::1]\";host=\"a\\\",b\\\\\"", "203.0.113.9"),
        ] {
            for lines in [[beginning + ", " + own], [beginning + "," + own], [beginning, own]] {
                #expect(try client("10.0.0.1", lines, in: .forwarded) == expected)
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func noListTrapsOrReplacesTheEntryOfTheProxy(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "for", "=", "\"", "\\", ";", ",", " ", "1.2.3.4", "10.0.0.2", "[::1]", "_x", ":80",
            "by",
        ]
        for _ in 0..<2_000 {
            let line = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            for header in ForwardedHeader.allCases {
                let own = header == .forwarded ? "for=203.0.113.9" : "203.0.113.9"
                #expect(try client("10.0.0.1", [line, own], in: header) == "203.0.113.9")
                #expect(try client("10.0.0.1", [line + "," + own], in: header) == "203.0.113.9")
            }
        }
    }
}

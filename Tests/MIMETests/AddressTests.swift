import MIME
import Testing

@Suite struct AddressTests {
    /// A group as `name: [addresses]`; one without a name begins with the addresses.
    private func show(_ value: String) throws -> String {
        try field(value).groupedAddresses.map { group in
            let list = group.addresses.map { "\($0.name ?? "-") <\($0.email)>" }
            return (group.name.map { "\($0): " } ?? "") + "[\(list.joined(separator: ", "))]"
        }.joined(separator: " ")
    }

    /// RFC 5322 appendix A.
    @Test(arguments: [
        ("John Doe <jdoe@machine.example>", "[John Doe <jdoe@machine.example>]"),
        (
            "Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>",
            "[Mary Smith <mary@x.test>, - <jdoe@example.org>, Who? <one@y.test>]"
        ),
        (
            "<boss@nil.test>, \"Giant; \\\"Big\\\" Box\" <sysservices@example.net>",
            "[- <boss@nil.test>, Giant; \"Big\" Box <sysservices@example.net>]"
        ),
        (
            "A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;",
            "A Group: [Ed Jones <c@a.test>, - <joe@where.test>, John <jdoe@one.test>]"
        ),
        ("Undisclosed recipients:;", "Undisclosed recipients: []"),
        (
            "Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>",
            "[Pete <pete@silly.test>]"
        ),
        (
            "(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;",
            "Hidden recipients: [(nobody(that I know)) <>]"
        ),
        (
            "<@node.test,@b.test:mary@example.net>, , jdoe@test  . example",
            "[- <mary@example.net>, - <jdoe@test.example>]"
        ),
    ])
    func addressesOfTheStandardAreRead(value: String, shown: String) throws {
        #expect(try show(value) == shown)
    }

    @Test(arguments: [
        ("a@b, G: c@d; , e@f", "[- <a@b>] G: [- <c@d>] [- <e@f>]"),
        ("a@b; c@d", "[- <a@b>, - <c@d>]"), ("x@[IPv6:::1]", "[- <x@[IPv6:::1]>]"),
        ("=?utf-8?q?a=2Cb?= <c@d>", "[a,b <c@d>]"), ("=?utf-8?q?G=C3=BC?=: a@b;", "Gü: [- <a@b>]"),
        ("\"=?utf-8?q?J=C3=BC?=\" <c@d>", "[Jü <c@d>]"),
        ("jörg@exämple.org", "[- <jörg@exämple.org>]"), ("a@b (Name)", "[Name <a@b>]"),
        ("evil@x.com <real@y.com>", "[evil@x.com <real@y.com>]"),
        ("\"Unclosed <a@b>, c@d", "[Unclosed <a@b>, - <c@d>]"),
        ("Bob <bob@x, Al <al@y>", "[Bob <bob@x>, Al <al@y>]"), ("root", "[- <root>]"),
        ("no address here", "[no address here <>]"), ("Bob <>", "[Bob <> <>]"),
        ("A:B:a@b,c@d;", "A: [- <a@b>, - <c@d>]"), (",,,", ""), ("", ""),
        ("=?utf-8?q?a=0D=0Ab?= <c@d>", "[ab <c@d>]"),
    ])
    func whatSendersWriteIsShown(value: String, shown: String) throws {
        #expect(try show(value) == shown)
    }

    @Test func addressesAreThoseOfAllGroups() throws {
        let addresses = try field("a@b, G: c@d;").addresses
        #expect(addresses.map(\.email) == ["a@b", "c@d"])
    }

    @Test(arguments: ["a@b,", "a:;", "<x@y> ", "a b c,", "a:b,"])
    func oneListHasAThousandEntriesAtMost(item: String) throws {
        let groups = try field(String(repeating: item, count: 3_000)).groupedAddresses
        #expect(groups.count + groups.flatMap(\.addresses).count <= 1_001)
        let most = try field(String(repeating: "a@b,", count: 1_000)).addresses.count
        #expect(most == 1_000)
    }

    /// With a recursion for each group GMime exceeds the stack.
    @Test(arguments: [
        "a:", "a:b,", "a:(", "(", "(a ", "\"", "\\", "<", "<a:", "<@a,", "[", "[a:", "a.", "@", ",",
        ";",
        "=?", "=?utf-8?q?a?= ", "=?utf-8?b?YQ==?=", "a:\"b:", "(a:\\", "a@b:c@d,", "\"a:\" ", ":",
        " :a",
    ])
    func repeatedDelimitersNeitherOverflowTheStackNorTakeLong(text: String) throws {
        _ = try field(String(repeating: text, count: 100_000 / text.utf8.count)).groupedAddresses
        let value = try field(String(repeating: text, count: 20_000 / text.utf8.count))
        _ = value.text
        _ = value.messageIds
        _ = value.date
        _ = value.urls
    }

    /// Groups within a group are not divided; GMime sees few colons of them. If it saw all, this
    /// would take minutes.
    @Test(arguments: ["a:", "a:b ", "\"a\":"])
    func groupsWithinAGroupAreShown(text: String) throws {
        let inner = String(repeating: text, count: 16_000 / text.utf8.count)
        let groups = try field("g:\(inner);").groupedAddresses
        #expect(groups.count == 1 && groups.first?.name == "g")
        #expect(groups.first?.addresses.count == 1)
    }
}

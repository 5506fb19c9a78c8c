import Testing

@testable import LocalMail

@Suite struct ThreadTests {
    /// The fields of a first and a second message, and whether they are one thread.
    @Test(
        arguments: [
            ("Message-ID: a|Subject: x", "In-Reply-To: a|Subject: Re: x", true),
            ("Message-ID: a|Subject: x", "References: b a|Subject: Fwd: [l] RE[2]: x (fwd)", true),
            ("Message-ID: a|Subject: x y", "References: a|Subject: re: xy", true),
            ("Message-ID: a|Subject: x", "Message-ID: a|Subject: x", true),
            ("References: a|Subject: x", "References: a|Subject: x", true),
            ("Message-ID: a|Subject: x", "References: a|Subject: y", false),
            ("Message-ID: a|Subject: x", "References: b|Subject: x", false),
            ("Subject: x", "Subject: x", false),
            ("Message-ID: a", "References: a", true),
        ])
    func idsAndSubjectsMakeAThread(first: String, second: String, isOne: Bool) async throws {
        let world = MailWorld()
        defer { world.end() }
        let ids = [await world.deliver(first), await world.deliver(second)]
        let emails = world.box(world.ann).emails(ids).list
        #expect((emails[0].threadID == emails[1].threadID) == isOne)
        let thread = try #require(world.box(world.ann).threads([emails[1].threadID]).list.first)
        #expect(thread.emailIDs == (isOne ? ids : [ids[1]]))
    }

    @Test func aMessageThatWouldJoinTwoThreadsGoesIntoTheOlder() async throws {
        let world = MailWorld()
        defer { world.end() }
        let ids = [
            await world.deliver("Message-ID: a"), await world.deliver("Message-ID: b"),
            await world.deliver("References: b a"),
        ]
        let threads = world.box(world.ann).emails(ids).list.map(\.threadID)
        #expect(threads[2] == threads[0] && threads[1] != threads[0])
    }

    @Test func aThreadThatEndedIsNotJoined() async throws {
        let world = MailWorld()
        defer { world.end() }
        let box = world.box(world.ann)
        let first = await world.deliver("Message-ID: a")
        let old = box.emails([first]).list[0].threadID
        try await world.mail.delete(first, of: world.ann)
        #expect(box.threads([old]).list.isEmpty)
        let second = await world.deliver("References: a")
        #expect(box.emails([second]).list[0].threadID != old)
    }

    @Test(
        arguments: [
            ("", ""), ("a", "a"), ("  a \t b ", "a b"), ("Re: a", "a"), ("RE : a", "a"),
            ("re[3]: fw: FWD: a", "a"), ("[list] a", "a"), ("[list] Re: [x] a", "a"),
            ("[list]", "[list]"), ("[Fwd: a]", "a"), ("[fwd: Re: a (fwd)] (FWD)", "a"),
            ("Re:", ""), ("Real: a", "Real: a"), ("a (fwd) b", "a (fwd) b"), ("[[a] b", "[[a] b"),
            ("[fwd:", "[fwd:"), ("[fwd:]", ""), ("]", "]"), ("[", "["), ("[a] [b]", "[b]"),
            ("[fwd: [fwd: a]]", "a"), ("Re: [Fwd: a (fwd)]", "a"), ("Re a", "Re a"),
            ("[unclosed Re: a", "[unclosed Re: a"), ("(fwd)", ""), ("Re: é", "é"),
            ("[a]Re:[b]c", "c"), ("[a[b]] c", "[a[b]] c"),
        ])
    func theBaseSubjectIsWithoutRepliesAndForwards(subject: String, base: String) {
        #expect(BaseSubject.text(subject) == base)
    }

    @Test func manyMarksAreRemovedInOneWalk() {
        let blobs = String(repeating: "[a]", count: 20_000)
        #expect(BaseSubject.text(blobs + "x") == "x")
        #expect(BaseSubject.text(String(repeating: "Re [a]: ", count: 10_000) + "x") == "x")
        let wrapped =
            String(repeating: "[fwd:", count: 10_000) + "x" + String(repeating: "]", count: 10_000)
        #expect(BaseSubject.text(wrapped) == "x")
    }
}

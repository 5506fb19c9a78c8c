import Synchronization
import Testing

@testable import LocalMail

@Suite final class EmailQueryTests {
    let world = MailWorld()
    var box: AccountMail { world.box(world.ann) }

    deinit { world.end() }

    /// Messages 0 to 3, with an hour between them.
    private func fill() async throws -> [String] {
        var ids: [String] = []
        for fields in [
            "Message-ID: m0|From: Zoe Adams <zoe@a.test>|To: ann@here.test|Subject: Plans|Date: 5",
            "From: bert@b.test|To: Carl <c@c.test>|Cc: dora@d.test|Subject: Re: plans|X-File: 1"
                + "|References: m0|Date: 9",
            "From: Émile <e@e.test>|Bcc: fay@f.test|Subject: [list] Zebra|Date: 1|X-Tag: Red one",
            "From: anna@a.test|Subject: apples",
        ] {
            world.advance(3_600_000)
            ids.append(await world.deliver(fields, body: "Body number \(ids.count) ÄÖ"))
        }
        var set = EmailSet()
        set.update = [
            (ids[0], EmailPatch(keywords: .replace(["$seen"]))),
            (ids[3], EmailPatch(keywords: .replace(["$seen", "x"]))),
            (ids[2], EmailPatch(folderIDs: .replace([world.folder(.junk, of: world.ann).id]))),
        ]
        _ = try box.setEmails(set)
        return ids
    }

    @Test func conditionsMatchTheirMessages() async throws {
        let ids = try await fill()
        let received = box.emails(ids).list.map(\.receivedAt)
        let sizes = box.emails(ids).list.map(\.size)
        let (inbox, junk) = (
            world.folder(.inbox, of: world.ann).id, world.folder(.junk, of: world.ann).id
        )
        let cases: [(MailCondition, [Int])] = [
            (.inMailbox(inbox), [0, 1, 3]), (.inMailbox("F1"), []), (.inMailbox(""), []),
            (.inMailboxOtherThan([inbox]), [2]), (.inMailboxOtherThan([inbox, junk]), []),
            (.inMailboxOtherThan([]), [0, 1, 2, 3]),
            (.before(received[2]), [0, 1]), (.after(received[2]), [2, 3]),
            (.minSize(sizes[1]), [1]), (.maxSize(sizes[3] + 1), [3]), (.maxSize(sizes[3]), []),
            (.hasKeyword("$Seen"), [0, 3]), (.notKeyword("$seen"), [1, 2]),
            (.allInThreadHaveKeyword("$seen"), [3]),
            (.someInThreadHaveKeyword("$seen"), [0, 1, 3]),
            (.noneInThreadHaveKeyword("$seen"), [2]),
            (.hasAttachment(true), [1]), (.hasAttachment(false), [0, 2, 3]),
            (.from("adams ZOE"), [0]), (.from("émile"), [2]), (.to("carl"), [1]),
            (.cc("dora@"), [1]), (.bcc("fay"), [2]), (.subject("plans"), [0, 1]),
            (.subject("\"re: plans\""), [1]), (.body("number 2"), [2]),
            (.body("äö"), [0, 1, 2, 3]),
            (.body("plans"), []), (.text("apples body"), [3]), (.text("fay"), [2]),
            (.header(name: "x-tag", value: nil), [2]), (.header(name: "X-Tag", value: "red"), [2]),
            (.header(name: "X-Tag", value: "blue"), []),
        ]
        for (condition, expected) in cases {
            let query = MailQuery(filter: .condition(condition), sort: [MailSort(.receivedAt)])
            #expect(try world.ids(query, of: world.ann) == expected.map { ids[$0] }, "\(condition)")
        }
    }

    @Test func operatorsCombineConditions() async throws {
        let ids = try await fill()
        let (seen, body) = (
            MailFilter.condition(.hasKeyword("$seen")), MailFilter.condition(.body("number 1"))
        )
        let cases: [(MailFilter, [Int])] = [
            (.all([]), [0, 1, 2, 3]), (.any([]), []), (.none([]), [0, 1, 2, 3]),
            (.all([seen, .none([.condition(.hasKeyword("x"))])]), [0]),
            (.any([seen, body]), [0, 1, 3]), (.none([seen, body]), [2]),
            (.all([.any([seen, body]), .condition(.hasAttachment(true))]), [1]),
            (.none([.none([body])]), [1]),
        ]
        for (filter, expected) in cases {
            let query = MailQuery(filter: filter, sort: [MailSort(.receivedAt)])
            #expect(try world.ids(query, of: world.ann) == expected.map { ids[$0] })
        }
    }

    @Test func bodiesAreReadOnlyWhereOtherConditionsLeaveAny() async throws {
        _ = try await fill()
        let filter = MailFilter.all([
            .condition(.body("number")), .condition(.subject("plans")),
            .any([.condition(.hasKeyword("$seen")), .condition(.body("number 1"))]),
        ])
        #expect(try world.ids(MailQuery(filter: filter), of: world.ann).count == 2)
        #expect(world.reader.bodies.withLock { $0 } == 2)
    }

    @Test func comparatorsGiveTheOrder() async throws {
        let ids = try await fill()
        let cases: [([MailSort], [Int])] = [
            ([], [3, 2, 1, 0]), ([MailSort(.receivedAt)], [0, 1, 2, 3]),
            ([MailSort(.sentAt)], [2, 0, 1, 3]), ([MailSort(.from)], [3, 1, 0, 2]),
            ([MailSort(.subject)], [3, 0, 1, 2]),
            ([MailSort(.subject), MailSort(.receivedAt, isAscending: false)], [3, 1, 0, 2]),
            ([MailSort(.subject, isAscending: false)], [2, 1, 0, 3]),
            ([MailSort(.hasKeyword("$seen"))], [1, 2, 0, 3]),
            ([MailSort(.someInThreadHaveKeyword("$seen"))], [2, 0, 1, 3]),
            ([MailSort(.allInThreadHaveKeyword("$seen"))], [0, 1, 2, 3]),
            ([MailSort(.to), MailSort(.receivedAt)], [2, 3, 0, 1]),
            ([MailSort(.size, isAscending: false)], [1, 2, 0, 3]),
        ]
        for (sort, expected) in cases {
            let found = try world.ids(MailQuery(sort: sort), of: world.ann)
            #expect(found == expected.map { ids[$0] }, "\(sort)")
        }
    }

    @Test func aCollapsedThreadShowsItsFirstMatch() async throws {
        let ids = try await fill()
        let query = MailQuery(collapseThreads: true)
        var window = QueryWindow()
        window.calculateTotal = true
        window.limit = 2
        let result = try box.queryEmails(query, window)
        #expect(result.ids == [ids[3], ids[2]] && result.total == 3)
        let inbox = MailFilter.condition(.inMailbox(world.folder(.inbox, of: world.ann).id))
        let inInbox = try box.queryEmails(
            MailQuery(filter: inbox, sort: [MailSort(.receivedAt)], collapseThreads: true), window)
        #expect(inInbox.ids == [ids[0], ids[3]] && inInbox.total == 2)
    }

    @Test func anAnchorMustBeInTheResults() async throws {
        let ids = try await fill()
        var window = QueryWindow()
        window.anchor = ids[2]
        window.anchorOffset = -10
        window.limit = 1
        #expect(try box.queryEmails(MailQuery(), window).ids == [ids[3]])
        window.anchor = "M1"
        #expect(throws: MailQueryError.anchorNotFound) {
            try box.queryEmails(MailQuery(), window)
        }
    }

    @Test func extremeWindowsAreEmpty() async throws {
        _ = try await fill()
        for position in [Int.max, 1000] {
            var window = QueryWindow()
            window.position = position
            window.limit = .max
            #expect(try box.queryEmails(MailQuery(), window).ids.isEmpty)
        }
        var window = QueryWindow()
        window.position = .min
        window.limit = 1
        #expect(try box.queryEmails(MailQuery(), window).ids.count == 1)
        window.limit = 0
        #expect(try box.queryEmails(MailQuery(), window).ids.isEmpty)
    }

    @Test func filtersAreBounded() throws {
        var deep = MailFilter.condition(.hasAttachment(true))
        for _ in 0..<31 { deep = .all([deep]) }
        #expect(throws: Never.self) { try self.box.queryEmails(MailQuery(filter: deep)) }
        let deeper = MailQuery(filter: .all([deep]))
        #expect(throws: MailQueryError.unsupportedFilter) { try self.box.queryEmails(deeper) }
        let wide = MailFilter.any(
            Array(repeating: .condition(.hasAttachment(true)), count: 101))
        #expect(throws: MailQueryError.unsupportedFilter) {
            try self.box.queryEmails(MailQuery(filter: wide))
        }
        #expect(throws: MailChangesError.unsupportedFilter) {
            try self.box.emailQueryChanges(deeper, since: self.box.states[.email])
        }
    }

    @Test func queryChangesLeaveOutWhatComesAfterAnImmutableResult() async throws {
        let ids = try await fill()
        let old = box.states[.email]
        let new = await world.deliver()
        let query = MailQuery(sort: [MailSort(.receivedAt)])
        let all = try box.emailQueryChanges(query, since: old)
        #expect(all.added.map(\.id) == [new] && all.removed.isEmpty)
        let some = try box.emailQueryChanges(query, since: old, upToID: ids[1])
        #expect(some.added.isEmpty)
        #expect(throws: MailChangesError.tooManyChanges) {
            try box.emailQueryChanges(query, since: old, limit: 0)
        }
    }

    @Test(
        arguments: [
            ("a", ["a"]), ("  a\tB ", ["a", "b"]), ("\"a b\" c", ["a b", "c"]),
            ("'a b'", ["a b"]), ("\"a \\\"b\"", ["a \"b"]), ("don't", ["don't"]), ("\"a", ["\"a"]),
            ("", []), ("\"\"", []), ("ÄÖ", ["äö"]),
        ])
    func wordsAndPhrasesAreTakenFromASearch(text: String, terms: [String]) {
        #expect(SearchTerms(text).terms == terms)
    }
}

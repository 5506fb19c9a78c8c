import Testing

@testable import LocalMail

@Suite struct ChangeLogTests {
    private func log(limit: Int = 8) -> ChangeLog { ChangeLog(start: 100, limit: limit) }

    private func state(_ number: UInt64) -> String { MailID.text(.state, number) }

    @Test func whatIsCreatedAndDestroyedIsLeftOut() throws {
        var log = log()
        log.record(.created, 1)
        log.record(.updated, 1)
        log.record(.destroyed, 1)
        log.record(.created, 2)
        log.record(.updated, 2)
        log.record(.updated, 3)
        log.record(.destroyed, 3)
        let changes = try log.changes(since: state(100), limit: nil, kind: .message)
        #expect(changes.created == ["M2"] && changes.updated.isEmpty)
        #expect(changes.destroyed == ["M3"])
        #expect(!changes.hasMoreChanges && changes.newState == state(107))
        let later = try log.changes(since: state(101), limit: nil, kind: .message)
        #expect(later.destroyed == ["M1", "M3"])
    }

    @Test func aLimitGivesAStateInBetween() throws {
        var log = log()
        for number in 1...5 as ClosedRange<UInt64> { log.record(.created, number) }
        let first = try log.changes(since: state(100), limit: 2, kind: .message)
        #expect(first.created == ["M1", "M2"] && first.hasMoreChanges)
        let second = try log.changes(since: first.newState, limit: 3, kind: .message)
        #expect(second.created == ["M3", "M4", "M5"] && !second.hasMoreChanges)
    }

    @Test(arguments: ["", "s63", "s0", "x", "s6e0", "S64", "s064", "sffffffffffffffffff", "s+64"])
    func anUnknownStateCannotBeCalculated(since: String) {
        var log = log()
        log.record(.created, 1)
        #expect(throws: MailChangesError.cannotCalculateChanges) {
            try log.changes(since: since, limit: nil, kind: .message)
        }
    }

    @Test func theLogKeepsItsLastEntries() throws {
        var log = log(limit: 8)
        for number in 1...9 as ClosedRange<UInt64> { log.record(.created, number) }
        #expect(throws: MailChangesError.cannotCalculateChanges) {
            try log.changes(since: state(101), limit: nil, kind: .message)
        }
        let kept = try log.changes(since: state(102), limit: nil, kind: .message)
        #expect(kept.created == (3...9).map { "M\($0)" })
        for number in 10...1000 as ClosedRange<UInt64> { log.record(.created, number) }
        #expect(log.entries(since: state(1095))?.count == 5)
    }

    @Test func countsAloneAreTold() throws {
        var log = log()
        log.record(.updated, 1, onlyCounts: true)
        log.record(.updated, 1, onlyCounts: true)
        #expect(try log.changes(since: state(100), limit: nil, kind: .folder).onlyCounts)
        log.record(.updated, 1)
        log.record(.updated, 1, onlyCounts: true)
        #expect(!(try log.changes(since: state(100), limit: nil, kind: .folder).onlyCounts))
        #expect(!(try log.changes(since: state(102), limit: nil, kind: .folder).onlyCounts))
        #expect(!(try log.changes(since: state(104), limit: nil, kind: .folder).onlyCounts))
    }

    @Test func idsAreReadAsTheyAreWritten() {
        #expect(MailID.text(.message, 0xAB) == "Mab")
        #expect(MailID.text(.message, 0x10_09AF) == "M1009af")
        #expect(MailID.text(.message, 0) == "M0")
        #expect(MailID.text(.message, .max) == "Mffffffffffffffff")
        #expect(MailID.number(.message, "Mab") == 0xAB)
        #expect(MailID.number(.message, "Mffffffffffffffff") == .max)
        for text in ["", "M", "MAB", "Tab", "M0", "M0ab", "Mab ", "M1ffffffffffffffff", "M-1"] {
            #expect(MailID.number(.message, text) == nil, "\(text)")
        }
        #expect(MailID.text(.message, MailID.start(random: .max)).utf8.count <= 15)
        #expect(MailID.start(random: 0) != MailID.start(random: 1 << 40))
    }
}

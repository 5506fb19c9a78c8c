import Testing

@testable import Platform

@Suite struct StatusLineTests {
    private let begin = ContinuousClock.now

    @Test func aTerminalHasOneLineThatIsRewritten() {
        var line = StatusLine(isTerminal: true, since: begin)
        #expect(line.due("1", at: begin + .milliseconds(99)) == nil)
        #expect(line.due("2", at: begin + .milliseconds(100)) == "\r2\u{1b}[K")
        #expect(line.due("3", at: begin + .milliseconds(150)) == nil)
        #expect(line.due("4", at: begin + .milliseconds(200)) == "\r4\u{1b}[K")
    }

    @Test func elsewhereThereIsALineEveryTenSeconds() {
        var line = StatusLine(isTerminal: false, since: begin)
        #expect(line.due("1", at: begin + .milliseconds(9999)) == nil)
        #expect(line.due("2", at: begin + .seconds(10)) == "2\n")
        #expect(line.due("3", at: begin + .seconds(19)) == nil)
        #expect(line.due("4", at: begin + .seconds(20)) == "4\n")
    }
}

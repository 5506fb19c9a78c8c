import AuthCore
import StrictJSON
import Testing

@testable import Platform
@testable import postern

@Suite struct LogLineTests {
    private let time = Instant(milliseconds: 1_768_473_000_007)

    private func line(
        _ format: LogLine.Format, _ message: String, _ members: [(String, String)] = []
    ) -> String {
        var line = LogLine(format, time: time, level: "info", message: message)
        for (name, value) in members { line.add(name, value) }
        return String(decoding: line.finish(), as: UTF8.self)
    }

    @Test func aTextLineHasTimeLevelMessageAndValues() {
        #expect(
            line(.text, "started", [("port", "80")])
                == "2026-01-15T10:30:00.007Z info     started port=80\n")
    }

    @Test func aJSONLineIsOneObject() throws {
        let text = line(.json, "started", [("port", "80")])
        #expect(
            text
                == "{\"time\":\"2026-01-15T10:30:00.007Z\",\"level\":\"info\","
                + "\"message\":\"started\",\"port\":\"80\"}\n")
        _ = try JSONValue.parse(Array(text.utf8))
    }

    static let hostile = [
        "a\nb", "a\r\nb", "\u{1b}[2J", "\u{9b}31m", "\u{7f}", "\u{2028}x", "\u{2029}",
        "\u{202e}evil",
        "\u{2066}x", "\u{0}", "\"}{\"level\":\"error\"", "\\", "\\n", "\u{85}", "\u{feff}",
    ]

    @Test(arguments: hostile, [LogLine.Format.text, .json])
    func noValueEndsItsLineOrControlsATerminal(value: String, format: LogLine.Format) {
        let text = line(format, value, [(value, value)])
        #expect(text.utf8.count { $0 == 0x0a } == 1)
        let isPrintable = text.unicodeScalars.dropLast().allSatisfy(\.isPrintable)
        #expect(isPrintable)
    }

    @Test(arguments: hostile) func noValueAddsAMember(value: String) throws {
        let text = line(.json, value, [("member", value)])
        let object = try #require(try JSONValue.parse(Array(text.utf8)).object)
        #expect(object.members.map(\.name) == ["time", "level", "message", "member"])
        #expect(object["message"] == .string(value))
        #expect(object["member"] == .string(value))
    }

    @Test func numbersAreNumbers() throws {
        var line = LogLine(.json, time: time, level: "info", message: "")
        line.add("a", -5)
        line.add("b", Int.min)
        line.add("c", 0)
        let object = try #require(try JSONValue.parse(line.finish()).object)
        #expect(object["a"] == .integer(-5))
        #expect(object["b"] == .integer(.min))
        #expect(object["c"] == .integer(0))
    }

    @Test func timesBefore1970DoNotTrap() {
        let line = LogLine(.text, time: Instant(milliseconds: -1), level: "info", message: "x")
        #expect(
            String(decoding: line.finish(), as: UTF8.self)
                == "1969-12-31T23:59:59.999Z info     x\n")
    }
}

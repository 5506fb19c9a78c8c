import AuthCore
import AuthStorage
import Testing

@testable import Configuration

@Suite struct SyntaxTests {
    @Test(arguments: [
        (RawValue.integer(3), Duration.seconds(3)), (.number(0.5), .milliseconds(500)),
        (.string("500ms"), .milliseconds(500)), (.string("3s"), .seconds(3)),
        (.string("10m"), .seconds(600)), (.string("1.5h"), .seconds(5400)),
        (.string("7d"), .seconds(604_800)), (.untyped("3"), .seconds(3)),
        (.untyped("0.25"), .milliseconds(250)), (.untyped("2m"), .seconds(120)),
        (.integer(0), .zero),
    ])
    func durationsAreSecondsOrTextWithAUnit(raw: RawValue, duration: Duration) {
        #expect(Syntax.duration(.zero ... .seconds(1_000_000)).parse(raw) == duration)
    }

    @Test(arguments: [
        RawValue.string("3"), .string("-3s"), .string("+3s"), .string("3 s"), .string("s"),
        .string(""), .string("1e3s"), .string(".5s"), .string("5.s"), .string("3w"),
        .string("0x3s"), .string("3sec"), .string("1m30s"), .string("99999999999999999999d"),
        .integer(-1), .integer(.max), .number(.infinity), .number(.nan), .number(-0.5),
        .number(1e300), .boolean(true), .list([.integer(3)]), .other("date"), .untyped("nan"),
        .untyped("1.2.3"), .untyped("٣"),
    ])
    func anythingElseIsNoDuration(raw: RawValue) {
        #expect(Syntax.duration(.zero ... .seconds(1_000_000)).parse(raw) == nil)
    }

    @Test func durationsOutsideTheirRangeAreNotAccepted() {
        let syntax = Syntax.duration(.seconds(1) ... .seconds(60))
        #expect(syntax.parse(.integer(1)) == .seconds(1))
        #expect(syntax.parse(.string("1m")) == .seconds(60))
        #expect(syntax.parse(.string("999ms")) == nil)
        #expect(syntax.parse(.number(60.001)) == nil)
    }

    @Test(arguments: [
        (Duration.zero, "0s"), (.milliseconds(1500), "1500ms"), (.seconds(90), "90s"),
        (.seconds(180), "3m"), (.seconds(7200), "2h"), (.seconds(604_800), "7d"),
    ])
    func aDurationIsShownInTheLongestUnitThatFits(duration: Duration, text: String) {
        #expect(duration.withUnit == text)
        #expect(Syntax.duration(.zero ... .seconds(1_000_000)).parse(.string(text)) == duration)
    }

    @Test func wholeNumbersInTextAreDigitsOnly() {
        let syntax = Syntax<Int>.integer(0...100)
        #expect(syntax.parse(.untyped("42")) == 42)
        for text in ["+5", "-5", "0x5", "5.0", "", " 5", "5 ", "101", "99999999999999999999"] {
            #expect(syntax.parse(.untyped(text)) == nil, "\(text)")
        }
    }

    @Test func aQuotedNumberInTheFileIsNoNumber() {
        #expect(Syntax<Int>.integer(0...100).parse(.string("42")) == nil)
        #expect(Syntax<Int>.integer(0...100).parse(.number(42)) == nil)
        #expect(Syntax.boolean.parse(.string("true")) == nil)
        #expect(Syntax.boolean.parse(.untyped("yes")) == nil)
    }

    @Test func listsInTextHaveCommas() {
        let syntax = Syntax.list(of: Syntax<Int>.integer(0...100), 0...2, accepts: "")
        #expect(syntax.parse(.untyped("1,2")) == [1, 2])
        #expect(syntax.parse(.untyped(""))?.isEmpty == true)
        #expect(syntax.parse(.untyped("1,,2")) == nil)
        #expect(syntax.parse(.untyped("1,2,3")) == nil)
        #expect(syntax.parse(.list([.integer(1), .boolean(true)])) == nil)
    }

    @Test func theSampleOfTheLogIsANameOrAFraction() throws {
        let setting = try #require(Config.settings.first { $0.key == "log.access" })
        for (raw, sampling) in [
            (RawValue.string("all"), AccessSampling.all), (.untyped("errors"), .errors),
            (.number(0.01), .share(0.01)), (.untyped("0.25"), .share(0.25)),
            (.number(0.000_001), .share(0.000_001)),
        ] {
            var config = Config()
            #expect(setting.assign(raw, &config), "\(raw)")
            #expect(config.log.access == sampling)
        }
        for raw in [
            RawValue.number(0), .number(1), .number(-0.5), .number(.infinity), .number(1e-9),
            .integer(1), .string("0.5"), .string("none"), .untyped("1e-2"), .untyped("+0.5"),
            .untyped("0.5.5"), .untyped("."), .untyped(""), .boolean(true),
        ] {
            var config = Config()
            #expect(!setting.assign(raw, &config), "\(raw)")
        }
    }

    @Test func databasesAreWrittenAsURLs() throws {
        let setting = try #require(Config.settings.first { $0.key == "storage.url" })
        for text in ["sqlite::memory:", "sqlite:/var/a.db", "postgresql://h/d"] {
            var config = Config()
            #expect(setting.assign(.string(text), &config))
            #expect(config.storage.url?.url == text)
        }
        for text in ["", "sqlite:", "sqlite::mem:", "mysql://h/d", "a.db", "sqlite:a\u{0}b"] {
            var config = Config()
            #expect(!setting.assign(.string(text), &config), "\(text)")
        }
    }

    @Test func templatesHaveExactlyTheirVariables() {
        let setting = Config.settings.first { $0.key == "mail.jmap_upload_path" }
        for (text, fits) in [
            ("/u/{accountId}", true), ("/u", false), ("u/{accountId}", false),
            ("/{accountId}/{accountId}", false), ("/{accountId}/{x}", false),
            ("/ {accountId}", false),
        ] {
            var config = Config()
            #expect(setting?.assign(.string(text), &config) == fits, "\(text)")
        }
    }
}

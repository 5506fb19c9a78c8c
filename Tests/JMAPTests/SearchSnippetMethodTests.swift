import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct SearchSnippetMethodTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    private func snippet(_ filter: String, _ message: String) async throws -> JSONValue? {
        let id = try ann.add(message).id
        let (_, response) = try await ann.call(
            "SearchSnippet/get",
            #"{"accountId":"ann","filter":\#(filter),"emailIds":["\#(id)"]}"#)
        #expect(response["notFound"] == .null)
        return response["list"]?["0"]
    }

    @Test(arguments: [
        (#"{"text":"lunch"}"#, "<mark>Lunch</mark> &lt;b&gt;", "the <mark>LUNCH</mark> &amp; more"),
        (#"{"subject":"lun"}"#, "<mark>Lun</mark>ch &lt;b&gt;", nil),
        (#"{"body":"the lunch"}"#, nil, "<mark>the</mark> <mark>LUNCH</mark> &amp; more"),
        (#"{"body":"\"the lunch\""}"#, nil, "<mark>the LUNCH</mark> &amp; more"),
        (#"{"operator":"NOT","conditions":[{"text":"lunch"}]}"#, nil, nil),
        (
            #"{"operator":"OR","conditions":[{"subject":"b"},{"body":"more"}]}"#,
            "Lunch &lt;<mark>b</mark>&gt;", "the LUNCH &amp; <mark>more</mark>"
        ),
        ("null", nil, nil), (#"{"from":"x"}"#, nil, nil), (#"{"text":"absent"}"#, nil, nil),
    ])
    func theWordsOfTheFilterAreMarkedAndTheRestIsEscaped(
        _ filter: String, _ subject: String?, _ preview: String?
    ) async throws {
        let snippet = try await snippet(filter, "Subject: Lunch <b>\n\nthe \n LUNCH & more")
        #expect(snippet?["subject"] == .optional(subject))
        #expect(snippet?["preview"] == .optional(preview))
    }

    @Test func aPreviewIsShortAndBeginsBeforeTheFirstWord() async throws {
        let text =
            String(repeating: "ä<& ", count: 200) + "needle " + String(repeating: "<", count: 400)
        let snippet = try await snippet(
            #"{"body":"needle"}"#, "Content-Type: text/plain; charset=utf-8\n\n" + text)
        let preview = try #require(snippet?["preview"]?.string)
        #expect(preview.utf8.count <= 255)
        #expect(preview.contains("<mark>needle</mark>") && !preview.contains("<&"))
    }

    @Test func lettersWhoseLowerCaseIsLongerAreMarkedWhole() {
        #expect(Highlight.whole("xİy", ["i̇"]) == "x<mark>İ</mark>y")
        #expect(Highlight.whole("aa aaa", ["aa", "a"]) == "<mark>aa</mark> <mark>aaa</mark>")
    }

    @Test(arguments: [
        (#"{"accountId":"ann"}"#, "invalidArguments"),
        (#"{"accountId":"ann","emailIds":[],"filter":{"x":1}}"#, "unsupportedFilter"),
        (#"{"accountId":"bob","emailIds":[]}"#, "accountNotFound"),
    ])
    func aWrongCallHasItsError(_ arguments: String, _ type: String) async throws {
        #expect(try await ann.error("SearchSnippet/get", arguments) == type)
    }

    @Test func unknownMessagesAreNotFound() async throws {
        let (_, response) = try await ann.call(
            "SearchSnippet/get", #"{"accountId":"ann","filter":{},"emailIds":["x"]}"#)
        #expect(response["notFound"] == .strings(["x"]))
    }
}

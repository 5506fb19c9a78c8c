import HTTPEngine
import TestSupport
import Testing

@testable import AuthAPI

/// What all pages have in common, on pages of every kind.
struct PageLayoutTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test(arguments: ["/signup", "/dashboard", "/"])
    func aPageLinksTheOthersAndMarksItself(path: String) async {
        let header = header(of: await api.call(.get, path))
        #expect(
            links(in: header) == ["/signup", "/dashboard", "/", "/llms.txt", "/openapi.json"])
        #expect(header.contains("<a href=\"\(path)\" aria-current=\"page\">"))
        #expect(header.ranges(of: "aria-current").count == 1)
    }

    @Test(arguments: ["/signup", "/dashboard", "/"])
    func whatAPageLinksIsServed(path: String) async {
        for link in Set(links(in: text(await api.call(.get, path)))) where link.hasPrefix("/") {
            // A login at a provider leads there.
            let status = link.hasPrefix("/api/user/oauth/") ? 303 : 200
            #expect(await api.call(.get, link).status.code == status, "\(link)")
        }
    }

    /// The page that a form leads to, an error of the API, and an error of the engine.
    @Test(arguments: [("/login", 422), ("/logout", 401), ("/example.txt", 405)])
    func aResultAndAnErrorHaveTheHeaderAndAreNotThePageThatIsLinked(
        path: String, status: Int
    ) async {
        let response = await api.router.respond(
            to: Request(
                method: .post, target: path,
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array("email=a&password=b".utf8)))
        #expect(response.status.code == status)
        let header = header(of: response)
        #expect(links(in: header).count == 5)
        #expect(header.contains("<a href=\"/\" aria-current=\"true\">"))
        #expect(header.ranges(of: "aria-current").count == 1)
    }

    /// The first link leads over the header.
    @Test func theHeaderCanBeSkipped() async throws {
        let page = text(await api.call(.get, "/signup"))
        #expect(links(in: page).first == "#main")
        #expect(page.ranges(of: "<main id=\"main\" tabindex=\"-1\">").count == 1)
    }

    @Test(arguments: [
        ("https://auth.example.com", "auth.example.com"),
        ("http://login.example:8080/base", "login.example"),
        ("http://localhost:8080", "Postern"), ("http://127.0.0.1:8080", "Postern"),
        ("https://[2001:db8::1]", "Postern"),
    ])
    func theServerHasTheNameThatItsPublicURLGivesIt(publicURL: String, name: String) {
        let response = PageLayout(publicURL: publicURL)
            .page(title: "A & B", at: (.signup, .page), main: "")
        #expect(header(of: response).contains("<p>\(name)</p>"))
        #expect(text(response).contains("<title>A &amp; B · Postern</title>"))
    }

    @Test func onlyAPageWithAScriptMayRunScripts() throws {
        let layout = PageLayout(publicURL: AgentWorld.issuer)
        for script in [nil, "/web/a.js"] {
            let response = layout.page(
                title: "A", at: (.signup, .page), script: script, main: "")
            let policy = try #require(response.header("Content-Security-Policy"))
            #expect(policy.contains("script-src") == (script != nil))
            #expect(text(response).contains("<script") == (script != nil))
        }
    }

    private func header(of response: Response) -> String {
        let page = text(response)
        #expect(page.ranges(of: "<header>").count == 1)
        guard let start = page.firstRange(of: "<header>"),
            let end = page.firstRange(of: "</header>")
        else { return "" }
        return String(page[start.upperBound..<end.lowerBound])
    }

    /// The `href` of each link, in order.
    private func links(in markup: String) -> [String] {
        markup.ranges(of: "<a ").compactMap { link in
            let rest = markup[link.upperBound...]
            guard let start = rest.firstRange(of: "href=\"") else { return nil }
            return String(rest[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    private func text(_ response: Response) -> String {
        String(decoding: response.body, as: UTF8.self)
    }
}

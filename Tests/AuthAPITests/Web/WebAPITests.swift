import HTTPEngine
import TestSupport
import Testing

@testable import AuthAPI

/// The web pages: what is served, under which name, with which fields.
struct WebAPITests {
    private static let pages = ["/signup", "/dashboard", "/reset-password", "/verify-email"]

    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test(arguments: pages)
    func aPageLoadsAndRunsWhatThisServerServesAndNothingElse(path: String) async throws {
        let response = await api.call(.get, path)
        #expect(response.status == .ok)
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        #expect(response.header("Cache-Control") == "no-store")
        // The URLs of the others have tokens.
        let isUsual = ["/signup", "/dashboard"].contains(path)
        #expect(
            response.header("Referrer-Policy") == (isUsual ? "same-origin" : "no-referrer"))
        #expect(
            response.header("Content-Security-Policy")
                == "default-src 'none'; script-src 'self'; style-src 'self'"
                + (path == "/dashboard" ? " 'unsafe-inline'; img-src data: https:" : "")
                + "; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'")
        let page = text(response)
        for attribute in [" style=", " onclick=", " onsubmit=", "<style", "javascript:"] {
            #expect(!page.contains(attribute), "\(attribute)")
        }
        for script in page.split(separator: "<script").dropFirst() {
            #expect(script.hasPrefix(" type=\"module\" src=\"/web/"))
            #expect(script.contains("\"></script>"))
        }
    }

    @Test(arguments: pages)
    func aPageHasALanguageATitleAHeadingAndTextWithoutJavaScript(path: String) async throws {
        let page = text(await api.call(.get, path))
        for part in [
            "<html lang=\"en\">", " · Postern</title>", "<main", "<h1>", "<noscript>",
            "name=\"viewport\"",
        ] {
            #expect(page.ranges(of: part).count == 1, "\(part)")
        }
        #expect(!page.contains("{{"))
    }

    /// Each script that a page or another script loads exists.
    @Test func whatIsLoadedIsServed() async throws {
        var loaded: Set<String> = []
        var sources = Self.pages
        while let source = sources.popLast() {
            let response = await api.call(.get, source)
            #expect(response.status == .ok, "\(source)")
            for name in Self.references(in: text(response)) where loaded.insert(name).inserted {
                sources.append(name)
            }
        }
        loaded.remove("/style.css")
        // Of the page of CapturedMailAPI.
        loaded.insert("/web/captured.js")
        let scripts = api.web.routes.routes.map(\.template).filter { $0.hasPrefix("/web/") }
        #expect(loaded == Set(scripts))
        for script in scripts {
            let response = await api.call(.get, script)
            #expect(response.header("Content-Type") == "text/javascript; charset=utf-8")
            #expect(response.header("Cache-Control") == "public, max-age=300")
        }
    }

    /// No script makes elements of text, evaluates text, or stores anything in the browser that
    /// opens an account.
    @Test func scriptsNeverReadTextAsMarkupOrCode() async throws {
        for route in api.web.routes.routes where route.template.hasPrefix("/web/") {
            let source = text(await api.call(.get, route.template))
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                "Function(", "localStorage", "document.cookie",
            ] {
                #expect(!source.contains(word), "\(route.template): \(word)")
            }
        }
    }

    @Test(arguments: pages)
    func aPageUnderAnotherHostNameIsNotShown(path: String) async throws {
        for (host, isShown) in [("auth.mail.test", true), ("evil.test", false)] {
            let response = await api.call(.get, path, headers: [("Host", host)])
            #expect(response.status == (isShown ? .ok : .misdirectedRequest), "\(host)")
        }
    }

    @Test func aPageNamesThisServer() async throws {
        let page = text(await api.call(.get, "/signup"))
        #expect(page.contains("POST \(AgentWorld.issuer)/api/accounts"))
        #expect(page.contains("mailbox for 7 days"))
    }

    @Test(arguments: [true, false])
    func theDashboardHasAFormForRegistrationWhereItIsOpen(isOpen: Bool) async throws {
        let api = try APIWorld(AgentWorld(registrationIsOpen: isOpen))
        let page = text(await api.call(.get, "/dashboard"))
        #expect(page.contains("data-registration=\"\(isOpen ? "open" : "closed")\""))
    }

    /// `src`, `href` of scripts and style sheets, `import`, `new Worker`.
    private static func references(in source: String) -> [String] {
        let quoted = source.split(separator: "\"") + source.split(separator: "'")
        return quoted.compactMap { part in
            if part.hasPrefix("./"), part.hasSuffix(".js") { return "/web/" + part.dropFirst(2) }
            let isPath = part.hasPrefix("/web/") || part == "/style.css"
            return isPath ? String(part) : nil
        }
    }

    private func text(_ response: Response) -> String {
        String(decoding: response.body, as: UTF8.self)
    }
}

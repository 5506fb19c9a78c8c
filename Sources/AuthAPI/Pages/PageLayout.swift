internal import HTTPEngine

/// What all pages for people have in common: the head, the header with the links between the pages,
/// and the header fields of the response.
struct PageLayout: Sendable {
    private let serverName: String
    private let links: [PageLink]

    /// - Parameters:
    ///   - publicURL: in lower case, `http` or `https`. Its host name is the name of the server
    ///     that pages show.
    ///   - hasMailPage: whether the header has a link to `/mail`.
    init(publicURL: String, hasMailPage: Bool = false) {
        serverName = PublicHost(publicURL: publicURL).hostName ?? "Postern"
        links = PageLink.forPeople + (hasMailPage ? [.mail] : [])
    }

    /// - Parameters:
    ///   - link: the link of the header that is marked, with its mark.
    ///   - script: the path of the module that the page runs. Without one it may not run scripts.
    ///   - showsMail: whether it shows the HTML of messages in frames.
    ///   - referrer: the page's `Referrer-Policy`.
    ///   - main: the content, with its heading.
    func page(
        _ status: Status = .ok, title: String, at link: (PageLink, PageLink.Mark),
        script: String? = nil, showsMail: Bool = false,
        referrer: SecurityFields.ReferrerPolicy = .sameOrigin, main: HTMLText
    ) -> Response {
        let document: HTMLText = """
            <!DOCTYPE html>
            <html lang="en">
            \(head(title, script))
            <body>
            <a class="skip" href="#main">Skip to the content</a>
            \(header(link))
            <main id="main" tabindex="-1">
            \(main)
            </main>
            </body>
            </html>

            """
        var policy = script == nil ? "" : "script-src 'self'; "
        // A frame has no more than its page may have: the styles of a message, and its images where
        // the reader asks for them.
        policy +=
            showsMail
            ? "style-src 'self' 'unsafe-inline'; img-src data: https:" : "style-src 'self'"
        if script != nil { policy += "; connect-src 'self'; worker-src 'self'" }
        return Response(
            status: status, headers: SecurityFields.page(allowing: policy, referrer: referrer),
            body: Array(document.text.utf8))
    }

    private func head(_ title: String, _ script: String?) -> HTMLText {
        let module: HTMLText =
            script.map { "\n<script type=\"module\" src=\"\($0)\"></script>" } ?? ""
        return """
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Postern</title>
            <link rel="stylesheet" href="/style.css">\(module)
            </head>
            """
    }

    private func header(_ marked: (link: PageLink, mark: PageLink.Mark)) -> HTMLText {
        """
        <header>
        <p>\(serverName)</p>
        <nav aria-label="Pages">
        <ul>
        \(PageLink.items(links, marked))
        </ul>
        </nav>
        <nav aria-labelledby="programs">
        <span id="programs">For programs</span>
        <ul>
        \(PageLink.items(PageLink.forPrograms, marked))
        </ul>
        </nav>
        </header>
        """
    }
}

/// A link of the header of all pages. What it leads to cannot be switched off, except for `mail`.
enum PageLink: String {
    case signup = "/signup"
    case dashboard = "/dashboard"
    case hashLogin = "/"
    /// Only where there is a ``CapturedMailAPI``.
    case mail = "/mail"
    case llmsText = "/llms.txt"
    case openAPI = "/openapi.json"

    /// The value of `aria-current`.
    enum Mark: String {
        /// The link leads to the present page.
        case page
        /// The present page came from a form of the page that the link leads to.
        case section = "true"
    }

    static let forPeople: [PageLink] = [.signup, .dashboard, .hashLogin]
    static let forPrograms: [PageLink] = [.llmsText, .openAPI]

    static func items(_ links: [PageLink], _ marked: (link: PageLink, mark: Mark)) -> HTMLText {
        HTMLText(
            markup: links.map { link in
                let mark: HTMLText =
                    link == marked.link ? " aria-current=\"\(marked.mark.rawValue)\"" : ""
                let item: HTMLText =
                    "<li><a href=\"\(link.rawValue)\"\(mark)>\(link.label)</a></li>"
                return item.text
            }.joined(separator: "\n"))
    }

    private var label: String {
        switch self {
        case .signup: "Create a mailbox"
        case .dashboard: "Dashboard"
        case .hashLogin: "Hash login"
        case .mail: "Mail"
        case .llmsText, .openAPI: rawValue
        }
    }
}

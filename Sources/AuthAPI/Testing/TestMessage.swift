public import AuthCore
internal import JMAP
internal import LocalMail
internal import MIME

/// A message that was delivered or captured, read for a test.
public struct TestMessage: Sendable {
    public struct Attachment: Sendable {
        public let filename: String
        public let type: String
        /// Of the decoded content, in bytes.
        public let size: Int
    }

    /// From 1, in the order of arrival.
    public let number: Int
    /// Those that received it, as its sender named them.
    public let recipients: [String]
    /// The ids of the message in the inboxes of its recipients; `nil` for one elsewhere.
    public let ids: [String?]
    /// The address that SMTP's MAIL named.
    public let mailFrom: String
    /// The address of the first author; empty without one.
    public let from: String
    public let subject: String
    /// `nil` where the message has no such text.
    public let text: String?
    public let html: String?
    public let attachments: [Attachment]
    /// Decoded, in their order.
    public let headers: [(name: String, value: String)]
    public let receivedAt: Instant
    /// The addresses of the text and of the HTML, each once, in order.
    public let links: [String]
    /// The numbers of six digits in the text and in the HTML, each once, in order.
    public let codes: [String]

    init(_ delivered: DeliveredMessage) throws(MIMEError) {
        let body = try MIMEReader().body(of: delivered.content.bytes)
        let summary = delivered.content.summary
        number = delivered.number
        recipients = delivered.results.map(\.recipient)
        ids = delivered.results.map {
            if case .delivered(_, let id) = $0.outcome { id } else { nil }
        }
        mailFrom = delivered.mailFrom
        from = summary.from.first?.email ?? ""
        subject = summary.subject ?? ""
        (text, html) = (body.text, body.html)
        attachments = body.attachments.enumerated().map { index, attachment in
            Attachment(
                filename: attachment.filename(at: index), type: attachment.mediaType,
                size: attachment.size)
        }
        headers = try HeaderFields(of: delivered.content.bytes).fields.map { ($0.name, $0.text) }
        receivedAt = Instant(milliseconds: delivered.arrivedAt.milliseconds)
        var found = TextFindings(text ?? "")
        if let html {
            found.add(links: HTMLLinks.all(in: html), codesOf: MIME.HTMLText.plain(html))
        }
        links = found.links
        codes = found.codes
    }

    /// What it takes in an answer, without what has a small limit.
    var textBytes: Int {
        headers.reduce((text?.utf8.count ?? 0) + (html?.utf8.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
}

internal import AuthCore
internal import CEmbeddedFiles

/// The markup that all pages with mail have in common, for their templates.
enum MailMarkup {
    static let values = [
        "mail_view": String(decoding: EmbeddedFile.mail_view_html.bytes, as: UTF8.self),
        "confirm": String(decoding: EmbeddedFile.confirm_html.bytes, as: UTF8.self),
    ]
}

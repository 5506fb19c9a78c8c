internal import AuthCore

/// The words of a message, once for the plain and the HTML form. ASCII but for the names that
/// users have given.
struct MailText {
    enum Part {
        case paragraph(String)
        /// A link, with the words that it has in HTML.
        case link(String, to: String)
    }

    /// ASCII without control characters.
    let subject: String
    let parts: [Part]

    /// - Parameters:
    ///   - serverName: how the server is called: its host name.
    ///   - publicURL: the URL that clients use for this server. Links are on it only.
    init(_ mail: UserMail, serverName: String, publicURL: String) {
        switch mail.content {
        case .emailVerification(let link):
            subject = "Verify your email for \(serverName)"
            parts = [
                .paragraph(
                    "A user of \(serverName) was registered with this email, \(mail.recipient)."
                        + " If that was you, open this link within 24 hours and confirm:"),
                .link(
                    "Verify this email", to: link.url(for: .emailVerification, on: publicURL)),
                .paragraph("If it was not you, do nothing: do not confirm."),
            ]
        case .passwordReset(let link):
            subject = "Set a new password for \(serverName)"
            parts = [
                .paragraph(
                    "Somebody has asked for a new password of \(mail.recipient) at \(serverName)."
                        + " If that was you, open this link within 30 minutes. It can be used"
                        + " once:"),
                .link("Set a new password", to: link.url(for: .passwordReset, on: publicURL)),
                .paragraph(
                    "If it was not you, do nothing: your password stays as it is. Nobody but you"
                        + " has got this link; do not pass it on."),
            ]
        case .notice(let notice, let client):
            let text = Self.text(of: notice)
            subject = "\(text.subject) at \(serverName)"
            parts = [
                .paragraph(
                    "\(text.sentence) The user is \(mail.recipient), the time"
                        + " \(mail.time.rfc3339), the network address \(client)."),
                .paragraph(
                    "If that was not you, somebody else may have access. Log in, end all other"
                        + " sessions, change the password, and look at the passkeys and API"
                        + " tokens:"),
                .link("Open the dashboard", to: "\(publicURL)/dashboard"),
                .paragraph(
                    "If you cannot log in any more, set a new password there with “Forgotten"
                        + " password?”, or ask the operator of the server."),
            ]
        }
    }

    /// - Parameter serverName: how the server is called: its host name.
    init(tryingRelayOf serverName: String) {
        subject = "Test message of \(serverName)"
        parts = [
            .paragraph(
                "The operator of \(serverName) has sent this message to try the mail relay."
                    + " Nothing has to be done.")
        ]
    }

    private static func text(of notice: UserNotice) -> (subject: String, sentence: String) {
        switch notice {
        case .passwordChanged:
            ("Your password was changed", "The password was changed, and all sessions ended.")
        case .passwordReset:
            (
                "Your password was changed",
                "A new password was set with a link for a forgotten password, and all sessions"
                    + " ended."
            )
        case .passkeyAdded(let name):
            ("A passkey was added", "The passkey “\(shown(name))” was added: it can log in.")
        case .passkeyRemoved(let name):
            ("A passkey was removed", "The passkey “\(shown(name))” was removed.")
        case .totpEnabled:
            (
                "One-time codes were turned on",
                "One-time codes were turned on: a login needs one from now on."
            )
        case .totpDisabled:
            (
                "One-time codes were turned off",
                "One-time codes were turned off, and the recovery codes removed."
            )
        case .recoveryCodesReplaced:
            ("New recovery codes were made", "The recovery codes were replaced by new ones.")
        case .recoveryCodeUsed:
            ("A recovery code was used", "Somebody has logged in with a recovery code.")
        case .providerLinked(let name):
            (
                "An identity provider was linked",
                "The identity provider “\(shown(name))” was linked: it can log in."
            )
        case .providerUnlinked(let name):
            (
                "An identity provider was unlinked",
                "The identity provider “\(shown(name))” was unlinked."
            )
        }
    }

    /// A name without what could change the lines or the direction of the text around it.
    private static func shown(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.filter { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: false
                    default: true
                    }
                }))
    }

    var plain: String {
        parts.map { part in
            switch part {
            case .paragraph(let text): text
            case .link(_, let url): url
            }
        }.joined(separator: "\n\n") + "\n"
    }

    /// Without styles, images or anything else that a program for mail would have to load.
    var html: String {
        let body = parts.map { part in
            switch part {
            case .paragraph(let text): "<p>\(Self.escaped(text))</p>"
            case .link(let words, let url):
                "<p><a href=\"\(Self.escaped(url))\">\(Self.escaped(words))</a></p>"
            }
        }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>\(Self.escaped(subject))</title></head>
            <body>
            \(body)
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

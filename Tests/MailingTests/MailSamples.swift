import AuthCore
import Networking

@testable import Mailing

enum Samples {
    static let client = IPAddress(v4: 0xc000_0207)
    static let publicURL = "https://auth.example.com"

    static func email(_ text: String = "ada@example.org") -> Email {
        guard let email = Email(parsing: text) else { preconditionFailure("\(text)") }
        return email
    }

    static func sender(_ text: String = "Postern <postern@example.com>") -> MailAddress {
        guard let address = MailAddress(text) else { preconditionFailure("\(text)") }
        return address
    }

    static let user = User(
        id: UserID(random: [UInt8](repeating: 1, count: 16)), email: email(), password: nil,
        created: Instant(seconds: 0))

    static func notice(_ notice: UserNotice = .passwordChanged) -> UserMail {
        UserMail(
            to: user, .notice(notice, client: "192.0.2.7"), time: Instant(seconds: 784_111_777))
    }

    static func text(_ mail: UserMail) -> MailText {
        MailText(mail, serverName: "auth.example.com", publicURL: publicURL)
    }
}

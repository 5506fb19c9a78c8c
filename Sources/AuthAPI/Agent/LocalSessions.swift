internal import Cryptography
internal import HTTPEngine
internal import JMAP
internal import LocalMail
internal import StrictJSON

/// The session objects (RFC 8620 §2) for the mail in this process.
struct LocalSessions: Sendable {
    /// Paths of the endpoints, as RFC 6570 level 1 templates where the RFC has variables.
    private static let paths = JMAPDirectory.Paths()

    let limits: JMAPLimits
    private let publicURL: String
    /// Of all that is the same for every account.
    private let digest: [UInt8]

    init(_ mail: LocalMail, publicURL: String) {
        let limits = JMAPLimits(mail.limits)
        self.limits = limits
        self.publicURL = publicURL
        let common = JSONWriter.object { body in
            body.member("capabilities", limits.writeCapabilities)
            body.member("accountCapabilities", limits.writeAccountCapabilities)
            body.member("url", publicURL)
        }
        digest = Array(SHA256.digest(common))
    }

    func session(of account: MailAccount) -> Response {
        SessionObject(
            accountID: account.id, address: account.address, state: state(of: account),
            baseURL: publicURL, paths: Self.paths, primary: JMAPLimits.capabilities.sorted()
        ).response(
            capabilities: limits.writeCapabilities,
            accountCapabilities: limits.writeAccountCapabilities)
    }

    /// Changes exactly when another member of the object changes. Also the `sessionState` of every
    /// response.
    func state(of account: MailAccount) -> String {
        let bytes = digest + Array("\(account.id)\n\(account.address)".utf8)
        return Base64URL.encode(Array(SHA256.digest(bytes).prefix(12)))
    }
}

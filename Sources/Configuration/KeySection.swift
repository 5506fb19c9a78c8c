public import Cryptography

/// `[keys]`: the signing keys, and the directory in which a mail store finds the public ones.
public struct KeySection: Sendable {
    /// The age at which a signing key is replaced; zero for never.
    public var rotateEvery = Duration.zero
    /// Where the server writes the public capability keys. Without it they are not written.
    public var exportDirectory: String?
    public var exportLayout = KeyLayout.pem

    /// The time in which two keys overlap must be shorter than the time in which a key signs.
    static let shortestRotation = Duration.seconds(86_400)

    static let settings = [
        Setting(
            "keys.rotate_every", \.keys.rotateEvery,
            .duration(.zero ... .seconds(3650 * 86_400))),
        Setting("keys.export_directory", \.keys.exportDirectory, Syntax.path.optional),
        Setting("keys.export_layout", \.keys.exportLayout, .oneOf),
    ]
}

/// The files in a directory of public keys.
public enum KeyLayout: String, CaseIterable, Sendable {
    /// One file with the key that signs now: Cyrus IMAP reads every file of its directory, and
    /// accepts the tokens of one RSA key only.
    case cyrus
    /// `default/<alg>/<kid>` for every published key, as Dovecot looks them up.
    case dovecot
    /// `<kid>.pem` for every published key.
    case pem

    /// Whether the mail store that reads the layout verifies signatures of this algorithm.
    public func takes(_ algorithm: SignatureAlgorithm) -> Bool {
        switch self {
        case .cyrus: algorithm == .rs256
        case .dovecot: algorithm != .edDSA
        case .pem: true
        }
    }

    /// Clauses for an error: the mail store that does not verify the algorithm, and the remedy.
    public func mismatch(with algorithm: SignatureAlgorithm) -> (problem: String, remedy: String) {
        let taken = SignatureAlgorithm.allCases.filter(takes).map { "\"\($0.rawValue)\"" }
        let store = self == .cyrus ? "Cyrus IMAP" : "Dovecot"
        return (
            "\(store), for which the layout \"\(rawValue)\" is, does not verify"
                + " \(algorithm.rawValue)",
            "use \(taken.joined(separator: " or "))"
        )
    }
}

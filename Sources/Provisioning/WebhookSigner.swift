internal import AuthCore
internal import Cryptography

/// Signs the messages to the receivers of events, in the form of Standard Webhooks
/// (standardwebhooks.com): HMAC-SHA256 over the id, the time of the attempt and the body.
struct WebhookSigner: Sendable {
    /// Of one secret, decoded.
    static let secretBytes = 24...64
    /// Several, so that a secret can be replaced while the receiver still verifies with the old
    /// one.
    static let maxSecrets = 4
    static let accepted =
        "1 to \(maxSecrets) lines, each \"whsec_\" and the base64 of \(secretBytes.lowerBound) to"
        + " \(secretBytes.upperBound) random bytes"

    private let keys: [HMACKey]

    /// - Parameter file: the content of the secret file, as ``accepted`` says; the prefix may be
    ///   missing.
    init?(file: [UInt8]) {
        var keys: [HMACKey] = []
        for line in file.split(separator: UInt8(ascii: "\n")) {
            var line = line
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            guard !line.isEmpty else { continue }
            if line.starts(with: WebhookSecret.prefix.utf8) {
                line = line.dropFirst(WebhookSecret.prefix.utf8.count)
            }
            guard var secret = Base64.decode(line), Self.secretBytes.contains(secret.count) else {
                return nil
            }
            keys.append(HMACKey(secret: secret))
            secret.wipe()
        }
        guard (1...Self.maxSecrets).contains(keys.count) else { return nil }
        self.keys = keys
    }

    /// - Parameter secret: of a user's webhook, decoded.
    init(secret: [UInt8]) {
        keys = [HMACKey(secret: secret)]
    }

    /// The header fields that name and sign a message.
    func fields(
        of id: String, _ body: [UInt8], at now: Instant
    ) -> [(name: String, value: String)] {
        let message = Array("\(id).\(now.seconds).".utf8) + body
        let signatures = keys.map { "v1,\(Base64.encode($0.authenticate(message)))" }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(now.seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}

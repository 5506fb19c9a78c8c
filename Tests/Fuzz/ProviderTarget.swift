import Cryptography
import StrictJSON

@testable import IdentityProviders

private let issuer = "https://id.example"
private let expectation = IDToken.Expectation(
    issuer: issuer, clientID: "client", nonce: "nonce", now: 1_700_000_000)

/// The first byte says what the rest is: metadata, a key set, an ID token after the key set that
/// verifies it and a line feed, a token response, user info, or the user and the emails of GitHub
/// with a line feed between them.
func checkProvider(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind {
    case UInt8(ascii: "m"): checkMetadata(bytes)
    case UInt8(ascii: "k"):
        guard let set = try? KeySet(bytes) else { return }
        precondition((1...ProviderLimits.keys).contains(set.count))
    case UInt8(ascii: "t"): checkIDToken(bytes)
    case UInt8(ascii: "r"):
        guard let response = try? TokenResponse(status: 200, bytes) else { return }
        precondition(response.accessToken.utf8.allSatisfy { (0x21...0x7e).contains($0) })
    case UInt8(ascii: "u"):
        if let identity = try? UserInfo.identity(bytes) { check(identity) }
    default:
        let (user, emails) = halves(bytes)
        guard let identity = try? GitHubUser.identity(user: user, emails: emails) else { return }
        check(identity)
        precondition(identity.subject.utf8.allSatisfy { (0x30...0x39).contains($0) })
    }
}

private func checkMetadata(_ bytes: [UInt8]) {
    let metadata = try? ProviderMetadata(bytes, of: issuer) { $0.hasPrefix("https://") }
    guard let metadata else { return }
    let urls = [
        metadata.authorizationEndpoint, metadata.tokenEndpoint, metadata.keySetURL,
        metadata.userInfoEndpoint ?? issuer,
    ]
    precondition(urls.allSatisfy { $0.hasPrefix("https://") })
}

/// A token that is accepted is accepted with its own bytes only.
private func checkIDToken(_ bytes: [UInt8]) {
    let (document, token) = halves(bytes)
    let text = String(decoding: token, as: UTF8.self)
    guard let set = try? KeySet(document), let read = try? IDToken(text),
        let identity = try? read.verified(by: set, expectation)
    else { return }
    precondition(read.isSigned(byKeyOf: set))
    check(identity)
    let last = text.hasSuffix("A") ? "B" : "A"
    let changed = try? IDToken(text.dropLast() + last).verified(by: set, expectation)
    precondition(changed == nil)
}

private func check(_ identity: ProviderIdentity) {
    precondition((1...ProviderLimits.subject).contains(identity.subject.utf8.count))
}

private func halves(_ bytes: [UInt8]) -> ([UInt8], [UInt8]) {
    let end = bytes.firstIndex(of: 0x0a) ?? bytes.endIndex
    return (Array(bytes[..<end]), Array(bytes[end...].dropFirst()))
}

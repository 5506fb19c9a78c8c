import Networking
import StrictJSON

@testable import AuthCore
@testable import Cryptography
@testable import Fetching

/// An error is reported within the text, and an object that is written again is the same.
func checkJSON(_ input: [UInt8]) {
    do throws(JSONError) {
        guard case .object(let object) = try JSONValue.parse(input) else { return }
        let written = JSONWriter.object { writer in
            for member in object.members { writer.member(member.name, value: member.value) }
        }
        precondition((try? JSONValue.parse(written)) == .object(object))
    } catch {
        precondition((0...input.count).contains(error.offset))
    }
}

/// A token has one text: what was decoded gives the same bytes again.
func checkToken(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    guard let token = CompactToken(text) else { return }
    let again =
        String(decoding: token.signedBytes, as: UTF8.self) + "."
        + Base64URL.encode(token.signature)
    precondition(again == text, "two texts are one token")
    _ = token.claims
}

/// An encoded hash has one text, and its costs are within the bounds. If it is cheap, the kernel and
/// libargon2 compute the same tag for it.
func checkHash(_ input: [UInt8]) {
    guard let hash = Argon2Hash(encoded: input, within: .served) else { return }
    precondition(Array(hash.encoded.utf8) == input, "two texts are one hash")
    precondition(hash.cost.memoryKiB <= 65_536 && hash.cost.iterations <= 10)
    guard hash.cost.memoryKiB * hash.cost.iterations <= 1_000 else { return }
    let tags = [Argon2.Kernel.best, Argon2.Kernel.choose(.libargon2).kernel].map { kernel in
        try? Argon2Hash(
            password: input, variant: hash.variant, cost: hash.cost, salt: hash.salt,
            tagBytes: hash.tag.count, kernel: kernel
        ).tag
    }
    precondition(tags[0] != nil && tags[0] == tags[1], "the kernel and libargon2 differ")
}

func checkDNSAnswer(_ input: [UInt8]) {
    guard let answer = try? DNSAnswer(input) else { return }
    for kind in [DNSRecordKind.text, .mailExchanger] {
        guard let values = try? answer.values(kind) else { continue }
        precondition(values.count <= DNSAnswer.maxRecords)
    }
}

/// Addresses of mail and of the network, names of domains, URLs: the normal form of what is
/// accepted is accepted and is its own normal form.
func checkNames(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    if let email = Email(parsing: text) {
        precondition(Email(parsing: email.text) == email)
    }
    if let domain = Domain(parsing: text) {
        precondition(Domain(parsing: domain.text) == domain)
    }
    if let address = IPAddress(text) {
        precondition(IPAddress(address.description) == address)
    }
    if let block = IPBlock(text) {
        precondition(IPBlock("\(block)") == block)
    }
    if let target = try? FetchTarget(text, under: FetchRules()) {
        precondition((try? FetchTarget(target.url, under: FetchRules()))?.url == target.url)
    }
}

public import Cryptography

/// An authenticator with one credential and the browser before it. What it sends can be changed
/// member by member.
public struct SoftAuthenticator {
    public static let (userPresent, userVerified): (UInt8, UInt8) = (1, 4)

    public let key: PrivateKey
    public var id: [UInt8]
    public var site = "example.org"
    public var origin = "https://example.org"
    /// Of the authenticator data, without the one that says that there is a credential.
    public var flags = userPresent | userVerified
    /// The signature counter of the next assertion.
    public var count: UInt32 = 0
    /// `type` of the client data; `nil` for the right one.
    public var type: String?
    /// Members of the client data, beginning with a comma.
    public var otherMembers = ""
    /// `fmt` and `attStmt` in CBOR.
    public var format = "none"
    public var statement: [UInt8] = [0xA0]

    public init(_ algorithm: SignatureAlgorithm = .edDSA, id: [UInt8] = Array(1...16)) throws {
        key = try PrivateKey.generate(algorithm)
        self.id = id
    }

    /// The answer to `navigator.credentials.create()`.
    public func registration(
        _ challenge: [UInt8]
    ) -> (clientData: [UInt8], attestationObject: [UInt8]) {
        (
            clientData(type ?? "webauthn.create", challenge),
            CBOR.map([
                (CBOR.text("fmt"), CBOR.text(format)), (CBOR.text("attStmt"), statement),
                (CBOR.text("authData"), CBOR.bytes(registrationData)),
            ])
        )
    }

    /// The authenticator data of a registration.
    public var registrationData: [UInt8] {
        var bytes = data(flags | 0x40)
        bytes += [UInt8](repeating: 0, count: 16)
        bytes += [UInt8(id.count >> 8), UInt8(id.count & 0xFF)]
        return bytes + id + coseKey
    }

    /// The answer to `navigator.credentials.get()`.
    public func assertion(
        _ challenge: [UInt8]
    ) throws -> (clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8]) {
        let clientData = clientData(type ?? "webauthn.get", challenge)
        let data = data(flags)
        return (clientData, data, try sign(data + SHA256.digest(clientData)))
    }

    public func sign(_ message: [UInt8]) throws -> [UInt8] {
        let signature = try key.sign(message)
        guard key.algorithm == .es256 else { return signature }
        var numbers: [UInt8] = []
        for number in [signature.prefix(32), signature.suffix(32)] {
            var digits = Array(number.drop { $0 == 0 })
            if digits.first ?? 0x80 >= 0x80 { digits.insert(0, at: 0) }
            numbers += [0x02, UInt8(digits.count)]
            numbers += digits
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }

    public var coseKey: [UInt8] {
        func number(_ value: Int) -> [UInt8] { CBOR.integer(value) }
        let members: [(Int, [UInt8])] =
            switch key.publicKey.parameters {
            case .p256(let x, let y):
                [
                    (1, number(2)), (3, number(-7)), (-1, number(1)), (-2, CBOR.bytes(x)),
                    (-3, CBOR.bytes(y)),
                ]
            case .ed25519(let x):
                [(1, number(1)), (3, number(-8)), (-1, number(6)), (-2, CBOR.bytes(x))]
            case .rsa(let modulus, let exponent):
                [
                    (1, number(3)), (3, number(-257)), (-1, CBOR.bytes(modulus)),
                    (-2, CBOR.bytes(exponent)),
                ]
            }
        return CBOR.map(members.map { (number($0.0), $0.1) })
    }

    private func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        let challenge = Base64URL.encode(challenge)
        let members = #""type":"\#(type)","challenge":"\#(challenge)","origin":"\#(origin)""#
        return Array("{\(members)\(otherMembers)}".utf8)
    }

    private func data(_ flags: UInt8) -> [UInt8] {
        let counter = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        return SHA256.digest(Array(site.utf8)) + [flags] + counter
    }
}

/// Writes CBOR in its shortest form.
public enum CBOR {
    public static func integer(_ value: Int) -> [UInt8] {
        value < 0 ? head(1, -1 - value) : head(0, value)
    }

    public static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

    public static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + text.utf8 }

    public static func map(_ members: [(key: [UInt8], value: [UInt8])]) -> [UInt8] {
        head(5, members.count) + members.flatMap { $0.key + $0.value }
    }

    public static func head(_ type: UInt8, _ number: Int) -> [UInt8] {
        let size = number < 24 ? 0 : number < 0x100 ? 1 : number < 0x1_0000 ? 2 : 4
        let short: UInt8 =
            switch size {
            case 0: UInt8(number)
            case 1: 24
            case 2: 25
            default: 26
            }
        var head: [UInt8] = [type << 5 | short]
        for place in (0..<size).reversed() {
            head.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
        }
        return head
    }
}

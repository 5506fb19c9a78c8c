internal import Cryptography
public import StrictJSON

/// A challenge that is answered once, with a passkey or a code. The token holds the whole
/// challenge: nothing is stored until it is spent in the ``ChallengeLedger``.
protocol AnsweredToken: TokenKind {
    /// `jti`: base64url of ``AnsweredChallenge/randomBytes`` random bytes, which are also the
    /// challenge that an authenticator signs.
    var id: String { get }
}

enum AnsweredChallenge {
    static let lifetime: Duration = .seconds(300)
    /// Web Authentication §13.4.3 requires at least 16.
    static let randomBytes = 32
}

extension AnsweredToken {
    /// The bytes that the authenticator signs.
    var challenge: [UInt8] { Base64URL.decode(id.utf8) ?? [] }
}

/// The challenge for the registration of a passkey.
public struct PasskeyRegistrationToken: AnsweredToken, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "passkey-registration+jwt"
    public static func audience(in realm: Realm) -> String? {
        realm.issuer + "/api/user/passkeys"
    }

    public let id: String
    /// `sub`: the user who asked for it.
    public let userID: UserID

    init(id: String, userID: UserID) {
        self.id = id
        self.userID = userID
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let userID = claims.string("sub").flatMap(UserID.init)
        else { return nil }
        self.init(id: id, userID: userID)
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("sub", userID.text)
    }
}

/// The challenge for a login with a passkey.
public struct PasskeyLoginToken: AnsweredToken, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "passkey-login+jwt"
    public static func audience(in realm: Realm) -> String? {
        realm.issuer + "/api/user/login/passkey"
    }

    public let id: String

    init(id: String) {
        self.id = id
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti") else { return nil }
        self.init(id: id)
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
    }
}

/// The challenge for a second factor, after the first one was checked.
public struct SecondFactorToken: AnsweredToken, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "second-factor+jwt"
    public static func audience(in realm: Realm) -> String? {
        realm.issuer + "/api/user/login/second"
    }

    public let id: String
    /// `sub`.
    public let userID: UserID
    /// `ver`: the user's credential version when the first factor was checked.
    public let credentialVersion: Int64
    /// `amr`: the first factor.
    public let method: UserSession.Method

    init(id: String, user: User, method: UserSession.Method) {
        self.id = id
        userID = user.id
        credentialVersion = user.credentialVersion
        self.method = method
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let userID = claims.string("sub").flatMap(UserID.init),
            let version = claims.integer("ver"),
            let method = claims.string("amr").flatMap(UserSession.Method.init)
        else { return nil }
        self.id = id
        self.userID = userID
        credentialVersion = version
        self.method = method
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("sub", userID.text)
        claims.member("ver", credentialVersion)
        claims.member("amr", method.text)
    }
}

/// The secret of one-time codes that a user has not confirmed yet. It contains the secret, which
/// the user has anyway; nothing is stored for a user who does not go on.
public struct TOTPEnrolmentToken: AnsweredToken, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "totp-enrolment+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/user/totp" }

    public let id: String
    /// `sub`.
    public let userID: UserID
    let secret: [UInt8]

    init(id: String, userID: UserID, secret: [UInt8]) {
        self.id = id
        self.userID = userID
        self.secret = secret
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let userID = claims.string("sub").flatMap(UserID.init),
            let secret = claims.string("secret").flatMap({ Base32.decode($0.utf8) }),
            secret.count == TOTP.secretBytes
        else { return nil }
        self.init(id: id, userID: userID, secret: secret)
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("sub", userID.text)
        claims.member("secret", Base32.encode(secret))
    }
}

internal import Cryptography
public import Scheduling
internal import StrictJSON

/// Signs and verifies tokens, each kind with the keys of its use.
public struct TokenAuthority: Sendable {
    /// The allowed difference between the clocks of servers on one database: `iat` may be that far
    /// in the future.
    public static let clockSkew: Duration = .seconds(60)

    public let realm: Realm
    private let keys: KeyRing
    private let signers: WorkerPool

    /// - Parameter signers: the pool on which slow signatures are computed.
    public init(realm: Realm, keys: KeyRing, signers: WorkerPool) {
        self.realm = realm
        self.keys = keys
        self.signers = signers
    }

    /// Signs `token`. On a first start it waits until the key has been generated.
    /// - Parameters:
    ///   - lifetime: from now to `exp`; whole seconds. Not used for a minimal token.
    ///   - caller: who gets the token, and the time.
    public func sign<Kind: TokenKind>(
        _ token: Kind, lifetime: Duration, for caller: Caller
    ) async throws -> String {
        let now = caller.now
        let key = try await keys.signingKey(for: Kind.use, at: now)
        var message = header(of: Kind.self, key: key)
        message.append(UInt8(ascii: "."))
        Base64URL.append(claims(of: token, lifetime: lifetime, at: now), to: &message)
        let signature: [UInt8]
        switch key.secret {
        case .hmac(let hmac): signature = hmac.authenticate(message)
        case .keyPair(let pair):
            signature =
                pair.algorithm.isSlow
                ? try await signers.run(for: caller.address) { [message] in
                    try pair.sign(message)
                } : try pair.sign(message)
        }
        message.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &message)
        return String(decoding: message, as: UTF8.self)
    }

    /// - Returns: the token and its expiry; `nil` unless `text` is a token of this kind that this
    ///   server signed and that is valid now. The cause is not reported. A minimal token has no
    ///   expiry, so it is never valid here.
    public func verify<Kind: TokenKind>(
        _ text: String, as kind: Kind.Type, at now: Instant
    ) async throws -> (token: Kind, expiry: Instant)? {
        guard let found = try await read(text, as: kind, at: now), let expiry = found.expiry else {
            return nil
        }
        return (found.token, expiry)
    }

    /// Like ``verify(_:as:at:)``, with the time at which the token was signed. The caller decides
    /// how long a minimal token is valid after that.
    public func read<Kind: TokenKind>(
        _ text: String, as kind: Kind.Type, at now: Instant
    ) async throws -> VerifiedToken<Kind>? {
        guard let compact = CompactToken(text), compact.header.string("typ") == Kind.type,
            let algorithm = compact.header.string("alg"), Kind.use.algorithms.contains(algorithm),
            compact.header["crit"] == nil
        else { return nil }
        guard try await isSigned(compact, algorithm, as: Kind.self, at: now),
            let claims = compact.claims,
            let issued = claims.integer("iat").map(Instant.init(seconds:)),
            issued <= now.advanced(by: Self.clockSkew),
            let token = Kind(claims: claims)
        else { return nil }
        if Kind.isMinimal { return VerifiedToken(token: token, issued: issued, expiry: nil) }
        guard claims.string("iss") == Kind.issuer(in: realm),
            hasAudience(of: Kind.self, claims),
            let expiry = claims.integer("exp").map(Instant.init(seconds:)), now < expiry
        else { return nil }
        return VerifiedToken(token: token, issued: issued, expiry: expiry)
    }

    private func hasAudience<Kind: TokenKind>(of kind: Kind.Type, _ claims: JSONObject) -> Bool {
        guard let audience = Kind.audience(in: realm) else { return claims["aud"] == nil }
        return claims.string("aud") == audience
    }

    private func isSigned<Kind: TokenKind>(
        _ compact: CompactToken, _ algorithm: String, as kind: Kind.Type, at now: Instant
    ) async throws -> Bool {
        let use = Kind.use
        let candidates: [VerificationKey]
        switch compact.header["kid"] {
        case .string(let id) where !Kind.isMinimal:
            guard let key = try await keys.verificationKey(id: id, for: use, at: now) else {
                return false
            }
            candidates = [key]
        case nil where !namesKey(kind):
            candidates = try await keys.verificationKeys(for: use, at: now)
        default: return false
        }
        return candidates.contains {
            $0.algorithm == algorithm && $0.isValid(compact.signature, for: compact.signedBytes)
        }
    }

    private func header<Kind: TokenKind>(of kind: Kind.Type, key: SigningKey) -> [UInt8] {
        var header: [UInt8] = []
        header.reserveCapacity(512)
        Base64URL.append(
            JSONWriter.object { members in
                members.member("alg", key.algorithm)
                members.member("typ", Kind.type)
                if namesKey(kind) { members.member("kid", key.id) }
            }, to: &header)
        return header
    }

    private func namesKey<Kind: TokenKind>(_ kind: Kind.Type) -> Bool {
        !Kind.isMinimal && realm.namesKey(for: Kind.use)
    }

    private func claims<Kind: TokenKind>(
        of token: Kind, lifetime: Duration, at now: Instant
    ) -> [UInt8] {
        JSONWriter.object { claims in
            if Kind.isMinimal {
                token.write(to: &claims)
                claims.member("iat", now.seconds)
                return
            }
            claims.member("iss", Kind.issuer(in: realm))
            if let audience = Kind.audience(in: realm) { claims.member("aud", audience) }
            token.write(to: &claims)
            claims.member("iat", now.seconds)
            claims.member("exp", now.advanced(by: lifetime).seconds)
        }
    }
}

/// A token whose signature and claims have been verified.
public struct VerifiedToken<Kind: TokenKind>: Sendable {
    public let token: Kind
    public let issued: Instant
    /// `nil` for a minimal token.
    public let expiry: Instant?
}

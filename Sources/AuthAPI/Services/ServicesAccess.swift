internal import AuthCore
internal import Cryptography
internal import HTTPEngine

/// Checks the secret that services send, where there is one.
struct ServicesAccess: Sendable {
    /// The SHA-256 of the secret. Digests are compared, so that the time does not depend on the
    /// length of the secret either.
    private let digest: [UInt8]?

    init(secret: SecretBytes?) {
        digest = secret.map { SHA256.digest($0.bytes) }
    }

    /// For endpoints where `Authorization` is the end user's: the secret is in `X-Services-Secret`.
    var besideAuthorization: Authentication<Void, ServicesError> {
        authentication { _ in [] }
    }

    /// For endpoints where `Authorization` is the service's own: the secret may also be there, as
    /// Basic with any user name or as Bearer, or in the field `client_secret` of a form (RFC 6749
    /// §2.3.1).
    ///
    /// Nothing of these requests is the end user's, so they are never a browser's: a page that is
    /// open in a browser on this machine could otherwise ask where there is no secret.
    var inAuthorization: Authentication<Void, ServicesError> {
        authentication(isForPages: false) { request in
            [
                request.bearerToken.map { Array($0.utf8) }, request.basicCredentials?.password,
                // A body that cannot be read has no secret; the handler reports what is wrong.
                (try? BodyFields(request, named: ["client_secret"]))?["client_secret"]
                    .map { Array($0.utf8) },
            ].compactMap { $0 }
        }
    }

    private func authentication(
        isForPages: Bool = true,
        _ others: @escaping @Sendable (Request) -> [[UInt8]]
    ) -> Authentication<Void, ServicesError> {
        Authentication(limit: .general) { request, _ throws(ServicesError) in
            guard isForPages || !request.isFromPage else { throw .fromPage }
            guard let digest else { return }
            let sent = request.headers.all("x-services-secret").map { Array($0.utf8) }
            let isSent = (sent + others(request)).contains {
                ConstantTime.equal(SHA256.digest($0), digest)
            }
            guard isSent else { throw .wrongSecret }
        }
    }
}

import COpenSSL
import Glibc

@testable import Fetching

/// A certificate authority for one test, the certificates that it signs, and a server that uses
/// them. The files are in a directory that is deleted with this object.
final class LocalAuthority: Sendable {
    struct SetupError: Error {
        let what: String
    }

    /// When a certificate is valid, in seconds from now.
    struct Lifetime: Sendable {
        let start: Int
        let end: Int

        static let current = Lifetime(start: -3600, end: 3600)
        static let past = Lifetime(start: -7200, end: -3600)
    }

    let directory: String

    /// The authority's certificate, PEM.
    var certificate: String { "\(directory)/ca.pem" }

    /// - Parameter names: each gets a certificate and a key.
    init(names: [(name: String, lifetime: Lifetime)]) throws {
        // A server that writes to a closed connection gets an error instead of a signal.
        signal(SIGPIPE, SIG_IGN)
        var template = Array("/tmp/postern-authority-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SetupError(what: "no directory") }
        directory = String(
            decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let key = try Self.key()
        defer { EVP_PKEY_free(key) }
        let root = try Self.certificate(
            name: "Test authority", key: key, lifetime: .current, extension: Self.authority,
            signedBy: nil, with: key)
        defer { X509_free(root) }
        try Self.save(root, nil, at: "\(directory)/ca")
        for (name, lifetime) in names {
            let own = try Self.key()
            defer { EVP_PKEY_free(own) }
            let leaf = try Self.certificate(
                name: name, key: own, lifetime: lifetime, extension: Self.subject(name),
                signedBy: root, with: key)
            defer { X509_free(leaf) }
            try Self.save(leaf, own, at: "\(directory)/\(name)")
        }
        self.names = names.map(\.name)
    }

    private let names: [String]

    deinit {
        // Its name is computed from the certificate, which is deleted next.
        if let link = try? hashedName() { unlink("\(directory)/\(link)") }
        for name in names + ["ca"] {
            unlink("\(directory)/\(name).pem")
            unlink("\(directory)/\(name).key")
        }
        rmdir(directory)
    }

    /// The directory, with a link by whose name the authority is found by its hash.
    func hashedDirectory() throws -> String {
        let link = try hashedName()
        guard symlink("ca.pem", "\(directory)/\(link)") == 0 || errno == EEXIST else {
            throw SetupError(what: link)
        }
        return directory
    }

    private func hashedName() throws -> String {
        let file = BIO_new_file(certificate, "r")
        defer { BIO_free(file) }
        let root = PEM_read_bio_X509(file, nil, nil, nil)
        defer { X509_free(root) }
        guard let root else { throw SetupError(what: certificate) }
        let hash = String(X509_NAME_hash_ex(X509_get_subject_name(root), nil, nil, nil), radix: 16)
        return String(repeating: "0", count: 8 - hash.count) + hash + ".0"
    }

    /// A server with the certificate of `name` that answers every request with `answer`.
    /// - Parameter keepsOpen: whether it waits for another request on the connection.
    func listener(as name: String, answer: String, keepsOpen: Bool = false) -> Listener {
        let path = "\(directory)/\(name)"
        return Listener { connection in
            let context = SSL_CTX_new(TLS_server_method())
            defer { SSL_CTX_free(context) }
            guard SSL_CTX_use_certificate_file(context, "\(path).pem", SSL_FILETYPE_PEM) == 1,
                SSL_CTX_use_PrivateKey_file(context, "\(path).key", SSL_FILETYPE_PEM) == 1
            else { return }
            let session = SSL_new(context)
            defer { SSL_free(session) }
            guard SSL_set_fd(session, connection) == 1, SSL_accept(session) == 1 else { return }
            let bytes = Array(answer.utf8)
            repeat {
                var head = ""
                var byte: UInt8 = 0
                while !head.hasSuffix("\r\n\r\n") {
                    guard SSL_read(session, &byte, 1) == 1 else { return }
                    head.unicodeScalars.append(Unicode.Scalar(byte))
                }
                SSL_write(session, bytes, Int32(bytes.count))
            } while keepsOpen
            SSL_shutdown(session)
        }
    }
}

extension LocalAuthority {
    /// An extension by its number, and its value in DER.
    private typealias Extension = (number: Int32, value: [UInt8])

    /// Basic constraints: CA.
    private static let authority: Extension = (NID_basic_constraints, [0x30, 3, 1, 1, 0xff])

    /// Subject alternative name: one DNS name of less than 126 bytes.
    private static func subject(_ name: String) -> Extension {
        let bytes = Array(name.utf8)
        let count = UInt8(bytes.count)
        return (NID_subject_alt_name, [0x30, count + 2, 0x82, count] + bytes)
    }

    private static func key() throws -> OpaquePointer {
        let maker = EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil)
        defer { EVP_PKEY_CTX_free(maker) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(maker) == 1, EVP_PKEY_keygen(maker, &key) == 1, let key else {
            throw SetupError(what: "no key")
        }
        return key
    }

    private static func certificate(
        name: String, key: OpaquePointer, lifetime: Lifetime, extension added: Extension,
        signedBy issuer: OpaquePointer?, with issuerKey: OpaquePointer
    ) throws -> OpaquePointer {
        guard let made = X509_new() else { throw SetupError(what: "no certificate") }
        X509_set_version(made, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(made), issuer == nil ? 1 : 2)
        X509_gmtime_adj(X509_getm_notBefore(made), lifetime.start)
        X509_gmtime_adj(X509_getm_notAfter(made), lifetime.end)
        X509_set_pubkey(made, key)
        let subject = X509_get_subject_name(made)
        // MBSTRING_ASC
        X509_NAME_add_entry_by_txt(subject, "CN", 0x1001, name, -1, -1, 0)
        X509_set_issuer_name(made, issuer.map { X509_get_subject_name($0) } ?? subject)
        let value = ASN1_OCTET_STRING_new()
        defer { ASN1_OCTET_STRING_free(value) }
        ASN1_OCTET_STRING_set(value, added.value, Int32(added.value.count))
        let item = X509_EXTENSION_create_by_NID(nil, added.number, 1, value)
        defer { X509_EXTENSION_free(item) }
        guard X509_add_ext(made, item, -1) == 1, X509_sign(made, issuerKey, nil) > 0 else {
            X509_free(made)
            throw SetupError(what: "no signature")
        }
        return made
    }

    private static func save(
        _ certificate: OpaquePointer, _ key: OpaquePointer?, at path: String
    ) throws {
        let file = BIO_new_file("\(path).pem", "w")
        defer { BIO_free(file) }
        guard PEM_write_bio_X509(file, certificate) == 1 else { throw SetupError(what: path) }
        guard let key else { return }
        let keyFile = BIO_new_file("\(path).key", "w")
        defer { BIO_free(keyFile) }
        guard PEM_write_bio_PrivateKey(keyFile, key, nil, nil, 0, nil, nil) == 1 else {
            throw SetupError(what: path)
        }
    }
}

import COpenSSL
import Glibc

/// A certificate that is made for one test, and its key, as PEM.
struct TestCertificate: Sendable {
    struct SetupError: Error {}

    let certificate: [UInt8]
    let key: [UInt8]
    /// The same, for a chain or a client.
    var pem: [UInt8] { certificate + key }

    /// - Parameters:
    ///   - names: as OpenSSL writes a subject's alternative names, such as `DNS:a.test`.
    ///   - lifetime: in seconds from now.
    init(_ names: String, lifetime: ClosedRange<Int> = -3600...3600) throws {
        // A server that writes to a closed connection gets an error instead of a signal.
        signal(SIGPIPE, SIG_IGN)
        let key = try Self.makeKey()
        defer { EVP_PKEY_free(key) }
        guard let made = X509_new() else { throw SetupError() }
        defer { X509_free(made) }
        X509_set_version(made, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(made), Int.random(in: 1...Int(Int32.max)))
        X509_gmtime_adj(X509_getm_notBefore(made), lifetime.lowerBound)
        X509_gmtime_adj(X509_getm_notAfter(made), lifetime.upperBound)
        X509_set_pubkey(made, key)
        let subject = X509_get_subject_name(made)
        // MBSTRING_ASC
        X509_NAME_add_entry_by_txt(subject, "CN", 0x1001, "Test", -1, -1, 0)
        X509_set_issuer_name(made, subject)
        if !names.isEmpty {
            let item = X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, names)
            defer { X509_EXTENSION_free(item) }
            guard X509_add_ext(made, item, -1) == 1 else { throw SetupError() }
        }
        guard X509_sign(made, key, EVP_sha256()) > 0 else { throw SetupError() }
        certificate = Self.bytes { PEM_write_bio_X509($0, made) }
        self.key = Self.bytes { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// The key, encrypted with a password.
    func encryptedKey() throws -> [UInt8] {
        let key = Self.read(key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer { EVP_PKEY_free(key) }
        let password = Array("secret".utf8)
        return Self.bytes {
            PEM_write_bio_PrivateKey(
                $0, key, EVP_aes_256_cbc(), password, Int32(password.count), nil, nil)
        }
    }

    /// An OCSP response in DER about the certificate, which is its own issuer.
    /// - Parameter status: such as `V_OCSP_CERTSTATUS_GOOD`.
    func ocspResponse(status: Int32) throws -> [UInt8] {
        let certificate = Self.read(certificate) { PEM_read_bio_X509($0, nil, nil, nil) }
        let key = Self.read(key) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        let id = OCSP_cert_to_id(EVP_sha1(), certificate, certificate)
        let now = X509_gmtime_adj(nil, 0)
        let basic = OCSP_BASICRESP_new()
        defer {
            X509_free(certificate)
            EVP_PKEY_free(key)
            OCSP_CERTID_free(id)
            ASN1_TIME_free(now)
            OCSP_BASICRESP_free(basic)
        }
        let noReason: Int32 = -1
        guard OCSP_basic_add1_status(basic, id, status, noReason, now, now, nil) != nil,
            OCSP_basic_sign(basic, certificate, key, EVP_sha256(), nil, 0) == 1
        else { throw SetupError() }
        let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        defer { OCSP_RESPONSE_free(response) }
        var bytes = [UInt8](repeating: 0, count: max(0, Int(i2d_OCSP_RESPONSE(response, nil))))
        bytes.withUnsafeMutableBufferPointer { target in
            var cursor = target.baseAddress
            _ = i2d_OCSP_RESPONSE(response, &cursor)
        }
        return bytes
    }

    private static func makeKey() throws -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw SetupError() }
        return made
    }

    private static func read(
        _ pem: [UInt8], _ parse: (OpaquePointer?) -> OpaquePointer?
    ) -> OpaquePointer? {
        pem.withUnsafeBytes { bytes in
            let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(source) }
            return parse(source)
        }
    }

    private static func bytes(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let target = BIO_new(BIO_s_mem())
        defer { BIO_free(target) }
        guard write(target) == 1 else { return [] }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        BIO_read(target, &bytes, Int32(bytes.count))
        return bytes
    }
}

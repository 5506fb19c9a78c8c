internal import COpenSSL
internal import Cryptography
internal import Glibc
public import Networking

/// The certificate of a TLS server, with its chain, its private key and its OCSP response.
///
/// Guarantees: the key is that of the certificate, and the response, if there is one, is about it.
/// Whether the certificate is valid now is not checked.
public final class TLSCertificate: Sendable {
    /// The DNS names that it is for, in lower case; also `*.example.com`.
    public let names: [String]
    /// The IP addresses that it is for.
    public let addresses: [IPAddress]
    /// When it is valid, in seconds since 1970-01-01T00:00:00Z.
    public let validity: ClosedRange<Int64>
    let response: OCSPResponse?
    /// The certificate and those of its issuers.
    private let chain: [ForeignHandle]
    private let key: ForeignHandle

    /// - Parameters:
    ///   - certificatePEM: the certificate, followed by those of its issuers.
    ///   - keyPEM: its private key; may be the same file.
    ///   - ocspDER: the response that is stapled to handshakes (RFC 6066 §8).
    public init(
        certificatePEM: [UInt8], keyPEM: [UInt8], ocspDER: [UInt8]? = nil
    ) throws(TLSError) {
        let chain = PEMFile.certificates(in: certificatePEM)
        let key = PEMFile.privateKey(in: keyPEM)
        do throws(TLSError) {
            guard let leaf = chain.first else { throw .noCertificate }
            guard let key else { throw .noPrivateKey }
            guard X509_check_private_key(leaf, key) == 1 else { throw .otherKey }
            let names = Names(of: leaf)
            self.names = names.hosts
            addresses = names.addresses
            validity = try Self.validity(of: leaf)
            response = if let ocspDER { try OCSPResponse(ocspDER, about: leaf) } else { nil }
            self.chain = chain.map(ForeignHandle.init)
            // Last: from here on `deinit` frees them.
            self.key = ForeignHandle(key)
        } catch {
            for certificate in chain { X509_free(certificate) }
            EVP_PKEY_free(key)
            ERR_clear_error()
            throw error
        }
    }

    deinit {
        for certificate in chain { X509_free(certificate.pointer) }
        EVP_PKEY_free(key.pointer)
    }

    /// When the OCSP response is out of date and not sent any more; nil where there is none, or
    /// where it does not say.
    public var responseExpiry: Int64? { response?.expiry }

    /// Whether a client that connects to this host accepts it (RFC 9525 §6).
    /// - Parameter host: a name, or an address without brackets.
    public func covers(_ host: String) -> Bool {
        if let address = IPAddress(host) { return addresses.contains(address) }
        let host = host.lowercased()
        return names.contains(host) || Self.wildcard(of: host).map(names.contains) ?? false
    }

    /// The name with which a certificate for all names beside `host` covers it.
    static func wildcard(of host: String) -> String? {
        guard let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot > host.startIndex else {
            return nil
        }
        return "*" + host[dot...]
    }

    /// Gives certificate, chain and key to a context.
    func install(in context: OpaquePointer) throws(TLSError) {
        let isInstalled =
            SSL_CTX_use_certificate(context, chain[0].pointer) == 1
            && SSL_CTX_use_PrivateKey(context, key.pointer) == 1
            && chain.dropFirst().allSatisfy {
                SSL_CTX_ctrl(
                    context, SSL_CTRL_CHAIN_CERT, 1, $0.pointer.map(UnsafeMutableRawPointer.init))
                    == 1
            }
        guard isInstalled else { throw .last }
    }

    private static func validity(
        of certificate: OpaquePointer
    ) throws(TLSError) -> ClosedRange<Int64> {
        guard let begin = seconds(X509_get0_notBefore(certificate)),
            let end = seconds(X509_get0_notAfter(certificate)), begin <= end
        else { throw .refused("it is never valid") }
        return begin...end
    }

    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }
}

/// The names in a certificate.
private final class Names {
    private(set) var hosts: [String] = []
    private(set) var addresses: [IPAddress] = []

    init(of certificate: OpaquePointer) {
        postern_each_name(certificate, Unmanaged.passUnretained(self).toOpaque()) {
            context, isAddress, bytes, count in
            guard let context else { return }
            Unmanaged<Names>.fromOpaque(context).takeUnretainedValue()
                .add(UnsafeBufferPointer(start: bytes, count: Int(count)), isAddress != 0)
        }
    }

    private func add(_ bytes: UnsafeBufferPointer<UInt8>, _ isAddress: Bool) {
        if isAddress {
            if let address = IPAddress(bytes: Array(bytes)[...]) { addresses.append(address) }
        } else if bytes.allSatisfy({ (0x21...0x7e).contains($0) }) {
            hosts.append(String(decoding: bytes, as: UTF8.self).lowercased())
        }
    }
}

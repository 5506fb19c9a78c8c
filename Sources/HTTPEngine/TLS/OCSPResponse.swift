internal import COpenSSL

/// An OCSP response (RFC 6960) that says that a certificate is good. Its signature is not checked:
/// clients do that.
struct OCSPResponse: Sendable {
    let bytes: [UInt8]
    /// When a newer one is due, in seconds since 1970-01-01T00:00:00Z.
    let expiry: Int64?

    /// - Parameter certificate: the one that it must be about.
    init(_ der: [UInt8], about certificate: OpaquePointer) throws(TLSError) {
        defer { ERR_clear_error() }
        let response = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        }
        defer { OCSP_RESPONSE_free(response) }
        guard let response, OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = OCSP_response_get1_basic(response)
        else { throw .noOCSPResponse }
        defer { OCSP_BASICRESP_free(basic) }
        let serial = X509_get0_serialNumber(certificate)
        for index in 0..<OCSP_resp_count(basic) {
            guard let single = OCSP_resp_get0(basic, index) else { continue }
            var other: UnsafeMutablePointer<ASN1_INTEGER>?
            let id = OpaquePointer?(OCSP_SINGLERESP_get0_id(single))
            guard OCSP_id_get0_info(nil, nil, nil, &other, id) == 1,
                ASN1_INTEGER_cmp(other, serial) == 0
            else { continue }
            var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            let status = OCSP_single_get0_status(single, nil, nil, nil, &next)
            guard status == V_OCSP_CERTSTATUS_GOOD else { break }
            bytes = der
            expiry = TLSCertificate.seconds(next)
            return
        }
        throw .otherOCSPResponse
    }

    func isCurrent(at seconds: Int64) -> Bool { expiry.map { seconds < $0 } ?? true }
}

import COpenSSL
import Networking
import Testing

@testable import HTTPEngine

@Suite struct TLSCertificateTests {
    @Test func itHasItsNamesAddressesAndTimes() throws {
        let made = try TestCertificate(
            "DNS:a.test,DNS:*.B.test,IP:192.0.2.1,IP:2001:db8::1", lifetime: -60...3600)
        let certificate = try TLSCertificate(certificatePEM: made.certificate, keyPEM: made.key)
        #expect(certificate.names == ["a.test", "*.b.test"])
        #expect(certificate.addresses.map(\.description) == ["192.0.2.1", "2001:db8::1"])
        #expect(certificate.validity.upperBound - certificate.validity.lowerBound == 3660)
        #expect(certificate.responseExpiry == nil)
        for host in ["a.test", "A.Test", "x.b.test", "192.0.2.1", "2001:db8::1"] {
            #expect(certificate.covers(host), "\(host)")
        }
        for host in ["b.test", "x.y.b.test", ".b.test", "test", "192.0.2.2", "*.b.test."] {
            #expect(!certificate.covers(host), "\(host)")
        }
    }

    @Test func certificateAndKeyMayBeOneFile() throws {
        let made = try TestCertificate("DNS:a.test")
        let both = made.key + made.certificate
        #expect(throws: Never.self) { try TLSCertificate(certificatePEM: both, keyPEM: both) }
    }

    @Test func whatIsNotAPairIsRefused() throws {
        let (made, other) = (try TestCertificate("DNS:a.test"), try TestCertificate("DNS:a.test"))
        let encrypted = try made.encryptedKey()
        let refused: [(certificate: [UInt8], key: [UInt8], TLSError)] = [
            ([], made.key, .noCertificate), (made.key, made.key, .noCertificate),
            (Array(made.certificate.dropLast(40)), made.key, .noCertificate),
            (made.certificate, [], .noPrivateKey),
            (made.certificate, made.certificate, .noPrivateKey),
            (made.certificate, encrypted, .noPrivateKey), (made.certificate, other.key, .otherKey),
        ]
        for (certificate, key, error) in refused {
            #expect(throws: error) {
                try TLSCertificate(certificatePEM: certificate, keyPEM: key)
            }
        }
        #expect(ERR_peek_error() == 0)
    }

    @Test func anOCSPResponseMustBeOne() throws {
        let made = try TestCertificate("DNS:a.test")
        // A response with the status "try later" (RFC 6960 §4.2.1).
        for bytes: [UInt8] in [[], [0x30], [0x30, 3, 0x0a, 1, 3]] {
            #expect(throws: TLSError.noOCSPResponse) {
                try TLSCertificate(
                    certificatePEM: made.certificate, keyPEM: made.key, ocspDER: bytes)
            }
        }
    }

    @Test func anOCSPResponseMustSayThatThisCertificateIsGood() throws {
        let (made, other) = (try TestCertificate("DNS:a.test"), try TestCertificate("DNS:a.test"))
        let good = try made.ocspResponse(status: V_OCSP_CERTSTATUS_GOOD)
        let certificate = try TLSCertificate(
            certificatePEM: made.certificate, keyPEM: made.key, ocspDER: good)
        #expect(certificate.response?.bytes == good)
        for bytes in [
            try other.ocspResponse(status: V_OCSP_CERTSTATUS_GOOD),
            try made.ocspResponse(status: V_OCSP_CERTSTATUS_REVOKED),
            try made.ocspResponse(status: V_OCSP_CERTSTATUS_UNKNOWN),
        ] {
            #expect(throws: TLSError.otherOCSPResponse) {
                try TLSCertificate(
                    certificatePEM: made.certificate, keyPEM: made.key, ocspDER: bytes)
            }
        }
        #expect(ERR_peek_error() == 0)
    }

    @Test func aContextNeedsAuthoritiesOfClientsInPEM() throws {
        let made = try TestCertificate("DNS:a.test")
        let certificate = try TLSCertificate(certificatePEM: made.certificate, keyPEM: made.key)
        #expect(throws: TLSError.noAuthority) {
            try TLSContext([certificate], clientAuthorities: made.key, tickets: SessionTickets())
        }
    }
}

@Suite struct TicketKeysTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func after(_ periods: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(periods * Double(TicketKeys.period.nanoseconds)))
    }

    private func isNewest(_ key: TicketKeys.Key, in keys: inout TicketKeys, at now: MonotonicTime)
        -> Bool?
    {
        key.name.withUnsafeBufferPointer { keys.find($0, at: now)?.isNewest }
    }

    @Test func aKeyEncryptsForOnePeriodAndDecryptsForTwo() {
        var keys = TicketKeys(at: start)
        let first = keys.newest(at: after(0.9))
        #expect(isNewest(first, in: &keys, at: after(0.9)) == true)
        let second = keys.newest(at: after(1))
        #expect(second.name != first.name && second.encryption != first.encryption)
        #expect(isNewest(first, in: &keys, at: after(1.9)) == false)
        #expect(isNewest(second, in: &keys, at: after(1.9)) == true)
        #expect(isNewest(first, in: &keys, at: after(2)) == nil)
        #expect(isNewest(second, in: &keys, at: after(2)) == false)
    }

    @Test func aKeyThatWasNotUsedForLongIsDropped() {
        var keys = TicketKeys(at: start)
        let first = keys.newest(at: start)
        #expect(isNewest(first, in: &keys, at: after(2)) == nil)
    }
}

internal import Configuration
internal import Cryptography
internal import HTTPEngine
internal import Platform
internal import Synchronization

/// The certificates of `[tls]`, and the TLS of the listeners that uses them.
///
/// Guarantees: either the contents of all files are loaded, or nothing changes.
final class Certificates: Sendable {
    /// Bytes of a file: a chain of certificates, a key or an OCSP response.
    private static let fileBytes = 65_536

    /// The state of the files when they were last read without an error.
    private struct Content {
        let versions: [File.Version?]
        let expiries: [Int64]
    }

    private let section: TLSSection
    private let tickets = SessionTickets()
    private let publicTLS: ListenerTLS
    private let servicesTLS: ListenerTLS
    private let content: Mutex<Content>

    /// Reads the files.
    /// - Returns: nil where there are no certificates.
    /// - Throws: ``CertificateError``.
    init?(_ config: Config) throws(CertificateError) {
        guard !config.tls.certificates.isEmpty else { return nil }
        section = config.tls
        let versions = Self.versions(of: section)
        let (publicContext, servicesContext, expiries) = try Self.read(section, tickets)
        publicTLS = ListenerTLS(publicContext)
        servicesTLS = ListenerTLS(servicesContext)
        content = Mutex(Content(versions: versions, expiries: expiries))
    }

    func tls(for service: ListenerSettings.Kind) -> ListenerTLS {
        service == .services ? servicesTLS : publicTLS
    }

    /// When the certificates in use expire, in seconds since 1970-01-01T00:00:00Z, each with the
    /// path that `[tls]` has for it.
    var expiries: [(path: String, seconds: Int64)] {
        zip(section.certificates, content.withLock(\.expiries)).map { ($0.certificate, $1) }
    }

    /// Reads the files again. New connections use their present contents.
    /// - Throws: ``CertificateError``; then nothing has changed.
    func reload() throws(CertificateError) {
        // Taken before the files are read, so that a change during the reading is found the next
        // time.
        let now = Self.versions(of: section)
        let (publicContext, servicesContext, expiries) = try Self.read(section, tickets)
        content.withLock { $0 = Content(versions: now, expiries: expiries) }
        publicTLS.replace(with: publicContext)
        servicesTLS.replace(with: servicesContext)
    }

    /// Reads the files again if one of them has changed since they were read.
    /// - Returns: whether they were read.
    func reloadIfChanged() throws(CertificateError) -> Bool {
        guard content.withLock(\.versions) != Self.versions(of: section) else { return false }
        try reload()
        return true
    }

    /// Reads the files of one certificate.
    static func read(
        _ files: TLSSection.Certificate
    ) throws(CertificateError) -> TLSCertificate {
        let certificate = try content(at: files.certificate)
        let response: [UInt8]? = if let path = files.ocsp { try content(at: path) } else { nil }
        var key: [UInt8]
        do throws(SecretFileError) {
            key = try SecretFile.content(at: files.key, atMost: fileBytes)
        } catch {
            throw CertificateError(path: files.key, problem: "\(error)")
        }
        defer { key.wipe() }
        do throws(TLSError) {
            return try TLSCertificate(
                certificatePEM: certificate, keyPEM: key, ocspDER: response)
        } catch {
            let path =
                switch error {
                case .noPrivateKey, .otherKey: files.key
                case .noOCSPResponse, .otherOCSPResponse: files.ocsp ?? files.certificate
                case .noCertificate, .noAuthority, .refused: files.certificate
                }
            throw CertificateError(path: path, problem: "\(error)")
        }
    }

    private static func read(
        _ section: TLSSection, _ tickets: SessionTickets
    ) throws(CertificateError) -> (public: TLSContext, services: TLSContext, expiries: [Int64]) {
        var certificates: [TLSCertificate] = []
        for files in section.certificates { certificates.append(try read(files)) }
        let authorities: [UInt8]? =
            if let path = section.clientCAFile { try content(at: path) } else { nil }
        do throws(TLSError) {
            return (
                try TLSContext(certificates, tickets: tickets),
                try TLSContext(certificates, clientAuthorities: authorities, tickets: tickets),
                certificates.map(\.validity.upperBound)
            )
        } catch {
            let path = error == .noAuthority ? section.clientCAFile : nil
            throw CertificateError(
                path: path ?? section.certificates[0].certificate, problem: "\(error)")
        }
    }

    private static func content(at path: String) throws(CertificateError) -> [UInt8] {
        do throws(FileError) {
            return try File.bytes(at: path, atMost: fileBytes)
        } catch {
            throw CertificateError(path: path, problem: "cannot be read: \(error)")
        }
    }

    private static func versions(of section: TLSSection) -> [File.Version?] {
        let files = section.certificates.flatMap { files in
            [files.certificate, files.key] + (files.ocsp.map { [$0] } ?? [])
        }
        return (files + (section.clientCAFile.map { [$0] } ?? [])).map { File.version(of: $0) }
    }
}

/// Why certificates are not used.
struct CertificateError: Error, Equatable, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "[tls]: \(path) \(problem)" }
}

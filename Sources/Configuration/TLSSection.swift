/// `[tls]`: the certificates of listeners.
public struct TLSSection: Sendable {
    /// The files of one certificate.
    public struct Certificate: Equatable, Sendable {
        /// PEM: the certificate, followed by those of its issuers.
        public let certificate: String
        /// PEM, without a password.
        public let key: String
        /// An OCSP response in DER, which is stapled to handshakes.
        public var ocsp: String?

        static let syntax = Syntax<Certificate>(
            accepts: "a table with the paths certificate, key and, optionally, ocsp",
            parse: { raw in
                guard var fields = TableFields(raw),
                    let certificate = fields.take("certificate", .path),
                    let key = fields.take("key", .path)
                else { return nil }
                let ocsp = fields.take("ocsp", .path)
                guard fields.areAccepted else { return nil }
                return Certificate(certificate: certificate, key: key, ocsp: ocsp)
            },
            show: { files in
                let ocsp = files.ocsp.map { ", ocsp = \(RawValue.quote($0))" } ?? ""
                return "{ certificate = \(RawValue.quote(files.certificate)),"
                    + " key = \(RawValue.quote(files.key))\(ocsp) }"
            })
    }

    /// The first one is for clients that name no server, and for names that no certificate has.
    public var certificates: [Certificate] = []
    /// PEM: the authorities of the certificates that clients of services listeners must have.
    public var clientCAFile: String?
    /// The web root in which certbot writes challenges.
    public var acmeDirectory: String?

    static let settings = [
        Setting(
            "tls.certificates", \.tls.certificates,
            .list(
                of: Certificate.syntax, 0...100,
                accepts: "at most 100 tables, each \(Certificate.syntax.accepts)")),
        Setting("tls.client_ca_file", \.tls.clientCAFile, Syntax.path.optional),
        Setting("tls.acme_directory", \.tls.acmeDirectory, Syntax.path.optional),
    ]
}

internal import AuthCore
internal import Configuration
internal import HTTPEngine
internal import Platform

/// The certificates of `[tls]`: whether a server can use them, and for how long.
struct CertificateChecks {
    private static let subject = "certificate"
    /// A shorter remaining time is a warning. For short certificates the limit is a quarter of
    /// their whole lifetime.
    private static let leastDays: Int64 = 14
    private static let day: Int64 = 86_400
    private static let refused = "the server does not start with it"

    let config: Config
    let now: Instant

    func findings() -> [Finding] {
        var certificates: [TLSCertificate] = []
        var findings: [Finding] = []
        for files in config.tls.certificates {
            do {
                let certificate = try Certificates.read(files)
                certificates.append(certificate)
                findings += self.findings(certificate, files)
            } catch {
                findings.append(Finding(.failed, Self.subject, "\(error)", Self.refused))
            }
        }
        guard !certificates.isEmpty, certificates.count == config.tls.certificates.count else {
            return findings
        }
        do {
            // Finds keys that are too short, and a file of authorities that cannot be used.
            _ = try Certificates(config)
        } catch {
            findings.append(Finding(.failed, Self.subject, "\(error)", Self.refused))
        }
        return findings + nameFindings(certificates)
    }

    private func findings(
        _ certificate: TLSCertificate, _ files: TLSSection.Certificate
    ) -> [Finding] {
        var findings = [validity(of: certificate, at: files.certificate)]
        if let exposure = SecretFile.exposure("tls.certificates", files.key) {
            findings.append(Finding(.caution, Self.subject, exposure))
        }
        if let path = files.ocsp, let expiry = certificate.responseExpiry, expiry <= now.seconds {
            findings.append(
                Finding(
                    .caution, Self.subject, "\(path) is out of date and is not stapled",
                    "fetch a new response"))
        }
        return findings
    }

    private func validity(of certificate: TLSCertificate, at path: String) -> Finding {
        let validity = certificate.validity
        let left = validity.upperBound - now.seconds
        if left <= 0 {
            return Finding(
                .failed, Self.subject, "\(path) has expired", "renew it: clients refuse it")
        }
        if now.seconds < validity.lowerBound {
            return Finding(
                .failed, Self.subject, "\(path) is not valid yet",
                "check the clock: clients refuse it")
        }
        let text = "\(path) is valid for \(left / Self.day) days"
        let least = min(
            Self.leastDays * Self.day, (validity.upperBound - validity.lowerBound) / 4)
        return left < least
            ? Finding(.caution, Self.subject, "\(text) only", "renew it")
            : Finding(.ok, Self.subject, text)
    }

    private func nameFindings(_ certificates: [TLSCertificate]) -> [Finding] {
        guard config.publicListener.usesTLS, let host = config.server.publicURL?.host,
            !certificates.contains(where: { $0.covers(host) })
        else { return [] }
        return [
            Finding(
                .caution, Self.subject, "none is for \(host), the host of server.public_url",
                "name one that is in tls.certificates")
        ]
    }
}

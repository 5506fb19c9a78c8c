internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import IdentityProviders
internal import Mailing
internal import Networking
internal import Scheduling

/// The network services that the server needs: the DNS of the hosted domains, the mail store,
/// the identity providers, and the relay for mail to users.
struct NetworkChecks {
    private static let domains = "domains"
    private static let mailStore = "mail store"
    private static let relay = "mail relay"
    /// Look-ups at once.
    private static let width = 8
    private static let page = 500

    let config: Config

    /// Looks up the records of every verified domain of a user.
    func domainFindings(_ stores: Stores) async throws -> [Finding] {
        let dns = DNSClient(
            servers: config.dns.servers, timeout: config.dns.timeout, lanes: Self.width,
            shares: .unlimited)
        var findings: [Finding] = []
        var domains: [HostedDomain] = []
        var count = 0
        var last: HostedDomain?
        while true {
            let page = try await stores.domainDirectory.domains(after: last, limit: Self.page)
                .map(\.domain)
            domains += page.filter { $0.owner != nil && $0.verification == .verified }
            last = page.last
            if page.count < Self.page { break }
        }
        while !domains.isEmpty {
            let batch = domains.prefix(Self.width)
            domains.removeFirst(batch.count)
            count += batch.count
            findings += await withTaskGroup(of: [Finding].self) { group in
                for domain in batch { group.addTask { await look(at: domain, dns) } }
                return await group.reduce(into: []) { $0 += $1 }
            }
            // Without name servers every look-up would wait for its timeout.
            if findings.contains(where: { $0.outcome == .failed }) { break }
        }
        guard findings.isEmpty else { return findings.sorted { $0.line < $1.line } }
        return [
            Finding(
                .ok, Self.domains,
                count == 0
                    ? "no user has a verified domain"
                    : "all \(count) verified domains of users have their records")
        ]
    }

    private func look(at domain: HostedDomain, _ dns: DNSClient) async -> [Finding] {
        var findings: [Finding] = []
        for record in domain.records(exchanger: config.mail.effectiveExchanger) {
            do {
                let isThere =
                    switch record.kind {
                    case .txt:
                        try await dns.texts(at: record.host, for: nil).contains(record.value)
                    case .mx:
                        try await dns.mailExchangers(of: record.host, for: nil)
                            .contains(record.value)
                    }
                guard !isThere else { continue }
                findings.append(
                    Finding(
                        .caution, Self.domains,
                        "\(domain.name) lacks its \(record.kind.rawValue) record",
                        "its owner has to publish \(record.value) at \(record.host)"))
            } catch {
                return [
                    Finding(
                        .failed, Self.domains, "\(domain.name) cannot be looked up: \(error)",
                        "check dns.servers or /etc/resolv.conf: users cannot prove domains")
                ]
            }
        }
        return findings
    }

    /// Connects to the relay and logs in.
    /// - Parameter recipient: who gets a message; `nil` to send none.
    func relayFindings(sendingTo recipient: Email?, at now: Instant) async -> [Finding] {
        do {
            let url = config.publicURL(port: 0)?.text ?? ""
            guard let relay = try MailRelay(config, publicURL: url),
                let sender = config.mailer.from
            else {
                guard recipient != nil else { return [] }
                return [
                    Finding(
                        .failed, Self.relay, "nothing was sent, because there is none",
                        "set mailer.host and mailer.from")
                ]
            }
            do {
                let client = RelayClient(relay)
                try await client.probe()
                let login = relay.login == nil ? "" : " and accepts the account"
                var text = "\(relay.name) answers\(login)"
                if let recipient {
                    try await client.send(
                        OutboundMail(
                            tryingRelayFrom: sender, to: recipient,
                            serverName: BaseURL(url)?.host ?? "this server",
                            id: Hex.encode(RandomBytes.make(16)), time: now))
                    text += "; it has taken a message to \(recipient)"
                }
                return [Finding(.ok, Self.relay, text)]
            } catch {
                return [
                    Finding(
                        .failed, Self.relay, "\(relay.name): \(error)",
                        "check [mailer], and whether the relay runs: users get no links to verify"
                            + " an email or set a password")
                ]
            }
        } catch {
            // The file of the password has a finding.
            return []
        }
    }

    /// Sends any request to the JMAP server: its answer without a token does not matter.
    func mailStoreFindings() async -> [Finding] {
        guard let base = config.mail.jmapURL?.text else { return [] }
        let url = base + config.mail.jmapAPIPath
        do {
            let request = OutboundRequest(.get, url, timeout: .seconds(5))
            return [finding(try await Fetcher().send(request).status, from: url)]
        } catch OutboundError.tooLarge {
            return [Finding(.ok, Self.mailStore, "\(url) answers")]
        } catch {
            return [
                Finding(
                    .failed, Self.mailStore, "\(url): \(error)",
                    "check mail.jmap_url, and whether the mail store runs")
            ]
        }
    }

    /// Asks each identity provider for what a login begins with.
    func providerFindings() async -> [Finding] {
        let subject = "identity provider"
        let providers: [LoginProvider]
        do {
            providers = try ProviderParts(config).providers
        } catch {
            return [Finding(.failed, subject, "\(error)")]
        }
        var findings: [Finding] = []
        for provider in providers {
            do throws(ProviderError) {
                try await provider.check(for: IPAddress(v4: 0x7f00_0001))
                findings.append(Finding(.ok, subject, "\(provider.name) can be used"))
            } catch {
                findings.append(
                    Finding(
                        .failed, subject, "\(provider.name): \(error)",
                        "check its issuer in users.providers, and whether this machine reaches it"))
            }
        }
        return findings
    }

    private func finding(_ status: Int, from url: String) -> Finding {
        let text = "\(url) answers \(status)"
        return switch status {
        case 404:
            Finding(
                .caution, Self.mailStore, text, "check mail.jmap_url and mail.jmap_api_path")
        case 500...: Finding(.failed, Self.mailStore, text, "check the mail store's log")
        default: Finding(.ok, Self.mailStore, text)
        }
    }
}

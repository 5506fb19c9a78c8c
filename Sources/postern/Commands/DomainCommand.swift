internal import ArgumentParser
internal import AuthCore
internal import Cryptography

/// `postern domain`: the domains beside those of the configuration.
struct DomainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "domain",
        abstract: "Add, list or remove the domains that accounts can be made on.",
        discussion: """
            A domain without an owner is for everybody, or with --pro-only for Pro users. One \
            with an owner is that user's alone, and nothing can be made on it until the DNS \
            records that are printed have been seen, or --verified vouches for them. Domains in \
            mail.domains are listed but are added and removed in the configuration.

            Examples:
              postern domain add mail.example.com --pro-only
              postern domain add example.com --owner ada@example.com
              postern domain remove example.com
              postern domain list
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a domain.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The domain.", transform: parseDomain) var domain: Domain

        @Option(
            help: ArgumentHelp("The Pro user whose it is.", valueName: "email"),
            transform: parseEmail)
        var owner: Email?

        @Flag(help: "Vouch that the owner controls it; nobody looks at the DNS.")
        var verified = false

        @Flag(help: "Let only Pro users make accounts on it.")
        var proOnly = false

        func validate() throws {
            if verified && owner == nil {
                throw ValidationError("--verified is for a domain with an --owner.")
            }
            if proOnly && owner != nil {
                throw ValidationError("--pro-only is for a domain without an --owner.")
            }
        }

        func run() async throws {
            try await options.withStore(makesOne: true) { stores, config in
                guard !config.mail.domains.contains(domain) else {
                    throw DomainFault.configured(domain)
                }
                let new = try await domain(in: stores)
                let insertion = try await stores.domains.insert(
                    new, limit: nil, recording: .byOperator(.domainAdded, domain))
                guard insertion == .inserted else { throw DomainFault.alreadyThere(domain) }
                Output.print("added \(domain)  \(new.id)")
                guard new.verification == .pending else { return }
                Output.print("to be published before accounts can be made on it:")
                for record in new.records(exchanger: config.mail.mailExchanger) {
                    Output.print("  \(record.line)")
                }
            }
        }

        private func domain(in stores: Stores) async throws -> HostedDomain {
            let now = SystemClock.now()
            guard let owner else {
                return HostedDomain(
                    id: DomainID(random: RandomBytes.make(16)), name: domain, owner: nil,
                    isProOnly: proOnly, verification: .verified, verifyToken: "", verified: now,
                    created: now)
            }
            guard let user = try await stores.users.user(email: owner) else {
                throw DomainFault.noOwner(owner)
            }
            let made = HostedDomain(domain, of: user.id, at: now, random: RandomBytes.make)
            guard var made else { throw DomainFault.unusable(domain) }
            if verified {
                made.verification = .verified
                made.verified = now
            }
            return made
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the domains: name, whose, state, who may make accounts, when added.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, config in
                for name in config.mail.domains {
                    try Output.deliver("\(name)  configuration  verified  everybody  -")
                }
                try await forEach(
                    by: \.domain.name, in: stores.domainDirectory.domains(after:limit:)
                ) { listed in
                    try Output.deliver(
                        listed.domain.line(owner: listed.owner?.text ?? "operator"))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a domain that no account is on, whoever's it is.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The domain.", transform: parseDomain) var domain: Domain

        func run() async throws {
            try await options.withStore { stores, config in
                guard !config.mail.domains.contains(domain) else {
                    throw DomainFault.configured(domain)
                }
                guard let found = try await stores.domains.domain(named: domain) else {
                    throw DomainFault.absent(domain)
                }
                let removal = try await stores.domains.removeDomain(
                    found.id, of: found.owner, recording: .byOperator(.domainRemoved, domain))
                switch removal {
                case .removed: Output.print("removed \(domain)")
                case .inUse: throw DomainFault.inUse(domain)
                case .absent: throw DomainFault.absent(domain)
                }
            }
        }
    }
}

/// Why a domain is not added or removed.
enum DomainFault: Error, Equatable, CustomStringConvertible {
    case configured(Domain)
    case alreadyThere(Domain)
    case unusable(Domain)
    case noOwner(Email)
    case absent(Domain)
    case inUse(Domain)

    var description: String {
        switch self {
        case .configured(let domain):
            "\(domain) is in mail.domains; it is added and removed in the configuration"
        case .alreadyThere(let domain): "there is a domain \(domain) already"
        case .unusable(let domain):
            "\(domain) can have no owner: it has no dot, or is too long for its TXT record"
        case .noOwner(let email): "there is no user \(email)"
        case .absent(let domain): "there is no domain \(domain)"
        case .inUse(let domain): "accounts are on \(domain); delete them first"
        }
    }
}

private func parseDomain(_ text: String) throws -> Domain {
    guard let domain = Domain(parsing: text) else {
        throw ValidationError("\(text.printable()) is not a domain.")
    }
    return domain
}

extension HostedDomain {
    fileprivate func line(owner: String) -> String {
        let makers = self.owner != nil ? "owner" : isProOnly ? "pro" : "everybody"
        return "\(name)  \(owner)  \(verification.rawValue)  \(makers)  \(created.rfc3339)"
    }
}

extension DNSRecord {
    /// As a zone file has it.
    fileprivate var line: String {
        switch kind {
        case .txt: "\(host). TXT \"\(value)\""
        case .mx: "\(host). MX \(priority ?? 0) \(value)."
        }
    }
}

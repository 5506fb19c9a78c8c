internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Platform

/// `postern domain`: manages the domains that are not in the configuration.
struct DomainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "domain",
        abstract: "Add, list or remove the domains that accounts can be created on.",
        discussion: """
            Everybody can create accounts on a domain without an owner; with --pro-only, only Pro \
            users can. A domain with --owner is for that user only, after the server has found \
            the DNS records that this command prints. --verified skips that check. Domains in \
            mail.domains are listed here, but are added and removed in the configuration.

            Examples:
              postern domain add mail.example.com --pro-only
              postern domain add example.com --owner ada@example.com
              postern domain remove example.com
              postern domain list
            """,
        subcommands: [Add.self, List.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a domain.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The domain.", transform: parseDomain) var domain: Domain

        @Option(
            help: ArgumentHelp("The Pro user who owns it.", valueName: "email"),
            transform: parseEmail)
        var owner: Email?

        @Flag(help: "Skip the DNS check, because you know that the owner controls the domain.")
        var verified = false

        @Flag(help: "Let only Pro users create accounts on it.")
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
            try await options.withStore(creating: true) { stores, config in
                guard !config.mail.domains.contains(domain) else {
                    throw DomainCommandError.configured(domain)
                }
                let new = try await domain(in: stores)
                let insertion = try await stores.domains.insert(
                    new, limit: nil, recording: .byOperator(.domainAdded, domain))
                guard insertion == .inserted else { throw DomainCommandError.alreadyThere(domain) }
                Output.print("added \(domain)  \(new.id)")
                guard new.verification == .pending else { return }
                Output.print("publish these DNS records before accounts can be created on it:")
                for record in new.records(exchanger: config.mail.effectiveExchanger) {
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
                throw DomainCommandError.noOwner(owner)
            }
            let made = HostedDomain(domain, of: user.id, at: now, random: RandomBytes.make)
            guard var made else { throw DomainCommandError.unusable(domain) }
            if verified {
                made.verification = .verified
                made.verified = now
            }
            return made
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the domains: name, owner, state, who may create accounts, time added.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, config in
                for name in config.mail.domains {
                    try Output.deliver("\(name)  configuration  verified  everybody  -")
                }
                let domains = stores.domainDirectory
                try await forEach(by: \.domain, in: domains.domains(after:limit:)) { listed in
                    try Output.deliver(
                        listed.domain.line(owner: listed.owner?.text ?? "operator"))
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a domain without accounts, and the claims of all users to its name.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The domain.", transform: parseDomain) var domain: Domain

        func run() async throws {
            try await options.withStore { stores, config in
                guard !config.mail.domains.contains(domain) else {
                    throw DomainCommandError.configured(domain)
                }
                let found = try await stores.domainDirectory.domains(named: domain)
                guard !found.isEmpty else { throw DomainCommandError.absent(domain) }
                for one in found {
                    let removal = try await stores.domains.removeDomain(
                        one.id, of: one.owner, recording: .byOperator(.domainRemoved, domain))
                    if removal == .inUse { throw DomainCommandError.inUse(domain) }
                }
                Output.print("removed \(domain)")
            }
        }
    }
}

/// Why a domain was not added or removed.
enum DomainCommandError: Error, Equatable, CustomStringConvertible {
    case configured(Domain)
    case alreadyThere(Domain)
    case unusable(Domain)
    case noOwner(Email)
    case absent(Domain)
    case inUse(Domain)

    var description: String {
        switch self {
        case .configured(let domain):
            "\(domain) is in mail.domains: change it in the configuration"
        case .alreadyThere(let domain): "there is a domain \(domain) already"
        case .unusable(let domain):
            "\(domain) cannot have an owner: it has no dot, or is too long for its TXT record"
        case .noOwner(let email): "there is no user \(email)"
        case .absent(let domain): "there is no domain \(domain)"
        case .inUse(let domain): "\(domain) has accounts; delete them first"
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
        let creators = self.owner != nil ? "owner" : isProOnly ? "pro" : "everybody"
        return "\(name)  \(owner)  \(verification.rawValue)  \(creators)  \(created.rfc3339)"
    }
}

extension DNSRecord {
    /// The record as a zone file writes it.
    fileprivate var line: String {
        switch kind {
        case .txt: "\(host). TXT \"\(value)\""
        case .mx: "\(host). MX \(priority ?? 0) \(value)."
        }
    }
}

internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import HTTPEngine
internal import JMAP
internal import LocalMail
internal import Logging
internal import MIME
internal import Networking
internal import Synchronization

/// The mail in this process (`mail.store = "local"`), and what it asks of the accounts. It stays
/// when settings change.
final class LocalMailHost: Sendable {
    /// What answers its questions. A reload replaces all of it. A class, because a copy of the
    /// values at each question would take longer than most answers.
    private final class Accounts: Sendable {
        let services: MailServices
        let mail: AccountsMail
        let events: WebhookEvents

        init(services: MailServices, mail: AccountsMail, events: WebhookEvents) {
            self.services = services
            self.mail = mail
            self.events = events
        }
    }

    let mail: LocalMail
    private let known = KnownMailAccounts()
    private let accounts: CurrentAccounts
    private let missingLibrary: MissingLibrary
    private let clock: ServerClock
    private let now: @Sendable () -> MailInstant
    let smtpPool = SMTPService.makePool()

    /// Set before the first request.
    private final class CurrentAccounts: Sendable {
        let value = Mutex<Accounts?>(nil)
    }

    /// Logs once that GMime cannot be loaded. The logger is set before the first request.
    private final class MissingLibrary: Sendable {
        let logger = Mutex<Logger?>(nil)

        func report(_ error: MIMEError) {
            let logger = logger.withLock { $0.take() }
            logger?.error("local mail cannot be read", error: error)
        }
    }

    /// - Returns: `nil` unless the configuration has local mail.
    init?(_ config: Config, clock: ServerClock) {
        guard config.mail.store == .local else { return nil }
        self.clock = clock
        let now: @Sendable () -> MailInstant = {
            MailInstant(milliseconds: clock.now().milliseconds)
        }
        self.now = now
        let (accounts, known) = (CurrentAccounts(), known)
        self.accounts = accounts
        let missingLibrary = MissingLibrary()
        self.missingLibrary = missingLibrary
        var limits = MailLimits()
        limits.totalBytes = config.mail.localLimit
        mail = LocalMail(
            MailEnvironment(
                reader: MIMEReader(report: missingLibrary.report),
                now: now,
                random: { UInt64.random(in: .min ... .max) },
                owner: { await Self.owner(of: $0, accounts.value.withLock { $0 }) },
                quota: known.quota,
                delivered: { account, email in
                    await Self.note(email, of: account, accounts.value.withLock { $0 }, clock)
                }), limits: limits)
    }

    /// Makes the event of the webhook of the account's owner. The sender of the message waits.
    private static func note(
        _ email: MailEmail, of account: MailAccount, _ accounts: Accounts?, _ clock: ServerClock
    ) async {
        guard let accounts, let address = Address(parsing: account.address) else { return }
        let listing = MessageListing(email)
        let mail = ReceivedMail(
            address: account.address, messageID: listing.id, from: listing.from,
            subject: listing.subject, preview: listing.preview, size: Int64(listing.size))
        await accounts.events.addDelivered(mail, to: address, at: clock.now())
    }

    /// GMime is loaded at the first message, because it costs memory (0.8 MiB). Its absence is
    /// reported then, once.
    func reportMissingLibrary(to logger: Logger) {
        missingLibrary.logger.withLock { $0 = logger }
    }

    /// From now on, accounts are looked up with these use cases and names.
    func use(
        _ services: MailServices, _ names: MailNames, _ work: MailWork, _ events: WebhookEvents
    ) -> AccountsMail {
        let mail = AccountsMail(local: mail, names: names, known: known, work: work)
        accounts.value.withLock { $0 = Accounts(services: services, mail: mail, events: events) }
        return mail
    }

    /// The same observers, which also remove the mail of deleted accounts.
    func observing(_ observers: StoreObservers) -> StoreObservers {
        var observing = observers
        observing.event = { [observers] event in
            observers.event(event)
            self.note(event)
        }
        return observing
    }

    private func note(_ event: AuditEvent) {
        guard event.kind == .accountDeleted, let address = Address(parsing: event.subject) else {
            return
        }
        accounts.value.withLock { $0 }?.mail.remove(address)
    }

    /// The SMTP listener of the mail.
    /// - Parameter serverName: a domain of this server.
    func smtp(serverName: String) -> SMTPService {
        let (accounts, clock) = (accounts, clock)
        return SMTPService(
            mail: mail, settings: .init(serverName: serverName), pool: smtpPool,
            now: now,
            authenticate: { name, password, client in
                guard let current = accounts.value.withLock({ $0 }) else { return .unavailable }
                let caller = Caller(
                    address: client, requestID: "", now: clock.now(), arrival: clock.monotonic())
                do throws(ServicesError) {
                    let found = try await current.services.logIn(
                        name, .password(Array(password.utf8)), by: caller)
                    return .account(current.mail.account(of: found.account))
                } catch {
                    switch error {
                    case .invalidCredentials, .disabled: return .rejected
                    case .common(.failed(let cause)): throw cause
                    default: return .unavailable
                    }
                }
            })
    }

    private static func owner(of text: String, _ accounts: Accounts?) async -> AddressOwner {
        guard let accounts else { return .unavailable }
        do throws(ServicesError) {
            if let account = try await accounts.services.account(ofAddress: text) {
                return .account(accounts.mail.account(of: account))
            }
            let domain = text.utf8.lastIndex(of: UInt8(ascii: "@"))
                .flatMap { Domain(parsing: String(text[text.index(after: $0)...])) }
            guard let domain else { return .elsewhere }
            let isOurs = try await accounts.services.receivesMail(for: domain)
            return isOurs ? .unknown : .elsewhere
        } catch {
            return .unavailable
        }
    }
}

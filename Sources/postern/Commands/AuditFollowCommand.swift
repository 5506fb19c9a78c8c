internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform
internal import Provisioning

/// `postern audit follow`: the changes of accounts, for a program that manages mailboxes.
struct AuditFollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Write the changes of accounts in order, for a program that manages mailboxes.",
        discussion: """
            Each line is one event: an account made, disabled, enabled or deleted, its quota \
            changed, or its address freed. Events are numbered without gaps. A program that \
            stores the number of the last event it has processed can continue after it and misses \
            none.

            The command waits for new events until it is interrupted; with --once it ends. It ends \
            with exit code 1 when events after the number were removed (audit.retention).

            Examples:
              postern audit follow --json
              postern audit follow --json --after 1234
              postern audit follow --json --after 1234 --once
            """)
    private static let page = 500
    private static let interval = Duration.milliseconds(500)

    @OptionGroup var options: ConfigOptions

    @Option(
        help: ArgumentHelp(
            "Begin after the event with this number; 0 begins with the oldest event.",
            valueName: "number"))
    var after: Int64 = 0

    @Flag(help: "Write each event as a JSON object.") var json = false
    @Flag(help: "End after the last event, instead of waiting for new ones.") var once = false

    func validate() throws {
        guard after >= 0 else { throw ValidationError("--after takes a number from 0.") }
    }

    func run() async throws {
        try await options.withStore { stores, config in
            let names = MailNames(config.mail)
            var reader = FeedReader(stores.accountFeed, after: after)
            var isAway = false
            while true {
                do {
                    let page = try await reader.next(limit: Self.page)
                    isAway = false
                    try Output.deliver(page.map { line($0, names) }.joined())
                    if page.count == Self.page { continue }
                } catch let error as StoreBusy where !once {
                    // The command continues after a failover of the database.
                    if !isAway { Output.message("\(error)") }
                    isAway = true
                }
                if once { return }
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    private func line(_ event: AccountEvent, _ names: MailNames) -> String {
        guard !json else { return String(decoding: event.json(names), as: UTF8.self) + "\n" }
        let values = [
            "\(event.number)", event.time.rfc3339, event.kind.rawValue,
            event.address.description, names.name(of: event.account, at: event.address) ?? "-",
            event.account.text, event.quota.map { "\($0) bytes" } ?? "-",
        ]
        return values.joined(separator: "  ") + "\n"
    }
}

internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Glibc
internal import Platform
internal import Scheduling
internal import StrictJSON

/// `postern audit`: shows the audit log.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show, export or follow the audit log of credential events.",
        discussion: """
            Each line is one event: time, kind, actor, subject, client address and request id. It \
            contains no password, key or token. Failed logins with one subject from one client \
            within a minute are one line with their number. Its other values are those of the \
            first.

            Examples:
              postern audit tail -n 50 --follow
              postern audit export --since 2026-01-15 > events.jsonl
              postern audit export --since 7d | grep login_failed
              postern audit follow --json --after 1234
            """,
        subcommands: [Tail.self, Export.self, AuditFollowCommand.self])

    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tail", abstract: "Show the latest events.")
        private static let page = 500

        @OptionGroup var options: ConfigOptions

        @Option(name: [.customShort("n"), .long], help: "The number of events, at most 10,000.")
        var lines = 20

        @Flag(name: .shortAndLong, help: "Continue with new events until interrupted.")
        var follow = false

        func validate() throws {
            guard (0...10_000).contains(lines) else {
                throw ValidationError("-n takes a number from 0 to 10,000.")
            }
        }

        func run() async throws {
            try await options.withStore { stores, _ in
                // Following continues after the latest event, also when none is shown.
                let latest = try await stores.audit.latestEvents(limit: max(1, lines))
                var last = latest.last?.sequence
                try AuditOutput.show(latest.suffix(lines))
                while follow {
                    let page = try await stores.audit.events(after: last, limit: Self.page)
                    last = page.last?.sequence ?? last
                    try AuditOutput.show(page[...])
                    if page.count < Self.page { try await Task.sleep(for: .milliseconds(500)) }
                }
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract:
                "Write events to standard output, the oldest first, one JSON object on each line.")
        private static let page = 1000

        enum Format: String, CaseIterable, ExpressibleByArgument { case json }

        @OptionGroup var options: ConfigOptions

        @Option(
            help: ArgumentHelp(
                "Only events since 2026-01-15, 2026-01-15T10:30:00Z, or 7d for seven days ago.",
                valueName: "time"),
            transform: { text in
                guard let since = Instant(since: text, now: SystemClock.now()) else {
                    throw ValidationError(
                        "--since takes 2026-01-15, 2026-01-15T10:30:00Z, or an age such as 7d.")
                }
                return since
            })
        var since: Instant?

        @Option(help: "The format of each event: json.")
        var format = Format.json

        func run() async throws {
            try await options.withStore { stores, _ in
                let end = try await stores.audit.latestEvents(limit: 1).last?.sequence ?? 0
                var line = StatusLine.onStandardError()
                defer { line.end() }
                var last: Int64?
                while true {
                    let page = try await stores.audit.events(after: last, limit: Self.page)
                    last = page.last?.sequence
                    let wanted = page.filter { record in
                        since.map { record.event.time >= $0 } ?? true
                    }
                    try AuditOutput.write(wanted)
                    // Events that are recorded meanwhile belong to the next export.
                    guard page.count == Self.page, let last, last < end else { break }
                    // On a terminal the progress would be mixed with the events.
                    guard isatty(STDOUT_FILENO) == 0 else { continue }
                    line.show("\(last) of \(end) events, \(last * 100 / end) %")
                }
            }
        }
    }
}

/// Writes events to standard output, one page at a time.
enum AuditOutput {
    /// For people.
    static func show(_ records: ArraySlice<AuditRecord>) throws(OutputError) {
        try Output.deliver(records.map { line($0) + "\n" }.joined())
    }

    /// For programs.
    static func write(_ records: [AuditRecord]) throws(OutputError) {
        var text: [UInt8] = []
        for record in records { text += json(record) + [0x0a] }
        try Output.deliver(String(decoding: text, as: UTF8.self))
    }

    static func line(_ record: AuditRecord) -> String {
        let event = record.event
        var values = [
            event.time.rfc3339, event.kind.rawValue, "\(event.actor)", event.subject, event.client,
            event.requestID,
        ]
        if record.count > 1 { values.append("\(record.count) times") }
        return values.map { $0.isEmpty ? "-" : $0.printable() }.joined(separator: "  ")
    }

    static func json(_ record: AuditRecord) -> [UInt8] {
        JSONWriter.object { record.write(to: &$0) }
    }
}

extension Instant {
    /// Reads a time as an operator writes it: `2026-01-15T10:30:00Z` (RFC 3339, UTC), `2026-01-15`
    /// for the beginning of that day, or an age such as `90m` or `7d`.
    init?(since text: String, now: Instant) {
        if let instant = Instant(rfc3339: text) {
            self = instant
        } else if let age = Syntax.duration(.zero ... .seconds(100 * 365 * 86_400))
            .parse(.string(text))
        {
            self = now.advanced(by: .zero - age)
        } else {
            return nil
        }
    }
}

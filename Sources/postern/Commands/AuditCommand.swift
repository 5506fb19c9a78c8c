internal import ArgumentParser
internal import AuthCore
internal import Glibc
internal import StrictJSON

/// `postern audit`: the record of credential events.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show or export the record of credential events.",
        discussion: """
            Each line is one event: time, kind, who did it, to what, from which client address, \
            in which request. No password, key or token is in it.

            Examples:
              postern audit tail -n 50 --follow
              postern audit export --since 2026-01-15 > events.jsonl
              postern audit export --since 7d | grep login_failed
            """,
        subcommands: [Tail.self, Export.self])

    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the latest events.")
        private static let page = 500

        @OptionGroup var options: ConfigOptions

        @Option(name: [.customShort("n"), .long], help: "How many, at most 10,000.")
        var lines = 20

        @Flag(name: .shortAndLong, help: "Go on with new ones as they come, until interrupted.")
        var follow = false

        func validate() throws {
            guard (0...10_000).contains(lines) else {
                throw ValidationError("-n takes a number from 0 to 10,000.")
            }
        }

        func run() async throws {
            try await options.withStore { stores, _ in
                // The latest is needed to go on from, also where none is to be shown.
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
            abstract: "Write events to standard output, oldest first, one JSON object a line.")
        private static let page = 1000

        enum Format: String, CaseIterable, ExpressibleByArgument { case json }

        @OptionGroup var options: ConfigOptions

        @Option(
            help: ArgumentHelp(
                "From then on: 2026-01-15, 2026-01-15T10:30:00Z, or 7d for seven days ago.",
                valueName: "time"),
            transform: { text in
                guard let since = Instant(since: text, now: SystemClock.now()) else {
                    throw ValidationError(
                        "--since takes 2026-01-15, 2026-01-15T10:30:00Z, or an age such as 7d.")
                }
                return since
            })
        var since: Instant?

        @Option(help: "How each event is written: json.")
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
                    // What is written meanwhile is the next export's.
                    guard page.count == Self.page, let last, last < end else { break }
                    // On the terminal that the events go to it would be in their way.
                    guard isatty(STDOUT_FILENO) == 0 else { continue }
                    line.show("\(last) of \(end) events, \(last * 100 / end) %")
                }
            }
        }
    }
}

/// Events on standard output, a page at a time.
enum AuditOutput {
    /// For people.
    static func show(_ records: ArraySlice<AuditRecord>) throws(OutputFault) {
        try Output.deliver(records.map { line($0.event) + "\n" }.joined())
    }

    /// For programs.
    static func write(_ records: [AuditRecord]) throws(OutputFault) {
        var text: [UInt8] = []
        for record in records { text += json(record) + [0x0a] }
        try Output.deliver(String(decoding: text, as: UTF8.self))
    }

    static func line(_ event: AuditEvent) -> String {
        [
            event.time.rfc3339, event.kind.rawValue, event.actor, event.subject, event.client,
            event.requestID,
        ].map { $0.isEmpty ? "-" : $0.printable() }.joined(separator: "  ")
    }

    static func json(_ record: AuditRecord) -> [UInt8] {
        JSONWriter.object { members in
            members.member("sequence", record.sequence)
            members.member("time", record.event.time.rfc3339)
            members.member("kind", record.event.kind.rawValue)
            members.member("actor", record.event.actor)
            members.member("subject", record.event.subject)
            members.member("client", record.event.client)
            members.member("request_id", record.event.requestID)
        }
    }
}

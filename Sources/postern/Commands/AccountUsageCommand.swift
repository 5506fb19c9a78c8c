internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform

/// `postern account usage`: shows or records the size of mailboxes, as the mail store has measured
/// it.
struct AccountUsageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show how many bytes of mail an account holds, or record a new number.",
        discussion: """
            The mail store measures the mailboxes; this server only records the numbers. Clients \
            see them as `used`. With --stdin each line of standard input is a mailbox, by its \
            address or by its name at the mail store, and a number of bytes. Lines that cannot be \
            recorded are reported, and the exit code is then 1. All other lines are recorded.

            Examples:
              postern account usage demo@mail.test
              postern account usage demo@mail.test 1234567
              list-mailbox-sizes | postern account usage --stdin
            """)
    /// The number of reports in one transaction. A running server waits for it.
    private static let batch = 500

    @OptionGroup var options: ConfigOptions
    @Flag(help: "Read lines of ADDRESS BYTES from standard input.") var stdin = false
    @Argument(help: "name@domain", transform: parseAddress) var address: Address?
    @Argument(help: "The bytes of mail that it holds now.", transform: parseBytes) var bytes: Int64?

    func validate() throws {
        guard stdin == (address == nil) else {
            throw ValidationError("Give ADDRESS, or ADDRESS and BYTES, or only --stdin.")
        }
    }

    func run() async throws {
        if let address, bytes == nil { return try await show(address) }
        try await options.withStore { stores, config in
            var tally = Tally()
            if let address, let bytes {
                try await tally.record(
                    [UsageReport(address: address, used: bytes)], in: stores.accountDirectory)
            } else {
                try await recordLines(in: stores, MailNames(config.mail), &tally)
            }
            Output.print("noted \(tally.recorded) report\(tally.recorded == 1 ? "" : "s")")
            if tally.failed { throw ExitCode.failure }
        }
    }

    private func show(_ address: Address) async throws {
        try await withAccount(address, options) { _, _, account in
            try Output.deliver("\(account.used) of \(account.quota) bytes")
            return true
        }
    }

    private func recordLines(
        in stores: Stores, _ names: MailNames, _ tally: inout Tally
    ) async throws {
        Output.explainWaiting(for: "lines of ADDRESS BYTES")
        var reports: [UsageReport] = []
        var number = 0
        while let line = readLine() {
            number += 1
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            if let usage = MailboxUsage(line: line) {
                let address = try await names.address(named: usage.name, in: stores.accounts)
                if let address {
                    reports.append(UsageReport(address: address, used: usage.used))
                } else {
                    tally.fail("line \(number): there is no account \(usage.name.printable())")
                }
            } else {
                tally.fail("line \(number) is not an address and a number of bytes")
            }
            guard reports.count == Self.batch else { continue }
            try await tally.record(reports, in: stores.accountDirectory)
            reports = []
            tally.line.show("\(number) lines read, \(tally.recorded) reports noted")
        }
        try await tally.record(reports, in: stores.accountDirectory)
        tally.line.end()
    }
}

/// The results of the reports.
private struct Tally {
    var recorded = 0
    var failed = false
    /// The progress, for long inputs.
    var line = StatusLine.onStandardError()

    mutating func record(_ reports: [UsageReport], in accounts: any AccountDirectory) async throws {
        for (report, isThere) in zip(reports, try await accounts.note(reports)) {
            if isThere {
                recorded += 1
            } else {
                fail("there is no account \(report.address)")
            }
        }
    }

    mutating func fail(_ text: String) {
        line.end()
        Output.message(text)
        failed = true
    }
}

/// A line of a mail store's report.
struct MailboxUsage: Equatable {
    /// An address, or the name of the mailbox at the mail store.
    let name: String
    /// Bytes, at least 0.
    let used: Int64

    /// - Returns: `nil` unless `line` is a name, spaces or tabs, and a number of bytes.
    init?(line: String) {
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count == 2, let used = Self.bytes(String(words[1])) else { return nil }
        name = String(words[0])
        self.used = used
    }

    /// Digits only; `Int64` would also accept a sign.
    static func bytes(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

func parseBytes(_ text: String) throws -> Int64 {
    guard let bytes = MailboxUsage.bytes(text) else {
        throw ValidationError("\(text.printable()) is not a number of bytes.")
    }
    return bytes
}

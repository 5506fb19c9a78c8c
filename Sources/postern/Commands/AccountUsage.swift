internal import ArgumentParser
internal import AuthCore

extension AccountCommand {
    /// How the operator's mail store says what mailboxes hold; clients see it as `used`.
    struct Usage: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Note how many bytes of mail an account holds, as the mail store counts them.",
            discussion: """
                Clients see the number as `used`. With --stdin each line of standard input is an \
                address and a number of bytes; a line that cannot be noted is complained about, \
                the others are noted, and the exit code is 1.

                Examples:
                  postern account usage demo@mail.test 1234567
                  list-mailbox-sizes | postern account usage --stdin
                """)
        /// Reports in one transaction, for which a running server has to wait.
        private static let batch = 500

        @OptionGroup var options: ConfigOptions
        @Flag(help: "Take lines of ADDRESS BYTES from standard input.") var stdin = false
        @Argument(help: "name@domain", transform: parseAddress) var address: Address?
        @Argument(help: "Bytes of mail that it holds.", transform: parseBytes) var bytes: Int64?

        func validate() throws {
            let isGiven = address != nil && bytes != nil
            guard stdin ? address == nil : isGiven else {
                throw ValidationError("Give ADDRESS and BYTES, or --stdin and neither.")
            }
        }

        func run() async throws {
            try await options.withStore { stores, _ in
                var tally = Tally()
                if let address, let bytes {
                    try await tally.note(
                        [UsageReport(address: address, used: bytes)], in: stores.accountDirectory)
                } else {
                    try await noteLines(in: stores.accountDirectory, &tally)
                }
                Output.print("noted \(tally.noted) report\(tally.noted == 1 ? "" : "s")")
                if tally.failed { throw ExitCode.failure }
            }
        }

        private func noteLines(in accounts: any AccountDirectory, _ tally: inout Tally) async throws
        {
            Output.explainWaiting(for: "lines of ADDRESS BYTES")
            var reports: [UsageReport] = []
            var number = 0
            while let line = readLine() {
                number += 1
                guard !line.allSatisfy(\.isWhitespace) else { continue }
                if let report = UsageReport(line: line) {
                    reports.append(report)
                } else {
                    tally.complain("line \(number) is not an address and a number of bytes")
                }
                guard reports.count == Self.batch else { continue }
                try await tally.note(reports, in: accounts)
                reports = []
                tally.line.show("\(number) lines read, \(tally.noted) reports noted")
            }
            try await tally.note(reports, in: accounts)
            tally.line.end()
        }
    }

    /// What came of the reports.
    private struct Tally {
        var noted = 0
        var failed = false
        /// How far it is, where there is much of it.
        var line = StatusLine.onStandardError()

        mutating func note(_ reports: [UsageReport], in accounts: any AccountDirectory) async throws
        {
            for (report, isThere) in zip(reports, try await accounts.note(reports)) {
                if isThere {
                    noted += 1
                } else {
                    complain("there is no account \(report.address)")
                }
            }
        }

        mutating func complain(_ text: String) {
            line.end()
            Output.complain(text)
            failed = true
        }
    }
}

extension UsageReport {
    /// - Returns: `nil` unless `line` is an address and a number of bytes with blanks between.
    init?(line: String) {
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count == 2, let address = Address(parsing: String(words[0])),
            let used = Self.bytes(String(words[1]))
        else { return nil }
        self.init(address: address, used: used)
    }

    /// Digits only: `Int64` would take a sign too.
    static func bytes(_ text: String) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

private func parseBytes(_ text: String) throws -> Int64 {
    guard let bytes = UsageReport.bytes(text) else {
        throw ValidationError("\(text.printable()) is not a number of bytes.")
    }
    return bytes
}

internal import AgentClient
public import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Glibc
internal import Platform
internal import StrictJSON

/// `postern solve`: solves the proof of work of one challenge, for scripts and for testing clients.
struct SolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "solve",
        abstract: "Solve a challenge JWT and print nonce and digest.",
        discussion: """
            Reads the JWT of POST /api/v1/challenge from the command line or from standard input \
            and prints {"nonce":…,"powHex":…}, two members of the body of POST /api/v1/session. \
            The scrypt parameters are the published ones (N=16384, r=8, p=1, 64 bytes).

            Example:
              curl -si -X POST http://127.0.0.1:8080/api/v1/challenge \\
                | sed -n 's/^authorization: Bearer //ip' | tr -d '\\r' | postern solve
            """)

    @Argument(help: "The challenge JWT; without it, standard input is read.")
    var challenge: String?

    @Option(help: "A salt that replaces the salt of the challenge, as hex text.")
    var salt: String?

    @OptionGroup var work: WorkOptions

    func run() async throws {
        do {
            let challenge = try ServerChallenge(token: try token(), salt: salt)
            let solver = Solver(
                challenge.assignment, threads: work.threadCount, kernel: work.kernel)
            // No limit, because an expired challenge may be solved, too.
            let found = try await ProgressDisplay.onStandardError().solve(solver, within: .forever)
            guard let found else { throw ExitCode.failure }
            let object = JSONWriter.object {
                $0.member("nonce", found.nonce.text)
                $0.member("powHex", Hex.encode(found.digest))
            }
            try Output.deliver(String(decoding: object, as: UTF8.self))
        } catch {
            Output.message("not solved: \(error)")
            throw ExitCode.failure
        }
    }

    private func token() throws(FileError) -> String {
        if let challenge { return challenge }
        Output.explainWaiting(for: "the challenge JWT")
        let bytes = try File.bytes(from: STDIN_FILENO, atMost: 16_384)
        let white: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        return String(decoding: bytes.filter { !white.contains($0) }, as: UTF8.self)
    }
}

extension ScryptChoice: ExpressibleByArgument {}

extension Duration {
    /// 100 years.
    fileprivate static let forever = Duration.seconds(100 * 365 * 86_400)
}

/// How many processors a proof of work may use.
struct WorkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Threads for the proof of work, 128 MiB of memory each (default: one per processor).",
            valueName: "n"))
    var threads: Int?

    @Option(
        help: ArgumentHelp(
            "How scrypt is computed; auto is the fastest that this processor has.",
            valueName: "how"))
    var scrypt = ScryptChoice.auto

    var threadCount: Int { threads ?? Process.processorCount }

    var kernel: Scrypt.Kernel { Scrypt.Kernel.choose(scrypt.implementation).kernel }

    func validate() throws {
        guard (1...256).contains(threadCount) else {
            throw ValidationError("--threads must be from 1 to 256.")
        }
    }
}

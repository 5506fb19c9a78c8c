internal import ArgumentParser
internal import AuthCore
internal import Cryptography
internal import Glibc
internal import StrictJSON

/// `postern solve`: the proof of work of one challenge, for scripts and for clients in the making.
struct Solve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Solve a challenge JWT and print nonce and digest.",
        discussion: """
            Reads the JWT of POST /api/v1/challenge from the command line or from standard input \
            and prints {"nonce":…,"powHex":…}, the two members that POST /api/v1/session takes. \
            scrypt's parameters are the published ones (N=16384, r=8, p=1, 64 bytes).

            Example:
              curl -si -X POST http://127.0.0.1:8080/api/v1/challenge \\
                | sed -n 's/^authorization: Bearer //ip' | tr -d '\\r' | postern solve
            """)

    @Argument(help: "The challenge JWT; without it, standard input is read.")
    var challenge: String?

    @Option(help: "A salt in place of the challenge's, as hex text.")
    var salt: String?

    @OptionGroup var work: WorkOptions

    func run() async throws {
        do {
            let challenge = try ServerChallenge(token: try token(), salt: salt)
            let solver = Solver(challenge.assignment, threads: work.count)
            // No limit: whoever asks for a solution of an old challenge gets it.
            let found = try await ProgressDisplay.onStandardError().solve(solver, within: .forever)
            guard let found else { throw ExitCode.failure }
            let object = JSONWriter.object {
                $0.member("nonce", found.nonce.text)
                $0.member("powHex", Hex.encode(found.digest))
            }
            try Output.deliver(String(decoding: object, as: UTF8.self))
        } catch {
            Output.complain("not solved: \(error)")
            throw ExitCode.failure
        }
    }

    private func token() throws(FileFault) -> String {
        if let challenge { return challenge }
        Output.explainWaiting(for: "the challenge JWT")
        let bytes = try File.bytes(from: STDIN_FILENO, atMost: 16_384)
        let white: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        return String(decoding: bytes.filter { !white.contains($0) }, as: UTF8.self)
    }
}

extension Duration {
    /// Longer than anything runs.
    fileprivate static let forever = Duration.seconds(100 * 365 * 86_400)
}

internal import ArgumentParser
internal import AuthCore
internal import Fetching
internal import Glibc
internal import StrictJSON

/// `postern signup`: an agent's whole signup against a running server.
struct Signup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign an agent up: proof of work, mailbox, credentials.",
        discussion: """
            Solves the server's proof of work on all cores, makes the mailbox and writes the \
            credentials to a file that only you can read (0600). A file that exists is never \
            overwritten without --force. The API key is shown nowhere but in that file, unless \
            --json is given: then it is in the object on standard output, and a file is written \
            only if --out names one.

            Examples:
              postern signup --server http://127.0.0.1:8080 --username myagent
              postern signup --server https://auth.example.com --username myagent --json
            """)

    @Option(help: ArgumentHelp("Base URL of the server.", valueName: "url"))
    var server: String

    @Option(help: "5 to 21 of a-z, 0-9, '.', '_' and '-'; the name before the @.")
    var username: String

    @Option(
        help: ArgumentHelp(
            "The credentials file (default: <username>.credentials.json).", valueName: "file"))
    var out: String?

    @Flag(help: "Replace a credentials file that exists.")
    var force = false

    @Flag(help: "Print one JSON object for programs, API key included.")
    var json = false

    @OptionGroup var work: WorkOptions

    mutating func validate() throws {
        guard BaseURL(server) != nil else {
            throw ValidationError("--server must be \(Syntax.baseURL.accepts).")
        }
        do {
            username = try Username(parsing: username).description
        } catch Refusal.invalidUsername(let rule) {
            throw ValidationError("--username: \(rule).")
        }
    }

    func run() async throws {
        guard let server = BaseURL(server) else { return }
        let committing = Latch()
        stopOnSignal(unless: committing)
        let fetcher = Fetcher()
        let client = AgentClient(server: server, send: { try await fetcher.send($0) })
        let path = json ? out : out ?? Credentials.standardPath(for: username)
        do {
            if let path { try checkPlace(path) }
            let enroller = Enroller(
                client: client, display: .onStandardError(), threads: work.count,
                committing: committing)
            let (session, enrolment) = try await enroller.enroll(username)
            let credentials = Credentials(
                server: server, enrolment: enrolment, created: SystemClock.now())
            let fault = path.flatMap { save(credentials, to: $0) }
            let report = await SignupReport(credentials, path: fault == nil ? path : nil)
                .completed(by: client, session: session)
            Output.print(json || fault != nil ? report.json : report.text)
            if let fault { throw fault }
        } catch {
            Output.complain("signup failed: \(error)")
            throw Exit.code(for: error)
        }
    }

    /// Ctrl-C ends it at once and leaves nothing behind; but not while an account may have been
    /// made whose key is not written yet. The second one always does.
    private func stopOnSignal(unless committing: Latch) {
        let signals = StopSignals()
        Task {
            let signal = await signals.wait()
            guard !committing.isClosed else {
                Output.complain("\nfinishing, so that the API key is not lost; again to stop now")
                return
            }
            Output.complain("\nstopped; no account was made")
            _exit(128 + signal)
        }
    }

    /// Finds out before the work, not after it, that the result cannot be kept.
    private func checkPlace(_ path: String) throws(SignupFault) {
        if !force && access(path, F_OK) == 0 { throw .credentialsExist(path: path) }
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(parent, W_OK) == 0 else { throw .unwritable(path: path, .last) }
    }

    /// A key that cannot be kept would be lost, so the caller prints it after all.
    private func save(_ credentials: Credentials, to path: String) -> SignupFault? {
        do throws(FileFault) {
            try credentials.write(to: path, force: force)
            return nil
        } catch {
            return .unwritable(path: path, error)
        }
    }
}

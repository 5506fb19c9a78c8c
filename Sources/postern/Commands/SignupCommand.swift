internal import AgentClient
internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Fetching
internal import Glibc
internal import Platform
internal import Scheduling
internal import StrictJSON

/// `postern signup`: signs an agent up at a running server.
struct SignupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup",
        abstract:
            "Sign an agent up: solve the proof of work, create the mailbox, save the credentials.",
        discussion: """
            Solves the server's proof of work on all processors, creates the mailbox and writes \
            the credentials to a file that only you can read (0600). An existing file is not \
            overwritten without --force. The API key is only in that file. With --json it is in \
            the object on standard output, and a file is written only if --out names one.

            Examples:
              postern signup --server http://127.0.0.1:8080 --username myagent
              postern signup --server https://auth.example.com --username myagent --json
            """)

    @Option(help: ArgumentHelp("Base URL of the server.", valueName: "url"))
    var server: String

    @Option(help: "The name before the @: 5 to 21 of a-z, 0-9, '.', '_' and '-'.")
    var username: String

    @Option(
        help: ArgumentHelp(
            "The credentials file (default: <username>.credentials.json).", valueName: "file"),
        completion: .file())
    var out: String?

    @Flag(help: "Replace a credentials file that exists.")
    var force = false

    @Flag(help: "Print one JSON object for programs, with the API key.")
    var json = false

    @OptionGroup var work: WorkOptions

    mutating func validate() throws {
        guard BaseURL(server) != nil else {
            throw ValidationError("--server must be \(BaseURL.syntax.accepts).")
        }
        do {
            username = try Username(parsing: username).description
        } catch AgentError.invalidUsername(let rule) {
            throw ValidationError("--username: \(rule).")
        }
    }

    func run() async throws {
        guard let server = BaseURL(server) else { return }
        let committing = AtomicFlag()
        stopOnSignal(unless: committing)
        let fetcher = Fetcher()
        let client = AgentAPIClient(server: server, send: { try await fetcher.send($0) })
        let path = json ? out : out ?? Credentials.standardPath(for: username)
        do {
            if let path { try checkWritable(path) }
            let flow = SignupFlow(
                client: client, display: .onStandardError(), threads: work.threadCount,
                kernel: work.kernel, committing: committing)
            let (session, account) = try await flow.signUp(username)
            let credentials = Credentials(
                server: server, account: account, created: SystemClock.now())
            let saveError = path.flatMap { save(credentials, to: $0) }
            let report = await SignupReport(credentials, path: saveError == nil ? path : nil)
                .completed(by: client, session: session)
            Output.print(json || saveError != nil ? report.json : report.text)
            if let saveError { throw saveError }
        } catch {
            Output.message("signup failed: \(error)")
            throw Exit.code(for: error)
        }
    }

    /// Ctrl-C ends the command at once, unless an account may exist whose API key is not saved yet.
    /// A second Ctrl-C always ends it.
    private func stopOnSignal(unless committing: AtomicFlag) {
        let signals = StopSignals()
        Task {
            let signal = await signals.wait()
            guard !committing.isSet else {
                Output.message(
                    "\ncompleting the signup to save the API key; press Ctrl-C again to stop now"
                )
                return
            }
            Output.message("\nstopped; no account was created")
            _exit(128 + signal)
        }
    }

    /// Checks before the work that the result can be saved.
    private func checkWritable(_ path: String) throws(SignupError) {
        if !force && access(path, F_OK) == 0 { throw .credentialsExist(path: path) }
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(parent, W_OK) == 0 else { throw .unwritable(path: path, .last) }
    }

    /// - Returns: the error. The caller then prints the API key, so that it is not lost.
    private func save(_ credentials: Credentials, to path: String) -> SignupError? {
        do throws(FileError) {
            try credentials.write(to: path, force: force)
            return nil
        } catch {
            return .unwritable(path: path, error)
        }
    }
}

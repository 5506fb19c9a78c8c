internal import Glibc

/// The built program in a process of its own.
///
/// Owns the process: whatever becomes of the test, the process ends with this object. What it logs
/// goes to a file, so that a full pipe never holds it up.
final class Program {
    /// How it ended.
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    private let process: pid_t
    private let output: Int32
    private let logPath: String
    private var said: [UInt8] = []
    private var end: End?
    /// Where it listens; 0 before ``awaitReady()``.
    private(set) var port = 0

    /// - Parameter variables: its whole environment beyond `PATH`.
    init(_ arguments: [String], in place: Place, variables: [String: String] = [:]) throws {
        logPath = place.file("log")
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0,
            fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0
        else { throw TestFault("no pipe: errno \(errno)") }
        output = ends[0]
        defer { close(ends[1]) }
        process = try Self.spawn(
            arguments, environment: variables, output: ends[1], log: logPath)
    }

    deinit {
        if end == nil {
            Glibc.kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
        close(output)
    }

    /// A server of the test profile on a free port, ready.
    static func serve(
        _ flags: [String] = [], in place: Place, variables: [String: String] = [:]
    ) throws -> Program {
        let program = try Program(
            ["serve", "--profile", "test", "--port", "0"] + flags, in: place, variables: variables)
        try program.awaitReady()
        return program
    }

    /// A server on the place's database, under a name that outlives its port.
    static func serveData(in place: Place, _ variables: [String: String] = [:]) throws -> Program {
        try serve(
            ["--data", place.file("data")], in: place,
            variables: variables.merging(publicURL) { given, _ in given })
    }

    /// A restart takes another port; with a URL of its own the issuer stays the same.
    static let publicURL = ["POSTERN_SERVER_PUBLIC_URL": "http://postern.test"]

    /// Reads the line that says where it listens.
    func awaitReady() throws {
        let deadline = Deadline(seconds: 30)
        while !said.contains(UInt8(ascii: "\n")) {
            guard try readSome(until: deadline) else { throw TestFault("not ready: \(log)") }
        }
        let line = String(decoding: said, as: UTF8.self)
        guard line.hasPrefix("listening on http://"), line.hasSuffix("\n"),
            let digits = line.dropLast().split(separator: ":").last, let port = Int(digits)
        else { throw TestFault("not the documented line: \(line)") }
        self.port = port
    }

    func signal(_ number: Int32) {
        if end == nil { Glibc.kill(process, number) }
    }

    /// SIGTERM and the end that it leads to.
    func stop() throws -> End {
        signal(SIGTERM)
        return try awaitEnd()
    }

    /// The power cut.
    func kill() throws {
        signal(SIGKILL)
        guard try awaitEnd() == .signalled(SIGKILL) else { throw TestFault("not killed") }
    }

    /// - Throws: when it still runs after the time.
    func awaitEnd(seconds: Int = 30) throws -> End {
        if let end { return end }
        let deadline = Deadline(seconds: seconds)
        // Its standard output ends when it does.
        while try readSome(until: deadline) {}
        var status: Int32 = 0
        guard waitpid(process, &status, 0) == process else { throw TestFault("lost \(process)") }
        let signal = status & 0x7f
        let end = signal == 0 ? End.exited(status >> 8 & 0xff) : .signalled(signal)
        self.end = end
        return end
    }

    /// Everything on its standard error so far; all of it once it has ended.
    var log: String { (try? Place.read(logPath)) ?? "" }

    var standardOutput: String { String(decoding: said, as: UTF8.self) }

    /// - Returns: `false` at the end of the output.
    private func readSome(until deadline: Deadline) throws -> Bool {
        var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, deadline.milliseconds) > 0 else {
            throw TestFault("nothing happened in time; log: \(log)")
        }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &piece, piece.count)
        if count > 0 { said += piece[..<count] }
        return count > 0
    }
}

extension Program {
    /// The program stands beside the tests' own binary.
    private static var path: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(
            decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/postern"
    }

    private static func spawn(
        _ arguments: [String], environment: [String: String], output: Int32, log: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(
            &actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // A crash is to end at once, not in the backtracer.
        let variables = environment.merging(
            ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { given, _ in given }
        let path = Self.path
        var words =
            ([path] + arguments).map { strdup($0) } as [UnsafeMutablePointer<CChar>?] + [nil]
        var pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + pairs { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, path, &actions, nil, &words, &pairs)
        guard failure == 0 else { throw TestFault("cannot start \(path): errno \(failure)") }
        return process
    }
}

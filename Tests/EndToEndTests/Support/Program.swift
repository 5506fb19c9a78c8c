internal import Glibc
internal import Scheduling

/// The built program in its own process.
///
/// Owns the process, which ends with this object. Its standard error goes to a file, so that a full
/// pipe never blocks it.
final class Program {
    /// How the process ended.
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    private let process: pid_t
    private let outputEnd: Int32
    private let logPath: String
    private var output: [UInt8] = []
    private var end: End?
    /// The port that it listens on; 0 before ``awaitReady()``.
    private(set) var port = 0

    /// - Parameter variables: its environment, to which `PATH` is added.
    init(_ arguments: [String], in directory: TestDirectory, variables: [String: String] = [:])
        throws
    {
        logPath = directory.file("log")
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0,
            fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0
        else { throw TestError("no pipe: errno \(errno)") }
        outputEnd = ends[0]
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
        close(outputEnd)
    }

    /// A server of the test profile on a free port, ready.
    static func serve(
        _ flags: [String] = [], in directory: TestDirectory, variables: [String: String] = [:]
    ) throws -> Program {
        let program = try Program(
            ["serve", "--profile", "test", "--port", "0"] + flags, in: directory,
            variables: variables)
        try program.awaitReady()
        return program
    }

    /// A server on the database of the directory. Its public URL does not depend on its port.
    static func serveData(in directory: TestDirectory, _ variables: [String: String] = [:]) throws
        -> Program
    {
        try serve(
            ["--data", directory.file("data")], in: directory,
            variables: variables.merging(publicURL) { given, _ in given })
    }

    /// After a restart the port is another one. With this setting the issuer stays the same.
    static let publicURL = ["POSTERN_SERVER_PUBLIC_URL": "http://postern.test"]

    /// Reads the line with the address that it listens on.
    func awaitReady() throws {
        let deadline = Deadline()
        while !output.contains(UInt8(ascii: "\n")) {
            guard try readSome(until: deadline) else { throw TestError("not ready: \(log)") }
        }
        // The second line has the address for SMTP.
        let line = String(decoding: output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.hasPrefix("listening on http://"),
            let digits = line.split(separator: ":").last, let port = Int(digits)
        else { throw TestError("not the documented line: \(line)") }
        self.port = port
    }

    func signal(_ number: Int32) {
        if end == nil { Glibc.kill(process, number) }
    }

    /// Sends SIGTERM and waits for the end.
    func stop() throws -> End {
        signal(SIGTERM)
        return try awaitEnd()
    }

    /// Sends SIGKILL, which has the effect of a power cut on the process.
    func kill() throws {
        signal(SIGKILL)
        guard try awaitEnd() == .signalled(SIGKILL) else { throw TestError("not killed") }
    }

    /// - Throws: when it still runs after the deadline.
    func awaitEnd() throws -> End {
        if let end { return end }
        let deadline = Deadline()
        // Its standard output ends with the process.
        while try readSome(until: deadline) {}
        var status: Int32 = 0
        guard waitpid(process, &status, 0) == process else { throw TestError("lost \(process)") }
        let signal = status & 0x7f
        let end = signal == 0 ? End.exited(status >> 8 & 0xff) : .signalled(signal)
        self.end = end
        return end
    }

    /// Its standard error so far.
    var log: String { (try? TestDirectory.read(logPath)) ?? "" }

    var standardOutput: String { String(decoding: output, as: UTF8.self) }

    /// - Returns: `false` at the end of the output.
    private func readSome(until deadline: Deadline) throws -> Bool {
        var waiting = pollfd(fd: outputEnd, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, deadline.milliseconds) > 0 else {
            throw TestError("nothing happened in time; log: \(log)")
        }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(outputEnd, &piece, piece.count)
        if count > 0 { output += piece[..<count] }
        return count > 0
    }
}

extension Program {
    /// The program is in the directory of the test binary.
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
        // After a crash the process must end at once, without a backtrace.
        var variables = environment.merging(
            ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]) { given, _ in given }
        // For the coverage and the sanitizer of an instrumented program.
        for name in ["LLVM_PROFILE_FILE", "TSAN_OPTIONS", "LD_PRELOAD"] {
            variables[name] = getenv(name).map { String(cString: $0) }
        }
        // A test of a password prompt ignores signals of this process for a moment, and nohup does.
        // An ignored signal would stay ignored in the program.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let path = Self.path
        var words =
            ([path] + arguments).map { strdup($0) } as [UnsafeMutablePointer<CChar>?] + [nil]
        var pairs = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + pairs { free(text) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, &pairs)
        guard failure == 0 else { throw TestError("cannot start \(path): errno \(failure)") }
        return process
    }
}

/// The queue on which the tests of the built program run one after the other. They block on sockets
/// and processes and must not hold a thread that other tests need.
@globalActor
actor ProgramQueue {
    static let shared = ProgramQueue()

    private let executor = QueueExecutor(label: "program")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }
}

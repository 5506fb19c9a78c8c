internal import CProcess
internal import Dispatch
internal import Glibc
public import Platform

/// Checks in a separate process whether the TOML parser can read a text at all. The parser aborts
/// the process on some texts that are not TOML (``ConfigFile``), and a running server must not end
/// because of a fault in its file.
public enum TOMLTrial {
    /// The command that the process runs. It reads the text from standard input.
    public static let command = "parse-toml"

    /// - Returns: false if the parser aborts. Any other error is a fault that the parser reports.
    /// - Throws: when no process can be started.
    public static func isReadable(_ text: String) async throws(FileError) -> Bool {
        let child = try start(text)
        return await withCheckedContinuation { continuation in
            // The process ends within seconds. A separate thread waits for it.
            DispatchQueue(label: "toml").async {
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0 && errno == EINTR {}
                continuation.resume(returning: status == 0)
            }
        }
    }

    private static func start(_ text: String) throws(FileError) -> pid_t {
        let input = cprocess_memory_file(text, text.utf8.count)
        guard input >= 0 else { throw .last }
        defer { close(input) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        // Its messages name no file, and they are not JSON as the log is.
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
        }
        var words = [strdup("postern"), strdup(command), nil]
        // After an abort it must end at once, without a backtrace.
        var variables = [strdup("SWIFT_BACKTRACE=enable=no"), nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, "/proc/self/exe", &actions, nil, &words, &variables)
        guard failure == 0 else { throw .system(failure) }
        return child
    }
}

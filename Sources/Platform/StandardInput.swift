internal import Dispatch
internal import Glibc

/// Standard input as a sign of life. The process that started this one has the other end of a pipe,
/// and the kernel closes that end however the process ends.
///
/// Unlike PR_SET_PDEATHSIG(2const) this works when the thread that started the process has ended,
/// and in every language.
public enum StandardInput {
    /// Sends this process SIGTERM when standard input ends. All input before is ignored.
    ///
    /// A thread waits for it: a Dispatch source reports the end of a pipe once, together with bytes
    /// that are still to be read, and then nothing more.
    public static func terminateAtEnd() {
        DispatchQueue(label: "standard input").async {
            while !isAtEnd() {}
            kill(getpid(), SIGTERM)
        }
    }

    /// Waits until there is something to read, and reads it.
    private static func isAtEnd() -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, -1) >= 0 else { return errno != EINTR }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count == 0 || count < 0 && errno != EINTR && errno != EAGAIN
    }
}

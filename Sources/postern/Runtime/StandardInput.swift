internal import Dispatch
internal import Glibc

/// Standard input as a sign of life: whoever started this process holds the other end of a pipe,
/// and however that process ends, the kernel closes it.
///
/// Unlike PR_SET_PDEATHSIG(2const) this works when the thread that started the process has ended,
/// and in every language.
enum StandardInput {
    /// Sends this process SIGTERM when standard input ends. What is read before is dropped.
    static func terminateAtEnd() {
        let source = DispatchSource.makeReadSource(
            fileDescriptor: STDIN_FILENO, queue: DispatchQueue(label: "standard input"))
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count > 0 || count < 0 && (errno == EINTR || errno == EAGAIN) { return }
            source.cancel()
            kill(getpid(), SIGTERM)
        }
        source.activate()
    }
}

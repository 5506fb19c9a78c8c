internal import Glibc

/// What a command says: results to standard output, complaints to standard error.
enum Output {
    static func print(_ text: String) {
        write(text.hasSuffix("\n") ? text : text + "\n", to: STDOUT_FILENO)
    }

    static func complain(_ text: String, end: String = "\n") {
        write(text + end, to: STDERR_FILENO)
    }

    /// Unbuffered, whole unless the reader is gone; then there is nobody left to tell.
    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

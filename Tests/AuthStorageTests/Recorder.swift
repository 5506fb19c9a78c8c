import Synchronization

/// Texts that callbacks report, in order.
final class Recorder: Sendable {
    private let state = Mutex<[String]>([])

    var texts: [String] { state.withLock { $0 } }

    func add(_ text: String) {
        state.withLock { $0.append(text) }
    }
}

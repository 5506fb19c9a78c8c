internal import CCurl
internal import Scheduling
internal import Synchronization

/// Runs transfers of libcurl on one thread, which waits for all their sockets at once. There is no
/// such thread while there is no transfer; connections stay open.
///
/// libcurl uses a connection again for a transfer to the same host, port and address
/// (`CURLOPT_CONNECT_TO`), if the options of TLS are the same.
actor TransferLoop {
    typealias Handle = UnsafeMutableRawPointer

    /// A transfer could not begin, or libcurl could not wait for it.
    struct Failure: Error {
        let code: Int

        fileprivate init(_ code: CURLcode) {
            self.code = Int(code.rawValue)
        }
    }

    private enum Command {
        case begin(UInt64, PendingTransfer)
        case cancel(UInt64)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isRunning = false
        var lastID: UInt64 = 0
    }

    private struct Transfer {
        let id: UInt64
        let end: (CURLcode) -> Void
        let fail: @Sendable (any Error) -> Void
    }

    nonisolated private let executor = QueueExecutor(label: "transfers")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let idle: Int
    /// Of all connections; `nil` if their acknowledgements may wait.
    private let sockets: OpenSockets?
    nonisolated private let inbox = Mutex(Inbox())
    /// A descriptor that ends the wait for sockets.
    nonisolated private let wake = postern_curl_wake_new()
    /// Made for the first transfer, because that loads libcurl.
    private var multi: UnsafeMutableRawPointer?
    private var transfers: [Handle: Transfer] = [:]

    /// - Parameters:
    ///   - idle: connections that are kept open without a transfer.
    ///   - acknowledging: whether acknowledgements of TCP are sent at once (``OpenSockets``).
    init(idle: Int, acknowledging: Bool = false) {
        self.idle = idle
        sockets = acknowledging ? OpenSockets() : nil
    }

    isolated deinit {
        if let multi { postern_curl_multi_free(multi) }
        if wake >= 0 { postern_curl_wake_free(wake) }
    }

    /// Runs one transfer.
    /// - Parameter begin: sets the options of a new handle, on the thread of the loop. Returns what
    ///   makes the result when libcurl has ended the transfer with a code. That closure keeps alive
    ///   what the options point to.
    /// - Throws: ``Failure``; `CancellationError`; what the closures throw.
    nonisolated func perform<T: Sendable>(
        _ begin: @escaping @Sendable (Handle) throws -> (CURLcode) throws -> T
    ) async throws -> T {
        let id = inbox.withLock { inbox in
            inbox.lastID &+= 1
            return inbox.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                put(.begin(id, PendingTransfer(begin, for: continuation)))
                // A task that was cancelled before that could not be told.
                if Task.isCancelled { put(.cancel(id)) }
            }
        } onCancel: {
            put(.cancel(id))
        }
    }

    nonisolated private func put(_ command: Command) {
        let isRunning = inbox.withLock { inbox in
            inbox.commands.append(command)
            defer { inbox.isRunning = true }
            return inbox.isRunning
        }
        if isRunning {
            postern_curl_wake(wake)
        } else {
            Task { await run() }
        }
    }

    /// Ends when there is no transfer.
    private func run() {
        while let commands = nextCommands() {
            for command in commands {
                switch command {
                case .begin(let id, let transfer): begin(id, transfer)
                case .cancel(let id): cancel(id)
                }
            }
            guard let multi, !transfers.isEmpty else { continue }
            var code = postern_curl_multi_perform(multi)
            finish(multi)
            if code == CURLM_OK, !transfers.isEmpty {
                sockets?.acknowledge()
                code = postern_curl_multi_wait(multi, wake)
            }
            if code != CURLM_OK { failAll(multi) }
        }
    }

    private func nextCommands() -> [Command]? {
        let isIdle = transfers.isEmpty
        return inbox.withLock { inbox in
            if inbox.commands.isEmpty, isIdle {
                inbox.isRunning = false
                return nil
            }
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }

    private func begin(_ id: UInt64, _ transfer: PendingTransfer) {
        // First, because it loads libcurl.
        guard let handle = curlHandle() else {
            return transfer.fail(Failure(CURLE_FAILED_INIT))
        }
        do {
            if multi == nil, wake >= 0 { multi = postern_curl_multi_new(idle) }
            guard let multi else { throw Failure(CURLE_OUT_OF_MEMORY) }
            let end = try transfer.begin(handle)
            let options = sockets?.options(handle) ?? []
            guard options.allSatisfy({ $0 == CURLE_OK }),
                postern_curl_multi_add(multi, handle) == CURLM_OK
            else {
                throw Failure(CURLE_FAILED_INIT)
            }
            transfers[handle] = Transfer(id: id, end: end, fail: transfer.fail)
        } catch {
            postern_curl_free(handle)
            transfer.fail(error)
        }
    }

    private func cancel(_ id: UInt64) {
        guard let multi, let handle = transfers.first(where: { $0.value.id == id })?.key else {
            return
        }
        remove(handle, from: multi) { $0.fail(CancellationError()) }
    }

    private func finish(_ multi: UnsafeMutableRawPointer) {
        var result = CURLE_OK
        while let handle = postern_curl_multi_ended(multi, &result) {
            remove(handle, from: multi) { $0.end(result) }
        }
    }

    private func failAll(_ multi: UnsafeMutableRawPointer) {
        for handle in Array(transfers.keys) {
            remove(handle, from: multi) { $0.fail(Failure(CURLE_FAILED_INIT)) }
        }
    }

    /// - Parameter report: called while the handle can still be asked about its transfer.
    private func remove(
        _ handle: Handle, from multi: UnsafeMutableRawPointer, reporting report: (Transfer) -> Void
    ) {
        guard let transfer = transfers.removeValue(forKey: handle) else { return }
        report(transfer)
        postern_curl_multi_remove(multi, handle)
        postern_curl_free(handle)
        // What the options point to.
        withExtendedLifetime(transfer) {}
    }
}

/// A transfer without the type of its result.
private struct PendingTransfer: Sendable {
    /// Sets the options of a handle. Returns what gives the caller the result.
    let begin: @Sendable (TransferLoop.Handle) throws -> (CURLcode) -> Void
    /// Gives the caller an error instead.
    let fail: @Sendable (any Error) -> Void

    init<T: Sendable>(
        _ begin: @escaping @Sendable (TransferLoop.Handle) throws -> (CURLcode) throws -> T,
        for caller: CheckedContinuation<T, any Error>
    ) {
        self.begin = { handle in
            let result = try begin(handle)
            return { code in caller.resume(with: Result { try result(code) }) }
        }
        fail = { caller.resume(throwing: $0) }
    }
}

internal import CCurl
internal import Scheduling
internal import Synchronization

/// Runs transfers of libcurl on one thread, which waits for all their sockets at once. There is no
/// such thread while there is no transfer; connections stay open.
actor TransferLoop {
    private enum Command {
        case begin(UInt64, OutboundRequest, CheckedContinuation<FetchedResponse, any Error>)
        case cancel(UInt64)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isRunning = false
        var lastID: UInt64 = 0
    }

    private struct Transfer {
        let id: UInt64
        let fields: CurlList
        let response: ResponseCollector
        let continuation: CheckedContinuation<FetchedResponse, any Error>
    }

    nonisolated private let executor = QueueExecutor(label: "transfers")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let idle: Int
    nonisolated private let inbox = Mutex(Inbox())
    /// A descriptor that ends the wait for sockets.
    nonisolated private let wake = postern_curl_wake_new()
    /// Made for the first transfer, because that loads libcurl.
    private var multi: UnsafeMutableRawPointer?
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

    /// - Parameter idle: connections that are kept open without a transfer.
    init(idle: Int) {
        self.idle = idle
    }

    isolated deinit {
        if let multi { postern_curl_multi_free(multi) }
        if wake >= 0 { postern_curl_wake_free(wake) }
    }

    /// - Throws: ``OutboundError``; `CancellationError`.
    nonisolated func perform(_ request: OutboundRequest) async throws -> FetchedResponse {
        let id = inbox.withLock { inbox in
            inbox.lastID &+= 1
            return inbox.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                put(.begin(id, request, continuation))
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
                case .begin(let id, let request, let continuation):
                    begin(id, request, continuation)
                case .cancel(let id): cancel(id)
                }
            }
            guard let multi, !transfers.isEmpty else { continue }
            var code = postern_curl_multi_perform(multi)
            finish(multi)
            if code == CURLM_OK, !transfers.isEmpty { code = postern_curl_multi_wait(multi, wake) }
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

    private func begin(
        _ id: UInt64, _ request: OutboundRequest,
        _ continuation: CheckedContinuation<FetchedResponse, any Error>
    ) {
        // First, because it loads libcurl.
        guard let handle = curlHandle() else {
            let code = Int(CURLE_FAILED_INIT.rawValue)
            return continuation.resume(throwing: OutboundError.failed(code: code))
        }
        do throws(OutboundError) {
            guard let fields = CurlList(headers: request.headers) else { throw .invalidRequest }
            if multi == nil, wake >= 0 { multi = postern_curl_multi_new(idle) }
            guard let multi else { throw .failed(code: Int(CURLE_OUT_OF_MEMORY.rawValue)) }
            let response = ResponseCollector(bodyLimit: request.bodyLimit)
            try request.configure(handle, headers: fields, response: response)
            let options = [
                postern_curl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
                postern_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
            ]
            // Else a look-up that does not end would hold up the other transfers when its own is
            // over. libcurl before 7.87 does not have it.
            _ = postern_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
            guard options.allSatisfy({ $0 == CURLE_OK }),
                postern_curl_multi_add(multi, handle) == CURLM_OK
            else { throw .invalidRequest }
            transfers[handle] = Transfer(
                id: id, fields: fields, response: response, continuation: continuation)
        } catch {
            postern_curl_free(handle)
            continuation.resume(throwing: error)
        }
    }

    private func cancel(_ id: UInt64) {
        guard let multi, let handle = transfers.first(where: { $0.value.id == id })?.key else {
            return
        }
        end(handle, in: multi) { _ in .failure(CancellationError()) }
    }

    private func finish(_ multi: UnsafeMutableRawPointer) {
        var result = CURLE_OK
        while let handle = postern_curl_multi_ended(multi, &result) {
            end(handle, in: multi) { response in
                guard result == CURLE_OK else {
                    return .failure(OutboundError(result, isTooLarge: response.isTooLarge))
                }
                // For libcurl a response that ends in its fields is one without a body.
                guard response.hasWholeHead else {
                    return .failure(
                        OutboundError.failed(code: Int(CURLE_PARTIAL_FILE.rawValue)))
                }
                var status = 0
                postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
                return .success(
                    FetchedResponse(
                        status: status, headers: response.headers, body: response.body))
            }
        }
    }

    private func failAll(_ multi: UnsafeMutableRawPointer) {
        for handle in Array(transfers.keys) {
            end(handle, in: multi) { _ in
                .failure(OutboundError.failed(code: Int(CURLE_FAILED_INIT.rawValue)))
            }
        }
    }

    private func end(
        _ handle: UnsafeMutableRawPointer, in multi: UnsafeMutableRawPointer,
        _ outcome: (ResponseCollector) -> Result<FetchedResponse, any Error>
    ) {
        guard let transfer = transfers.removeValue(forKey: handle) else { return }
        let outcome = outcome(transfer.response)
        postern_curl_multi_remove(multi, handle)
        postern_curl_free(handle)
        transfer.continuation.resume(with: outcome)
    }
}

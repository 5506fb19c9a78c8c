internal import CCurl
public import Networking
internal import Scheduling

/// Sends requests to a server that the operator has named, over connections that are kept open.
///
/// Guarantees: a request takes no thread while it waits; each ends within its timeout, the time of
/// waiting included; at most ``FetchLimits/perTarget`` run at once, and a client and a site have
/// their shares of them; no response larger than its limit is kept.
public final class PersistentFetcher: Sendable {
    private let origin: FetchSlots.Target
    private let slots: FetchSlots
    private let transfers: TransferLoop

    /// - Parameters:
    ///   - origin: the server, for the count of its requests.
    ///   - limits: those of slots and waiting; a request has its own of bytes and time.
    public init(origin: String, limits: FetchLimits) {
        self.origin = .name(origin)
        slots = FetchSlots(limits: limits, onWait: {})
        transfers = TransferLoop(idle: limits.perTarget, acknowledging: true)
    }

    /// - Throws: ``OutboundError``, or `CancellationError` when cancelled.
    public func send(
        _ request: OutboundRequest, for client: IPAddress
    ) async throws -> FetchedResponse {
        let deadline = ContinuousClock.now + request.timeout
        do {
            return try await withDeadline(deadline) { [slots, origin, transfers] in
                try await slots.hold(for: client) {
                    try await slots.hold(origin, for: client) {
                        var request = request
                        request.timeout = deadline - .now
                        return try await transfers.perform { [request] in
                            try request.begin($0)
                        }
                    }
                }
            }
        } catch is DeadlinePassed {
            throw OutboundError.timedOut
        } catch is KeyLimitReached {
            throw OutboundError.busy
        } catch let failure as TransferLoop.Failure {
            throw OutboundError.failed(code: failure.code)
        }
    }
}

extension OutboundRequest {
    /// As ``TransferLoop/perform(_:)`` takes it.
    fileprivate func begin(
        _ handle: TransferLoop.Handle
    ) throws(OutboundError) -> (CURLcode) throws(OutboundError) -> FetchedResponse {
        guard let fields = CurlList(headers: headers) else { throw .invalidRequest }
        let response = ResponseCollector(bodyLimit: bodyLimit)
        try configure(handle, headers: fields, response: response)
        let options = [
            postern_curl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
            postern_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
        ]
        // Else a look-up that does not end would hold up the other transfers when its own is over.
        // libcurl before 7.87 does not have it.
        _ = postern_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        guard options.allSatisfy({ $0 == CURLE_OK }) else { throw .invalidRequest }
        return { code throws(OutboundError) in
            try withExtendedLifetime(fields) { () throws(OutboundError) in
                guard code == CURLE_OK else {
                    throw OutboundError(code, isTooLarge: response.isTooLarge)
                }
                // For libcurl a response that ends in its fields is one without a body.
                guard response.hasWholeHead else {
                    throw .failed(code: Int(CURLE_PARTIAL_FILE.rawValue))
                }
                var status = 0
                postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
                return FetchedResponse(
                    status: status, headers: response.headers, body: response.body)
            }
        }
    }
}

internal import CCurl
internal import Scheduling

/// Sends requests from a separate pool, because libcurl blocks its thread.
///
/// Guarantees: at most `lanes` requests at once and `depth` waiting; every request ends within its
/// timeout; no response larger than its limit is kept.
public final class Fetcher: Sendable {
    private let pool: WorkerPool

    public init(lanes: Int = 1, depth: Int = 16) {
        pool = WorkerPool(name: "fetch", lanes: lanes, depth: depth)
    }

    /// - Throws: ``OutboundError``, or `CancellationError` when cancelled before it began.
    public func send(_ request: OutboundRequest) async throws -> FetchedResponse {
        do {
            return try await pool.run(for: nil) { try Self.perform(request) }
        } catch is WorkerPool.Full {
            throw OutboundError.busy
        }
    }

    private static func perform(_ request: OutboundRequest) throws -> FetchedResponse {
        guard let handle = curlHandle() else {
            throw OutboundError.failed(code: Int(CURLE_FAILED_INIT.rawValue))
        }
        defer { postern_curl_free(handle) }
        let response = ResponseCollector(bodyLimit: request.bodyLimit)
        guard let list = CurlList(headers: request.headers) else {
            throw OutboundError.invalidRequest
        }
        try request.configure(handle, headers: list, response: response)
        let result = withExtendedLifetime((list, response)) { postern_curl_perform(handle) }
        guard result == CURLE_OK else {
            throw OutboundError(result, isTooLarge: response.isTooLarge)
        }
        var status = 0
        postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return FetchedResponse(status: status, headers: response.headers, body: response.body)
    }
}

extension OutboundRequest {
    /// - Throws: ``OutboundError/invalidRequest``.
    func configure(
        _ handle: UnsafeMutableRawPointer, headers: CurlList, response: ResponseCollector
    ) throws(OutboundError) {
        // libcurl has the same error code for another scheme and for a response that is not HTTP.
        guard ["http://", "https://"].contains(where: url.lowercased().hasPrefix) else {
            throw .invalidRequest
        }
        var results = response.options(handle, within: timeout)
        results += [
            postern_curl_set_text(handle, CURLOPT_URL, url),
            postern_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            postern_curl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            postern_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            // An empty proxy turns off the environment's.
            postern_curl_set_text(handle, CURLOPT_PROXY, ""),
            postern_curl_set_list(handle, CURLOPT_HTTPHEADER, headers.first),
        ]
        if sendsProxyHeader {
            results.append(postern_curl_set_long(handle, CURLOPT_HAPROXYPROTOCOL, 1))
        }
        if let path = socketPath {
            results.append(postern_curl_set_text(handle, CURLOPT_UNIX_SOCKET_PATH, path))
        }
        if !verifiesServer {
            results.append(postern_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0))
            results.append(postern_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0))
        }
        if let file = certificateFile {
            results.append(postern_curl_set_text(handle, CURLOPT_CAINFO, file))
            results.append(postern_curl_set_text(handle, CURLOPT_CAPATH, nil))
        }
        if method == .post {
            results.append(postern_curl_set_long(handle, CURLOPT_POST, 1))
            results.append(
                postern_curl_set_size(
                    handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)))
            // The size is set first: the copy may hold a NUL.
            results.append(
                body.withUnsafeBytes { bytes in
                    postern_curl_set_text(
                        handle, CURLOPT_COPYPOSTFIELDS,
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
                })
        }
        guard results.allSatisfy({ $0 == CURLE_OK }) else { throw .invalidRequest }
    }
}

extension OutboundError {
    /// - Parameter isTooLarge: whether the transfer was ended for that (``ResponseCollector``).
    init(_ code: CURLcode, isTooLarge: Bool) {
        switch code {
        case _ where isTooLarge: self = .tooLarge
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: self = .invalidRequest
        case CURLE_COULDNT_RESOLVE_HOST: self = .unresolvable
        case CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            self = .untrusted
        default: self = .failed(code: Int(code.rawValue))
        }
    }
}

internal import CCurl
internal import Networking

/// One GET or POST to an address that was looked up before.
///
/// Guarantees: connects only to `address`, and only if the rules allow it; uses a connection again
/// only if it was opened to `address` for the same host; ends at `deadline`; follows no redirect,
/// uses no proxy, keeps no cookie, reads no password file, decodes no compression.
struct GuardedTransfer: Sendable {
    /// Seconds after which a connection is not used again and a file of certificates is read again,
    /// so that hosts are verified again from time to time.
    private static let lifetime = 300

    let target: FetchTarget
    /// Further header fields of the request.
    var headers: [(name: String, value: String)] = []
    /// Makes it a POST.
    var body: [UInt8]?
    let address: IPAddress
    /// Whether this is the last address to try. Connecting to any other address may take only half
    /// of the remaining time.
    let isLast: Bool
    let rules: FetchRules
    /// Those of the rules unless a test has its own.
    var trust: TrustAnchors?
    let deadline: ContinuousClock.Instant

    /// Opens a connection, and closes it at the end. Blocks its thread.
    /// - Returns: the body of a response with status 200.
    func get() throws(FetchError) -> [UInt8] {
        guard let handle = curlHandle() else {
            throw FetchError(.broken(code: Int(CURLE_FAILED_INIT.rawValue)))
        }
        defer { postern_curl_free(handle) }
        let end = try begin(handle)
        let (status, response) = try end(postern_curl_perform(handle))
        guard status == 200 else { throw FetchError(.status(status)) }
        guard !response.isEncoded else { throw FetchError(.encoded) }
        return response.body
    }

    /// Uses a connection of `loop` if there is one, and leaves it open.
    /// - Returns: the status of the response, from 200 to 299.
    /// - Throws: ``FetchError``, `CancellationError`.
    func post(over loop: TransferLoop) async throws -> Int {
        let status: Int
        do {
            status = try await loop.perform { handle in
                let end = try begin(handle)
                return { try end($0).status }
            }
        } catch let failure as TransferLoop.Failure {
            throw FetchError(.broken(code: failure.code))
        }
        guard (200..<300).contains(status) else { throw FetchError(.status(status)) }
        return status
    }

    /// Sets the options of a handle.
    /// - Returns: what makes the result when libcurl has ended with a code.
    private func begin(
        _ handle: UnsafeMutableRawPointer
    ) throws(FetchError) -> (CURLcode) throws(FetchError) -> (status: Int, ResponseCollector) {
        let remaining = deadline - .now
        guard remaining > .zero else { throw FetchError(.timedOut) }
        let response = ResponseCollector(
            bodyLimit: rules.limits.bodyBytes, headerLimit: rules.limits.headBytes)
        // Here, because the first one loads libcurl.
        let trust = trust ?? TrustAnchors(file: rules.certificateFile)
        let socket = SocketGuard(pinned: address, rules: rules)
        let pins = CurlList([pin])
        guard let fields = CurlList(headers: headers) else {
            throw FetchError(.broken(code: Int(CURLE_BAD_FUNCTION_ARGUMENT.rawValue)))
        }
        let options =
            requestOptions(handle, fields) + bodyOptions(handle)
            + connectionOptions(handle, pins, socket) + trust.options(handle)
            + response.options(
                handle, within: remaining, connecting: isLast ? remaining : remaining / 2)
        // libcurl before 7.87 reads the file each time, and does not have it.
        _ = postern_curl_set_long(handle, CURLOPT_CA_CACHE_TIMEOUT, Self.lifetime)
        guard options.allSatisfy({ $0 == CURLE_OK }) else {
            throw FetchError(.broken(code: Int(CURLE_BAD_FUNCTION_ARGUMENT.rawValue)))
        }
        return { code throws(FetchError) in
            try withExtendedLifetime((socket, pins, fields)) { () throws(FetchError) in
                guard code == CURLE_OK else {
                    throw FetchError(cause(of: code, handle, response, socket))
                }
                guard response.hasWholeHead else {
                    throw FetchError(.broken(code: Int(CURLE_PARTIAL_FILE.rawValue)))
                }
                var status = 0
                postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
                return (status, response)
            }
        }
    }

    /// `name:port:address:port`: the address that libcurl connects to for the name. A connection is
    /// used again only where this is equal, too; with `CURLOPT_RESOLVE` it would be enough that the
    /// name is.
    private var pin: String {
        let address = FetchTarget.Host.address(address).text
        return "\(target.host.text):\(target.port):\(address):\(target.port)"
    }

    private func requestOptions(
        _ handle: UnsafeMutableRawPointer, _ fields: CurlList
    ) -> [CURLcode] {
        [
            postern_curl_set_text(handle, CURLOPT_URL, target.url),
            postern_curl_set_list(handle, CURLOPT_HTTPHEADER, fields.first),
            postern_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, target.scheme.rawValue),
            postern_curl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            postern_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1),
            postern_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            postern_curl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
            postern_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
            postern_curl_set_text(handle, CURLOPT_USERAGENT, rules.userAgent),
        ]
    }

    private func bodyOptions(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        guard let body else { return [] }
        return [
            postern_curl_set_long(handle, CURLOPT_POST, 1),
            postern_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)),
            // The size is set first: the copy may hold a NUL.
            body.withUnsafeBytes { bytes in
                postern_curl_set_text(
                    handle, CURLOPT_COPYPOSTFIELDS,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
            },
        ]
    }

    private func connectionOptions(
        _ handle: UnsafeMutableRawPointer, _ pins: CurlList, _ socket: SocketGuard
    ) -> [CURLcode] {
        [
            // An empty proxy turns off the environment's.
            postern_curl_set_text(handle, CURLOPT_PROXY, ""),
            postern_curl_set_list(handle, CURLOPT_CONNECT_TO, pins.first),
            postern_curl_set_opener(handle) { context, _, peer in
                SocketGuard.from(context).open(peer)
            },
            postern_curl_set_context(handle, CURLOPT_OPENSOCKETDATA, socket.context),
            postern_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1),
            postern_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2),
            postern_curl_set_long(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
            postern_curl_set_long(handle, CURLOPT_MAXLIFETIME_CONN, Self.lifetime),
        ]
    }

    private func cause(
        of code: CURLcode, _ handle: UnsafeMutableRawPointer, _ response: ResponseCollector,
        _ socket: SocketGuard
    ) -> FetchError.Cause {
        switch code {
        case _ where response.isTooLarge: .tooLarge
        case _ where response.isTransferCoded: .encoded
        case CURLE_COULDNT_CONNECT:
            socket.forbidden.map(FetchError.Cause.forbiddenAddress) ?? .unreachable
        case CURLE_OPERATION_TIMEDOUT where !isLast && !isConnected(handle): .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            .untrusted
        default: .broken(code: Int(code.rawValue))
        }
    }

    /// Whether connection and TLS were established.
    private func isConnected(_ handle: UnsafeMutableRawPointer) -> Bool {
        var microseconds: curl_off_t = 0
        postern_curl_get_size(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds)
        return microseconds > 0
    }
}

/// Opens the socket of one transfer. This is the last check of the address; it cannot change
/// afterwards, also when the connection is used again. Used on the thread of its transfer only.
final class SocketGuard {
    /// The last address that no socket was opened for.
    private(set) var forbidden: IPAddress?
    private let pinned: IPAddress
    private let rules: FetchRules

    /// - Parameter pinned: the address that was looked up and allowed.
    init(pinned: IPAddress, rules: FetchRules) {
        self.pinned = pinned
        self.rules = rules
    }

    /// A pointer to this object, which libcurl passes to its callbacks. Valid as long as the object
    /// exists.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// - Parameter context: the value of ``context``.
    static func from(_ context: UnsafeMutableRawPointer?) -> SocketGuard {
        guard let context else { preconditionFailure("libcurl lost the context it was given") }
        return Unmanaged<SocketGuard>.fromOpaque(context).takeUnretainedValue()
    }

    /// - Returns: a descriptor, or -1, libcurl's `CURL_SOCKET_BAD`.
    func open(_ peer: UnsafePointer<curl_sockaddr>?) -> Int32 {
        guard let peer else { return -1 }
        let bytes = UnsafeRawBufferPointer(
            start: postern_curl_peer(peer), count: Int(peer.pointee.addrlen))
        guard let address = SocketAddress(sockaddr: bytes)?.address else { return -1 }
        guard address == pinned, rules.allows(address) else {
            forbidden = address
            return -1
        }
        return postern_curl_open_socket(peer)
    }
}

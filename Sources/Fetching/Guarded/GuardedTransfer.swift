internal import CCurl
internal import Networking

/// One GET from addresses that were looked up before. Blocks its thread.
///
/// Guarantees: connects only to `addresses`, and to those only if the rules allow them; ends at
/// `deadline`; follows no redirect, uses no proxy, keeps no cookie, reads no password file, decodes
/// no compression.
struct GuardedTransfer: Sendable {
    /// The first addresses of a name that are tried.
    private static let maxAddresses = 8

    let target: FetchTarget
    let addresses: [IPAddress]
    let rules: FetchRules
    let trust: TrustAnchors
    let deadline: ContinuousClock.Instant

    func perform() throws(FetchError) -> [UInt8] {
        let remaining = deadline - .now
        guard remaining > .zero else { throw FetchError(.timedOut) }
        guard let handle = curlHandle() else {
            throw FetchError(.broken(code: Int(CURLE_FAILED_INIT.rawValue)))
        }
        defer { curl_easy_cleanup(handle) }
        let response = ResponseCollector(
            bodyLimit: rules.limits.bodyBytes, headerLimit: rules.limits.headBytes)
        let socket = SocketGuard(pinned: addresses, rules: rules)
        let pins = CurlList([pin])
        let options =
            requestOptions(handle) + connectionOptions(handle, pins, socket)
            + response.options(handle, within: remaining)
        guard options.allSatisfy({ $0 == CURLE_OK }) else {
            throw FetchError(.broken(code: Int(CURLE_BAD_FUNCTION_ARGUMENT.rawValue)))
        }
        let result = withExtendedLifetime((response, socket, pins)) { curl_easy_perform(handle) }
        guard result == CURLE_OK else {
            throw FetchError(Self.cause(of: result, response, socket))
        }
        guard response.hasWholeHead else {
            throw FetchError(.broken(code: Int(CURLE_PARTIAL_FILE.rawValue)))
        }
        var status = 0
        postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        guard status == 200 else { throw FetchError(.status(status)) }
        guard !response.isEncoded else { throw FetchError(.encoded) }
        return response.body
    }

    /// `name:port:address,address`: the addresses that libcurl uses for the name. For a numeric
    /// host it changes nothing.
    private var pin: String {
        let list = addresses.prefix(Self.maxAddresses)
            .map { FetchTarget.Host.address($0).text }
            .joined(separator: ",")
        return "\(target.host.text):\(target.port):\(list)"
    }

    private func requestOptions(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        [
            postern_curl_set_text(handle, CURLOPT_URL, target.url),
            postern_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, target.scheme.rawValue),
            postern_curl_set_long(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            postern_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1),
            postern_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            postern_curl_set_long(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1),
            postern_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
            postern_curl_set_text(handle, CURLOPT_USERAGENT, rules.userAgent),
        ]
    }

    private func connectionOptions(
        _ handle: UnsafeMutableRawPointer, _ pins: CurlList, _ socket: SocketGuard
    ) -> [CURLcode] {
        [
            // An empty proxy turns off the environment's.
            postern_curl_set_text(handle, CURLOPT_PROXY, ""),
            postern_curl_set_list(handle, CURLOPT_RESOLVE, pins.first),
            postern_curl_set_opener(handle) { context, _, peer in
                SocketGuard.from(context).open(peer)
            },
            postern_curl_set_context(handle, CURLOPT_OPENSOCKETDATA, socket.context),
            postern_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1),
            postern_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2),
            postern_curl_set_long(handle, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2),
        ] + trust.options(handle)
    }

    private static func cause(
        of code: CURLcode, _ response: ResponseCollector, _ socket: SocketGuard
    ) -> FetchError.Cause {
        switch code {
        case CURLE_WRITE_ERROR where response.isTooLarge: .tooLarge
        case CURLE_COULDNT_CONNECT:
            socket.forbidden.map(FetchError.Cause.forbiddenAddress) ?? .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            .untrusted
        default: .broken(code: Int(code.rawValue))
        }
    }
}

/// Opens the socket of one transfer. The last check of the address, when nothing can change it any
/// more. Used on the thread of its transfer only.
final class SocketGuard {
    /// The last address that no socket was opened for.
    private(set) var forbidden: IPAddress?
    private let pinned: Set<IPAddress>
    private let rules: FetchRules

    /// - Parameter pinned: the addresses that were looked up and allowed.
    init(pinned: [IPAddress], rules: FetchRules) {
        self.pinned = Set(pinned)
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
        guard pinned.contains(address), rules.allows(address) else {
            forbidden = address
            return -1
        }
        return postern_curl_open_socket(peer)
    }
}

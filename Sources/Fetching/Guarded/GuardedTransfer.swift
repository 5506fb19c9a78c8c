internal import CCurl

/// One GET to addresses that are known by now, blocking.
///
/// Promises: connects to none but `addresses`, and to those only if the rules allow them; ends at
/// `deadline`; follows no redirect, obeys no proxy, keeps no cookie, reads no password file,
/// decodes nothing.
struct GuardedTransfer: Sendable {
    /// More of a name's addresses are not tried.
    private static let addressLimit = 8

    let target: FetchTarget
    let addresses: [IPAddress]
    let rules: FetchRules
    let trust: TrustAnchors
    let deadline: ContinuousClock.Instant

    func perform() throws(FetchFailure) -> [UInt8] {
        let remaining = deadline - .now
        guard remaining > .zero else { throw FetchFailure(.timedOut) }
        guard Fetcher.isReady, let handle = curl_easy_init() else {
            throw FetchFailure(.broken(code: Int(CURLE_FAILED_INIT.rawValue)))
        }
        defer { curl_easy_cleanup(handle) }
        let answer = Answer(
            bodyLimit: rules.limits.bodyOctets, headerLimit: rules.limits.headOctets)
        let socket = SocketGuard(pinned: addresses, rules: rules.addresses)
        let pins = TextList([pin])
        let options =
            requestOptions(handle) + connectionOptions(handle, pins, socket)
            + answer.options(handle, within: remaining)
        guard options.allSatisfy({ $0 == CURLE_OK }) else {
            throw FetchFailure(.broken(code: Int(CURLE_BAD_FUNCTION_ARGUMENT.rawValue)))
        }
        let result = withExtendedLifetime((answer, socket, pins)) { curl_easy_perform(handle) }
        guard result == CURLE_OK else {
            throw FetchFailure(Self.cause(of: result, answer, socket))
        }
        guard answer.hasWholeHead else {
            throw FetchFailure(.broken(code: Int(CURLE_PARTIAL_FILE.rawValue)))
        }
        var status = 0
        postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        guard status == 200 else { throw FetchFailure(.status(status)) }
        guard !answer.isEncoded else { throw FetchFailure(.encoded) }
        return answer.body
    }

    /// `name:port:address,address`: what libcurl is to take for the name's addresses. A literal
    /// address needs none, and does no harm.
    private var pin: String {
        let list = addresses.prefix(Self.addressLimit)
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
        _ handle: UnsafeMutableRawPointer, _ pins: TextList, _ socket: SocketGuard
    ) -> [CURLcode] {
        [
            // An empty proxy switches off the environment's.
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
        of code: CURLcode, _ answer: Answer, _ socket: SocketGuard
    ) -> FetchFailure.Cause {
        switch code {
        case CURLE_WRITE_ERROR where answer.isTooLarge: .tooLarge
        case CURLE_COULDNT_RESOLVE_HOST: .unresolvable
        case CURLE_COULDNT_CONNECT:
            socket.refused.map(FetchFailure.Cause.refusedAddress) ?? .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            .untrusted
        default: .broken(code: Int(code.rawValue))
        }
    }
}

internal import CCurl

/// Gives messages to a relay, each over a connection of its own. The caller bounds how many at
/// once.
///
/// A message takes no thread of its own while it waits for the relay. It ends within the relay's
/// timeout, or when its task is cancelled.
public final class RelayClient: Sendable {
    public let relay: MailRelay
    private let transfers = TransferLoop(idle: 1)

    public init(_ relay: MailRelay) {
        self.relay = relay
    }

    /// Returns once the relay has taken the message: it is responsible for it from then on.
    /// - Throws: ``RelayError``, or `CancellationError` when cancelled.
    public func send(_ mail: OutboundMail) async throws {
        try await perform { handle in
            let source = MailSource(mail.bytes)
            let recipients = CurlList(["<\(mail.recipient)>"])
            return (
                [
                    postern_curl_set_text(handle, CURLOPT_MAIL_FROM, "<\(mail.sender)>"),
                    postern_curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients.first),
                    postern_curl_set_long(handle, CURLOPT_UPLOAD, 1),
                    postern_curl_set_size(
                        handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(mail.bytes.count)),
                ] + source.options(handle), [source, recipients]
            )
        }
    }

    /// Connects, logs in and ends: for a check of the settings.
    public func probe() async throws {
        try await perform { handle in
            ([postern_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, "NOOP")], [])
        }
    }

    /// - Parameter prepare: sets further options, and returns what they point to.
    private func perform(
        _ prepare: @escaping @Sendable (TransferLoop.Handle) -> ([CURLcode], [AnyObject])
    ) async throws {
        do {
            try await transfers.perform { [relay] handle in
                let response = ResponseCollector(bodyLimit: 65_536)
                let (options, kept) = prepare(handle)
                let results =
                    options + relay.options(handle)
                    + response.options(
                        handle, within: relay.timeout)
                guard results.allSatisfy({ $0 == CURLE_OK }) else {
                    throw RelayError.failed(code: Int(CURLE_UNSUPPORTED_PROTOCOL.rawValue))
                }
                return { code in
                    try withExtendedLifetime((kept, response)) {
                        guard code != CURLE_OK else { return }
                        var reply = 0
                        postern_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &reply)
                        throw RelayError(code, reply: reply)
                    }
                }
            }
        } catch let failure as TransferLoop.Failure {
            throw RelayError.failed(code: failure.code)
        }
    }
}

extension MailRelay {
    fileprivate func options(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        var results = [
            postern_curl_set_text(handle, CURLOPT_URL, url),
            postern_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps"),
            // An empty proxy turns off the environment's.
            postern_curl_set_text(handle, CURLOPT_PROXY, ""),
            // Relays close connections that are not used, and mail is rare.
            postern_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1),
        ]
        if encryption == .starttls {
            results.append(
                postern_curl_set_long(handle, CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)))
        }
        if let login {
            results += [
                postern_curl_set_text(handle, CURLOPT_USERNAME, login.account),
                postern_curl_set_text(handle, CURLOPT_PASSWORD, login.password),
                // One round trip less (RFC 4954 §4).
                postern_curl_set_long(handle, CURLOPT_SASL_IR, 1),
            ]
        }
        if let certificateFile {
            results += [
                postern_curl_set_text(handle, CURLOPT_CAINFO, certificateFile),
                postern_curl_set_text(handle, CURLOPT_CAPATH, nil),
            ]
        }
        return results
    }
}

extension RelayError {
    fileprivate init(_ code: CURLcode, reply: Int) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_USE_SSL_FAILED:
            self = .untrusted
        // A relay may also be unable to check a login for the moment (RFC 4954 §6).
        case CURLE_LOGIN_DENIED where !(400..<500).contains(reply): self = .loginRejected
        default:
            self =
                (400...599).contains(reply)
                ? .rejected(code: reply) : .failed(code: Int(code.rawValue))
        }
    }
}

/// The bytes that libcurl reads piece by piece. Used on the thread of the transfer only.
private final class MailSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func options(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        [
            postern_curl_set_sink(handle, CURLOPT_READFUNCTION) { data, size, count, context in
                guard let context else { preconditionFailure("libcurl lost its context") }
                return Unmanaged<MailSource>.fromOpaque(context).takeUnretainedValue()
                    .fill(data, size * count)
            },
            postern_curl_set_context(
                handle, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque()),
        ]
    }

    private func fill(_ target: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
        let piece = rest.prefix(capacity)
        UnsafeMutableRawBufferPointer(start: target, count: capacity).copyBytes(from: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }
}

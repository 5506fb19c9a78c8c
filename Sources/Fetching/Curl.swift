internal import CCurl

/// Why libcurl cannot be used; `nil` when it is loaded. Loaded once per process, when it is first
/// needed.
private let curlFault = postern_curl_load().map(String.init(cString:))

/// A new handle of libcurl, to be freed with `postern_curl_free`; `nil` when libcurl cannot be
/// loaded, or there is no memory.
func curlHandle() -> UnsafeMutableRawPointer? {
    curlFault == nil ? postern_curl_new() : nil
}

/// libcurl's text for an error code, or why there is no libcurl.
func curlText(_ code: Int) -> String {
    curlFault ?? String(cString: postern_curl_error(CURLcode(UInt32(code))))
}

/// Collects the response that libcurl delivers piece by piece. Used on the thread of its request
/// only.
final class ResponseCollector {
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the empty line after the fields was read. For libcurl a response that ends before it
    /// is a response without a body.
    private(set) var hasWholeHead = false
    private var headerBytes = 0
    /// Received after the head: the body and what frames it.
    private var dataBytes = 0
    private let bodyLimit: Int
    private let headerLimit: Int

    init(bodyLimit: Int, headerLimit: Int = 65_536) {
        self.bodyLimit = bodyLimit
        self.headerLimit = headerLimit
    }

    /// Whether the transfer was ended because it has a coding other than chunks. libcurl would
    /// decode up to five unasked, with no limit between them: some kilobytes keep it busy for
    /// minutes.
    private(set) var isTransferCoded = false

    /// Whether the body has a coding, which libcurl leaves as it is.
    var isEncoded: Bool {
        headers.contains { name, value in
            equalIgnoringCase(name, "content-encoding") && !equalIgnoringCase(value, "identity")
        }
    }

    /// A pointer to this object, which libcurl passes to its callbacks. Valid as long as the object
    /// exists.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// - Parameter context: the value of ``context``.
    static func from(_ context: UnsafeMutableRawPointer?) -> ResponseCollector {
        guard let context else { preconditionFailure("libcurl lost the context it was given") }
        return Unmanaged<ResponseCollector>.fromOpaque(context).takeUnretainedValue()
    }

    /// Makes libcurl deliver to this object and end after `time`. Both times are taken for at least
    /// one millisecond and at most 24 days.
    /// - Parameter connecting: the part of it in which connection and TLS must be established; all
    ///   of it when `nil`.
    func options(
        _ handle: UnsafeMutableRawPointer, within time: Duration, connecting: Duration? = nil
    ) -> [CURLcode] {
        [
            postern_curl_set_long(
                handle, CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(connecting ?? time)),
            // Without it libcurl's timeouts use signals, which are not safe with threads.
            postern_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            postern_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Self.milliseconds(time)),
            postern_curl_set_sink(handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                ResponseCollector.from(context).takeHeader(data, size * count)
            },
            postern_curl_set_context(handle, CURLOPT_HEADERDATA, context),
            postern_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                ResponseCollector.from(context).takeBody(data, size * count)
            },
            postern_curl_set_context(handle, CURLOPT_WRITEDATA, context),
            postern_curl_read_by_record(handle),
        ] + framingOptions(handle)
    }

    /// Bounds what frames a body. libcurl reads the extensions of chunks without a limit and
    /// without another callback, so they are counted in its trace, and the transfer ends at the
    /// next report of its progress.
    private func framingOptions(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        [
            postern_curl_set_trace(handle) { _, kind, _, count, context in
                if kind == CURLINFO_DATA_IN { ResponseCollector.from(context).dataBytes += count }
                return 0
            },
            postern_curl_set_context(handle, CURLOPT_DEBUGDATA, context),
            postern_curl_set_progress(handle) { context, _, _, _, _ in
                ResponseCollector.from(context).hasTooLargeFrame() ? 1 : 0
            },
            postern_curl_set_context(handle, CURLOPT_XFERINFODATA, context),
        ]
    }

    private static func milliseconds(_ time: Duration) -> Int {
        // Bounded first: a long time does not fit into an integer.
        Int(min(max(1, time / .milliseconds(1)), Double(Int32.max)))
    }

    /// - Returns: how many bytes were taken; with fewer than `count` libcurl ends the transfer.
    func takeBody(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= bodyLimit else {
            isTooLarge = true
            return 0
        }
        body += UnsafeRawBufferPointer(start: data, count: count)
        return count
    }

    /// Whether what frames the body exceeds its limit: that of the head, and 15 bytes for each one
    /// of the body. A chunk of one byte has a frame of five, and more with zeros before its size.
    private func hasTooLargeFrame() -> Bool {
        if dataBytes - body.count > headerLimit + 15 * body.count { isTooLarge = true }
        return isTooLarge
    }

    /// Takes one line, also a status line or the empty one.
    func takeHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerBytes += count
        guard headerBytes <= headerLimit else {
            isTooLarge = true
            return 0
        }
        // By bytes: a combining character after a colon would make one Character of both.
        let line = UnsafeRawBufferPointer(start: data, count: count)
        if line.starts(with: "HTTP/".utf8) {
            // The fields so far are those of an interim response (100, 103).
            headers = []
            hasWholeHead = false
        } else if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) {
            hasWholeHead = true
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let isWhite = { (byte: UInt8) in [0x20, 0x09, 0x0d, 0x0a].contains(byte) }
            let value = line[(colon + 1)...].drop(while: isWhite)
            let end = value.lastIndex { !isWhite($0) }.map { $0 + 1 } ?? value.startIndex
            let field = (
                name: String(decoding: line[..<colon], as: UTF8.self),
                value: String(decoding: value[..<end], as: UTF8.self)
            )
            headers.append(field)
            if equalIgnoringCase(field.name, "transfer-encoding"),
                !equalIgnoringCase(field.value, "chunked")
            {
                isTransferCoded = true
                return 0
            }
        }
        return count
    }
}

/// Texts in the form that libcurl takes, freed with this object.
final class CurlList {
    let first: UnsafeMutablePointer<curl_slist>?

    init(_ texts: [String]) {
        first = texts.reduce(nil) { postern_curl_append($0, $1) }
    }

    /// Header fields.
    /// - Returns: `nil` where one cannot be sent: a name is empty, or there is a control character.
    convenience init?(headers: [(name: String, value: String)]) {
        let areValid = headers.allSatisfy { name, value in
            !name.isEmpty && (name + value).utf8.allSatisfy { (0x20...0x7e).contains($0) }
        }
        guard areValid else { return nil }
        // libcurl sends a field without a value for `Name;`, and none for `Name:`.
        self.init(headers.map { $1.isEmpty ? "\($0);" : "\($0): \($1)" })
    }

    deinit {
        postern_curl_free_list(first)
    }
}

/// Whether two texts are equal byte by byte, in either case of ASCII letters.
func equalIgnoringCase(_ one: String, _ other: String) -> Bool {
    func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
    return one.utf8.elementsEqual(other.utf8) { lowered($0) == lowered($1) }
}

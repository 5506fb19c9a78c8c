internal import CCurl

/// What libcurl hands over piece by piece while one request runs, on that request's thread only.
final class Answer {
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// Whether the empty line after the fields has come. libcurl takes an answer that ends before
    /// it for one without a body.
    private(set) var hasWholeHead = false
    private var headerOctets = 0
    private let bodyLimit: Int
    private let headerLimit: Int

    init(bodyLimit: Int, headerLimit: Int = 65_536) {
        self.bodyLimit = bodyLimit
        self.headerLimit = headerLimit
    }

    /// Whether the body is in a coding besides chunks. libcurl decodes a compressed transfer
    /// without being asked to.
    var isEncoded: Bool {
        headers.contains { name, value in
            switch name.lowercased() {
            case "content-encoding": value.lowercased() != "identity"
            case "transfer-encoding": value.lowercased() != "chunked"
            default: false
            }
        }
    }

    /// For libcurl to give back; lives as long as this object.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// - Parameter context: what ``context`` was.
    static func from(_ context: UnsafeMutableRawPointer?) -> Answer {
        guard let context else { preconditionFailure("libcurl lost the context it was given") }
        return Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Has libcurl hand everything to this object, for so long at most: a millisecond to 24 days,
    /// and what is beyond is taken for the bound.
    func options(_ handle: UnsafeMutableRawPointer, within time: Duration) -> [CURLcode] {
        // Bounded before it is an integer, which a long enough time would not fit in.
        let milliseconds = Int(min(max(1, time / .milliseconds(1)), Double(Int32.max)))
        return [
            // libcurl's own alarm would be a signal in a program with threads.
            postern_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            postern_curl_set_long(handle, CURLOPT_TIMEOUT_MS, milliseconds),
            postern_curl_set_sink(handle, CURLOPT_HEADERFUNCTION) { data, size, count, context in
                Answer.from(context).takeHeader(data, size * count)
            },
            postern_curl_set_context(handle, CURLOPT_HEADERDATA, context),
            postern_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { data, size, count, context in
                Answer.from(context).takeBody(data, size * count)
            },
            postern_curl_set_context(handle, CURLOPT_WRITEDATA, context),
        ]
    }

    /// - Returns: how many octets were taken; fewer makes libcurl give up.
    func takeBody(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard body.count + count <= bodyLimit else {
            isTooLarge = true
            return 0
        }
        body += UnsafeRawBufferPointer(start: data, count: count)
        return count
    }

    /// One whole line at a time, status lines and the empty one too.
    func takeHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        headerOctets += count
        guard headerOctets <= headerLimit else {
            isTooLarge = true
            return 0
        }
        let line = String(
            decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // An interim answer (100, 103) came before; its fields are not the final one's.
            headers = []
            hasWholeHead = false
        } else if line == "\r\n" || line == "\n" {
            hasWholeHead = true
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            headers.append((String(line[..<colon]), value.trimmed))
        }
        return count
    }
}

/// Header fields in the form that libcurl takes, freed with this object.
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ headers: [(name: String, value: String)]) throws {
        for (name, value) in headers {
            let isSafe = (name + value).utf8.allSatisfy { (0x20...0x7e).contains($0) }
            // `Name;` is how libcurl is told to send a field without value.
            let line = value.isEmpty ? "\(name);" : "\(name): \(value)"
            guard isSafe, !name.isEmpty, let longer = curl_slist_append(first, line) else {
                throw FetchFault.invalidRequest
            }
            first = longer
        }
    }

    deinit {
        curl_slist_free_all(first)
    }
}

/// Texts in the form that libcurl takes, freed with this object.
final class TextList {
    let first: UnsafeMutablePointer<curl_slist>?

    init(_ texts: [String]) {
        first = texts.reduce(nil) { curl_slist_append($0, $1) }
    }

    deinit {
        curl_slist_free_all(first)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let isWhite = { (character: Character) in character.isWhitespace }
        guard let last = lastIndex(where: { !isWhite($0) }) else { return "" }
        return String(self[...last].drop(while: isWhite))
    }
}

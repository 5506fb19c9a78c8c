internal import CCurl
internal import Glibc

/// The certificates that a host's certificate must be signed by, directly or through others.
enum TrustAnchors: Equatable, Sendable {
    /// All in one file, which is read for every fetch, and for posts after some time. For a few
    /// certificates of the operator.
    case file(String)
    /// Each in a file named by its hash, which is read when a host needs it. Reading the system's
    /// whole bundle takes 25 ms for every fetch, as long as the password hash itself.
    case directory(String)
    /// The certificates that libcurl was built with.
    case builtIn

    /// - Parameter file: the operator's, or `nil` for the system's.
    init(file: String?) {
        self = file.map(TrustAnchors.file) ?? Self.system
    }

    /// Asks libcurl, so it is not known before the first fetch.
    private static let system: TrustAnchors =
        if let directory = systemDirectory, isHashed(directory) {
            .directory(directory)
        } else {
            .builtIn
        }

    func options(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        switch self {
        case .file(let path):
            [
                postern_curl_set_text(handle, CURLOPT_CAINFO, path),
                postern_curl_set_text(handle, CURLOPT_CAPATH, nil),
            ]
        case .directory(let path):
            [
                postern_curl_set_text(handle, CURLOPT_CAINFO, nil),
                postern_curl_set_text(handle, CURLOPT_CAPATH, path),
            ]
        case .builtIn: []
        }
    }

    /// Whether OpenSSL finds certificates there, in files such as `1d3472b9.0`. It finds none in a
    /// bundle.
    static func isHashed(_ directory: String) -> Bool {
        var found = glob_t()
        defer { globfree(&found) }
        let digits = String(repeating: "[0-9a-f]", count: 8)
        return glob("\(directory)/\(digits).0", GLOB_NOSORT, nil, &found) == 0
    }

    private static var systemDirectory: String? {
        guard let handle = curlHandle() else { return nil }
        defer { postern_curl_free(handle) }
        var path: UnsafePointer<CChar>?
        guard postern_curl_get_text(handle, CURLINFO_CAPATH, &path) == CURLE_OK else { return nil }
        return path.map(String.init(cString:))
    }
}

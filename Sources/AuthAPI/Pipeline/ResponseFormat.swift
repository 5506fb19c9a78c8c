internal import HTTPEngine

/// The format of a response that both people and programs may get.
enum ResponseFormat: Equatable {
    case json
    case html
}

extension Request {
    /// JSON when the request was JSON, or when `Accept` prefers it to HTML; HTML otherwise.
    var responseFormat: ResponseFormat { responseFormat(of: headers.mediaType) }

    /// - Parameter mediaType: the media type of the body.
    func responseFormat(of mediaType: String?) -> ResponseFormat {
        isJSON(mediaType) ? .json : headers.acceptedFormat
    }
}

extension HeaderFields {
    /// The format by the header fields alone, for errors that occur before the body is read.
    var responseFormat: ResponseFormat {
        mediaType == "application/json" ? .json : acceptedFormat
    }

    fileprivate var acceptedFormat: ResponseFormat {
        let accept = AcceptedTypes(values("accept"))
        return accept.weight(of: "application", "json") > accept.weight(of: "text", "html")
            ? .json : .html
    }
}

/// An `Accept` header (RFC 9110 §12.5.1), for comparing the preference for two types.
struct AcceptedTypes {
    /// The preference for a type: by its quality, and for equal quality by its specificity.
    struct Weight: Comparable {
        /// Thousandths.
        let quality: Int
        /// 2 for the type itself, 1 for `type/*`, 0 for `*/*` and for a type that no range matches.
        let specificity: Int

        static func < (one: Weight, other: Weight) -> Bool {
            (one.quality, one.specificity) < (other.quality, other.specificity)
        }
    }

    /// Further ranges are ignored.
    private static let maximumRanges = 64
    private let ranges: [(type: String, subtype: String, quality: Int)]

    init(_ values: [FieldText]) {
        ranges = values.flatMap { $0.parts(separatedBy: ",") }.filter { !$0.trimmed.isEmpty }
            .prefix(Self.maximumRanges).compactMap { range in
                let parts = range.parts(separatedBy: ";").map(\.trimmed)
                let names = parts[0].parts(separatedBy: "/")
                guard names.count == 2 else { return nil }
                let quality = parts.dropFirst().lazy
                    .compactMap { $0.dropping(prefix: "q=") ?? $0.dropping(prefix: "Q=") }
                    .first.map(Self.thousandths)
                return (names[0].lowercased, names[1].lowercased, quality ?? 1000)
            }
    }

    /// The most specific range that names the type decides; without an `Accept` all are equal.
    func weight(of type: String, _ subtype: String) -> Weight {
        if ranges.isEmpty { return Weight(quality: 1000, specificity: 0) }
        let patterns = [(type, subtype), (type, "*"), ("*", "*")]
        for (index, pattern) in patterns.enumerated() {
            if let range = ranges.first(where: { ($0.type, $0.subtype) == pattern }) {
                // Quality 0 means "not acceptable" (RFC 9110 §12.4.2), however specific the range
                // is.
                return Weight(
                    quality: range.quality, specificity: range.quality > 0 ? 2 - index : 0)
            }
        }
        return Weight(quality: 0, specificity: 0)
    }

    /// `0.5` is 500; a text that is not a quality value (RFC 9110 §12.4.2) counts as 0.
    private static func thousandths(of value: FieldText) -> Int {
        let parts = value.parts(separatedBy: ".").map(\.text)
        let digits = parts.count == 2 ? parts[1].utf8.map(Int.init) : []
        guard parts.count <= 2, parts[0] == "0" || parts[0] == "1", digits.count <= 3,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        let fraction = zip(digits, [100, 10, 1]).reduce(0) { $0 + ($1.0 - 0x30) * $1.1 }
        return min(1000, (parts[0] == "1" ? 1000 : 0) + fraction)
    }
}

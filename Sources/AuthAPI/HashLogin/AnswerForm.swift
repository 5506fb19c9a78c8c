internal import HTTPEngine

/// In which form a client of the hash-login surface is answered.
enum AnswerForm: Equatable {
    case json
    case html
}

extension Request {
    /// JSON when the request itself was, or when `Accept` prefers it to HTML; HTML otherwise.
    var answerForm: AnswerForm { isJSON ? .json : headers.answerForm }

    /// By its type; a body without one that begins like an object is one.
    var isJSON: Bool {
        guard let mediaType = headers.mediaType else {
            return body.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "{")
        }
        return mediaType == "application/json"
    }
}

extension HeaderFields {
    /// The same as far as the head tells: a fault may come before there is a body.
    var answerForm: AnswerForm {
        if mediaType == "application/json" { return .json }
        let accept = AcceptedTypes(all("accept"))
        return accept.weight(of: "application", "json") > accept.weight(of: "text", "html")
            ? .json : .html
    }
}

/// An `Accept` header (RFC 9110 §12.5.1), as far as two types have to be weighed against each
/// other.
struct AcceptedTypes {
    /// How much a type is wanted: by its quality, and among equals by how plainly it was named.
    struct Weight: Comparable {
        /// Thousandths.
        let quality: Int
        /// 2 for the type itself, 1 for `type/*`, 0 for `*/*` and for what was not named at all.
        let plainness: Int

        static func < (one: Weight, other: Weight) -> Bool {
            (one.quality, one.plainness) < (other.quality, other.plainness)
        }
    }

    /// More ranges than this are more than any client means.
    private static let maximumRanges = 64
    private let ranges: [(type: String, subtype: String, quality: Int)]

    init(_ values: [String]) {
        ranges = values.flatMap { $0.split(separator: ",") }.prefix(Self.maximumRanges)
            .compactMap { range in
                let parts = range.lowercased().split(
                    separator: ";", omittingEmptySubsequences: false
                ).map { $0.filter { $0 != " " && $0 != "\t" } }
                let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
                guard names.count == 2 else { return nil }
                let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
                    .map { Self.thousandths(of: $0.dropFirst(2)) }
                return (String(names[0]), String(names[1]), quality ?? 1000)
            }
    }

    /// The most specific range that names the type decides; without an `Accept` all are equal.
    func weight(of type: String, _ subtype: String) -> Weight {
        if ranges.isEmpty { return Weight(quality: 1000, plainness: 0) }
        let patterns = [(type, subtype), (type, "*"), ("*", "*")]
        for (index, pattern) in patterns.enumerated() {
            if let range = ranges.first(where: { ($0.type, $0.subtype) == pattern }) {
                // However plainly a type is named, with quality 0 it is refused.
                return Weight(quality: range.quality, plainness: range.quality > 0 ? 2 - index : 0)
            }
        }
        return Weight(quality: 0, plainness: 0)
    }

    /// `0.5` is 500; what is no quality value (RFC 9110 §12.4.2) counts as 0.
    private static func thousandths(of text: Substring) -> Int {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? parts[1] : ""
        guard parts.count <= 2, parts[0] == "0" || parts[0] == "1", digits.utf8.count <= 3,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let fraction = Int(digits + String(repeating: "0", count: 3 - digits.utf8.count))
        else { return 0 }
        return min(1000, (parts[0] == "1" ? 1000 : 0) + fraction)
    }
}

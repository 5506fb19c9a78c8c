internal import LocalMail
internal import MIME
internal import StrictJSON

/// SearchSnippet/get (RFC 8621 §5).
enum SearchSnippetMethod {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        ["SearchSnippet/get": .one(Capability.mail, get)]
    }

    @Sendable private static func get(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "filter", "emailIds"])
        try arguments.checkAccount(of: context)
        guard let ids = try arguments.ids("emailIds", in: context) else {
            throw .invalidArguments("`emailIds` must be an array of ids.")
        }
        var words = SnippetWords()
        if let filter = try EmailFilter.read(arguments) { words.add(filter) }
        let (emails, _) = context.mail.emails(ids)
        var list: [JSONValue] = []
        for email in emails {
            let summary = email.content.summary
            let subject = summary.subject.flatMap { Highlight.whole($0, words.subject) }
            var preview: String?
            if !words.body.isEmpty {
                try context.read(email.size)
                preview = text(of: email).flatMap { Highlight.excerpt($0, words.body) }
            }
            list.append(
                .object(
                    JSONObject(members: [
                        .init("emailId", .string(email.id)), .init("subject", .optional(subject)),
                        .init("preview", .optional(preview)),
                    ])))
        }
        let found = Set(emails.map(\.id))
        let missing = ids.filter { !found.contains($0) }
        return [
            .init("accountId", .string(context.mail.account.id)), .init("list", .array(list)),
            .init("notFound", missing.isEmpty ? .null : .strings(missing)),
        ]
    }

    /// The beginning of each text of the message.
    private static func text(of email: MailEmail) -> String? {
        do throws(MIMEError) {
            let texts = try ParsedMessage(email.content.bytes)
                .plainTexts(maxBytes: Highlight.textBytes)
            return TextCut.cut(texts.joined(separator: " "), bytes: Highlight.textBytes)
        } catch {
            // Without GMime there is no text to show.
            return nil
        }
    }
}

/// The words that a filter looks for.
private struct SnippetWords {
    /// Words and phrases that are marked; to look for more takes too long.
    private static let maxCount = 16

    private(set) var subject: [String] = []
    private(set) var body: [String] = []

    mutating func add(_ filter: MailFilter) {
        switch filter {
        case .all(let filters), .any(let filters): for filter in filters { add(filter) }
        // What must not be there has no place to show.
        case .none: break
        case .condition(.text(let text)):
            add(text, to: &subject)
            add(text, to: &body)
        case .condition(.subject(let text)): add(text, to: &subject)
        case .condition(.body(let text)): add(text, to: &body)
        case .condition: break
        }
    }

    private func add(_ text: String, to words: inout [String]) {
        for term in SearchTerms(text).terms
        where words.count < Self.maxCount && !words.contains(term) {
            words.append(term)
        }
    }
}

/// Text as HTML in which the words of a search are marked.
enum Highlight {
    /// What is looked at of a message's text.
    static let textBytes = 65_536
    /// RFC 8621 §5: a preview has at most so many bytes.
    private static let excerptBytes = 255
    private static let before = 30

    /// - Returns: `nil` where no word is found.
    static func whole(_ text: String, _ words: [String]) -> String? {
        let found = matches(text, words)
        return found.isEmpty ? nil : marked(Array(text.unicodeScalars), found, limit: .max)
    }

    /// The first place where a word is, with what is around it. Nothing in it is longer than the
    /// text itself, which is on one line.
    static func excerpt(_ text: String, _ words: [String]) -> String? {
        let line = text.unicodeScalars.split { $0.properties.isWhitespace }
        let scalars = Array(line.joined(separator: [" "]))
        var joined = String.UnicodeScalarView()
        joined.append(contentsOf: scalars)
        let found = matches(String(joined), words)
        guard let first = found.first else { return nil }
        let start = max(0, first.lowerBound - before)
        let moved = found.map { ($0.lowerBound - start)..<($0.upperBound - start) }
        return marked(Array(scalars[start...]), moved, limit: excerptBytes)
    }

    /// - Returns: ranges of Unicode scalars, in order, that do not overlap.
    private static func matches(_ text: String, _ words: [String]) -> [Range<Int>] {
        // A letter may have a lower case of several.
        var lowered: [UInt8] = []
        var places: [Int] = []
        for (place, scalar) in text.unicodeScalars.enumerated() {
            let bytes = scalar.properties.lowercaseMapping.utf8
            lowered += bytes
            places += repeatElement(place, count: bytes.count)
        }
        var found: [Range<Int>] = []
        for word in words.map({ Array($0.utf8) }) {
            guard let first = word.first else { continue }
            var start = 0
            while start + word.count <= lowered.count {
                if lowered[start] == first, lowered[start..<(start + word.count)] == word[...] {
                    found.append(places[start]..<(places[start + word.count - 1] + 1))
                    start += word.count
                } else {
                    start += 1
                }
            }
        }
        var merged: [Range<Int>] = []
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// - Parameter limit: bytes of the result; what is longer is cut at a character.
    private static func marked(
        _ text: [Unicode.Scalar], _ ranges: [Range<Int>], limit: Int
    ) -> String {
        let (open, close) = (Array("<mark>".utf8), Array("</mark>".utf8))
        var result: [UInt8] = []
        var next = ranges[...]
        var isOpen = false
        for (index, scalar) in text.enumerated() {
            if isOpen, let range = next.first, index == range.upperBound {
                result += close
                isOpen = false
                next = next.dropFirst()
            }
            let opens = !isOpen && next.first?.lowerBound == index
            let bytes = escaped(scalar)
            let reserved = (opens ? open.count : 0) + (opens || isOpen ? close.count : 0)
            guard limit == .max || result.count + bytes.count + reserved <= limit else { break }
            if opens {
                result += open
                isOpen = true
            }
            result += bytes
        }
        if isOpen { result += close }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> [UInt8] {
        switch scalar {
        case "<": Array("&lt;".utf8)
        case ">": Array("&gt;".utf8)
        case "&": Array("&amp;".utf8)
        case "\"": Array("&quot;".utf8)
        case "'": Array("&#39;".utf8)
        default: Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}

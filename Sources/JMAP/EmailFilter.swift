internal import LocalMail
internal import StrictJSON

/// Reads the filters of messages (RFC 8621 §4.4.1).
enum EmailFilter {
    static func read(_ arguments: Arguments) throws(MethodError) -> MailFilter? {
        try FilterReader(condition: condition).filter(arguments)
    }

    private static func condition(
        _ name: String, _ value: JSONValue
    ) throws(MethodError) -> MailFilter {
        guard names.contains(name) else { throw .unsupportedFilter }
        if let found = textCondition(name, value) ?? otherCondition(name, value) {
            return .condition(found)
        }
        throw .invalidArguments("`\(name)` in the filter has the wrong type.")
    }

    private static let names: Set<String> = [
        "inMailbox", "inMailboxOtherThan", "before", "after", "minSize", "maxSize",
        "allInThreadHaveKeyword", "someInThreadHaveKeyword", "noneInThreadHaveKeyword",
        "hasKeyword", "notKeyword", "hasAttachment", "text", "from", "to", "cc", "bcc", "subject",
        "body", "header",
    ]

    private static func textCondition(_ name: String, _ value: JSONValue) -> MailCondition? {
        guard let text = value.string else { return nil }
        switch name {
        case "inMailbox": return .inMailbox(text)
        case "before": return MailInstant(utcDate: text).map(MailCondition.before)
        case "after": return MailInstant(utcDate: text).map(MailCondition.after)
        case "allInThreadHaveKeyword": return .allInThreadHaveKeyword(text)
        case "someInThreadHaveKeyword": return .someInThreadHaveKeyword(text)
        case "noneInThreadHaveKeyword": return .noneInThreadHaveKeyword(text)
        case "hasKeyword": return .hasKeyword(text)
        case "notKeyword": return .notKeyword(text)
        case "text": return .text(text)
        case "from": return .from(text)
        case "to": return .to(text)
        case "cc": return .cc(text)
        case "bcc": return .bcc(text)
        case "subject": return .subject(text)
        case "body": return .body(text)
        default: return nil
        }
    }

    private static func otherCondition(_ name: String, _ value: JSONValue) -> MailCondition? {
        switch (name, value) {
        case ("inMailboxOtherThan", _): return value.strings.map(MailCondition.inMailboxOtherThan)
        case ("minSize", .integer(let size)) where size >= 0:
            return .minSize(Int(clamping: size))
        case ("maxSize", .integer(let size)) where size >= 0:
            return .maxSize(Int(clamping: size))
        case ("hasAttachment", .bool(let has)): return .hasAttachment(has)
        case ("header", _):
            guard let parts = value.strings, (1...2).contains(parts.count) else { return nil }
            return .header(name: parts[0], value: parts.count == 2 ? parts[1] : nil)
        default: return nil
        }
    }
}

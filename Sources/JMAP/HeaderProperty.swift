internal import MIME
internal import StrictJSON

/// A property of a header field, `header:{name}:as{Form}:all` (RFC 8621 §4.1.3).
struct HeaderProperty: Equatable {
    enum Form: String, CaseIterable {
        case raw = "Raw"
        case text = "Text"
        case addresses = "Addresses"
        case groupedAddresses = "GroupedAddresses"
        case messageIDs = "MessageIds"
        case date = "Date"
        case urls = "URLs"
    }

    /// As it is written in the request.
    let property: String
    let name: String
    let form: Form
    /// Whether all fields of the name are meant, and not the last one.
    let isAll: Bool

    /// - Returns: `nil` for another property, an invalid name and a form that is not allowed for
    ///   the field.
    init?(_ property: String) {
        let parts = property.utf8
            .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.first == "header", (2...4).contains(parts.count), Self.isName(parts[1]) else {
            return nil
        }
        var rest = parts.dropFirst(2)
        isAll = rest.last == "all"
        if isAll { rest = rest.dropLast() }
        guard rest.count <= 1 else { return nil }
        if let text = rest.first {
            guard let form = Form.allCases.first(where: { "as\($0.rawValue)" == text }) else {
                return nil
            }
            self.form = form
        } else {
            form = .raw
        }
        self.property = property
        name = parts[1]
        guard Self.forms(of: lowercasedName)?.contains(form) ?? true else { return nil }
    }

    /// Names of fields have no case.
    var lowercasedName: String { name.lowercased() }

    /// The convenience properties of an Email, and what each stands for.
    static let convenient: [String: String] = [
        "messageId": "header:Message-ID:asMessageIds",
        "inReplyTo": "header:In-Reply-To:asMessageIds",
        "references": "header:References:asMessageIds",
        "sender": "header:Sender:asAddresses",
        "from": "header:From:asAddresses",
        "to": "header:To:asAddresses",
        "cc": "header:Cc:asAddresses",
        "bcc": "header:Bcc:asAddresses",
        "replyTo": "header:Reply-To:asAddresses",
        "subject": "header:Subject:asText",
        "sentAt": "header:Date:asDate",
    ]

    /// As ``init(_:)``, also for convenience properties.
    static func named(_ property: String) -> HeaderProperty? {
        HeaderProperty(convenient[property] ?? property)
    }

    func value(in header: HeaderFields) -> JSONValue {
        if isAll { return .array(header.all(name).map(value)) }
        return header.last(name).map(value) ?? .null
    }

    private func value(_ field: HeaderField) -> JSONValue {
        switch form {
        case .raw: .string(field.raw)
        case .text: .string(field.text)
        case .addresses: .addresses(field.addresses)
        case .groupedAddresses:
            .array(
                field.groupedAddresses.map { group in
                    .object(
                        JSONObject(members: [
                            .init("name", .optional(group.name)),
                            .init("addresses", .addresses(group.addresses)),
                        ]))
                })
        case .messageIDs: field.messageIds.map(JSONValue.strings) ?? .null
        case .date: field.date.map(JSONValue.date) ?? .null
        case .urls: field.urls.map(JSONValue.strings) ?? .null
        }
    }

    /// RFC 5322 §3.6.8.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
    }

    /// RFC 8621 §4.1.2. A field that neither RFC 5322 nor RFC 2369 defines has every form: `nil`.
    private static func forms(of name: String) -> Set<Form>? {
        switch name {
        case "subject", "comments", "keywords": [.raw, .text]
        case "from", "sender", "reply-to", "to", "cc", "bcc", "resent-from", "resent-sender",
            "resent-reply-to", "resent-to", "resent-cc", "resent-bcc":
            [.raw, .addresses, .groupedAddresses]
        case "message-id", "in-reply-to", "references", "resent-message-id": [.raw, .messageIDs]
        case "date", "resent-date": [.raw, .date]
        case "list-help", "list-unsubscribe", "list-subscribe", "list-post", "list-owner",
            "list-archive":
            [.raw, .urls]
        case "return-path", "received": [.raw]
        default: nil
        }
    }
}

extension JSONValue {
    static func addresses(_ list: [EmailAddress]) -> JSONValue {
        .array(list.map { .address(name: $0.name, email: $0.email) })
    }

    static func address(name: String?, email: String) -> JSONValue {
        .object(
            JSONObject(members: [
                .init("name", .optional(name)), .init("email", .string(email)),
            ]))
    }

    /// A Date of RFC 8620 §1.4.
    static func date(_ date: MessageDate) -> JSONValue {
        do throws(MIMEError) {
            let text = try date.rfc3339()
            let zero = Array("+00:00".utf8)
            guard text.utf8.count > zero.count, text.utf8.suffix(zero.count).elementsEqual(zero)
            else { return .string(text) }
            return .string((String(text.utf8.dropLast(zero.count)) ?? "") + "Z")
        } catch {
            // A date that was read is one that can be written.
            return .null
        }
    }
}

import MIME

/// The parts of a message lie one after another in it, and no text that is shown on one line has
/// control characters.
func checkMessage(_ input: [UInt8]) {
    guard let message = try? ParsedMessage(input) else { fatalError("GMime is missing") }
    let leaves = message.root.all.filter { !$0.isMultipart }
    var end = 0
    for part in leaves {
        precondition(part.contentRange.lowerBound >= end, "parts overlap")
        end = part.contentRange.upperBound
        precondition(message.content(of: part).count == part.size)
        precondition(!message.text(of: part).text.utf8.contains(13))
    }
    precondition(end <= input.count)
    let shown = message.textBody + message.htmlBody + message.attachments
    precondition(Set(shown.map(\.partId)).isSubset(of: leaves.map(\.partId)))
    precondition(message.preview.unicodeScalars.count <= 256)
    for field in message.root.all.flatMap(\.header.fields) {
        let addresses = field.addresses.map { $0.email + ($0.name ?? "") }.joined()
        let hasControls = (field.text + addresses).utf8.contains { $0 < 0x20 && $0 != 9 }
        precondition(!hasControls, "a control character is shown")
        if let date = field.date { precondition((try? date.rfc3339())?.utf8.count == 25) }
        _ = (field.messageIds, field.urls)
    }
}

/// What is written has the fields that were given and no other, and is read again.
func checkDraft(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let values: [DraftValue] = [
        .text(text), .raw(text), .messageIds([text]), .urls([text]),
        .addresses([EmailAddress(name: text, email: "a@b.example")]),
        .addresses([EmailAddress(email: text)]),
        .groupedAddresses([AddressGroup(name: text, addresses: [])]),
    ]
    for value in values {
        guard let written = draft([DraftField("X-Test", value)], .message(text: text)) else {
            continue
        }
        guard let message = try? ParsedMessage(written) else { fatalError("GMime is missing") }
        let names = message.header.fields.map(\.name)
        precondition(
            names == [
                "X-Test", "Date", "Message-ID", "MIME-Version", "Content-Type",
                "Content-Transfer-Encoding",
            ])
        let lines = written.split(separator: 10, omittingEmptySubsequences: false).dropLast()
        precondition(lines.allSatisfy { $0.last == 13 && $0.count <= 999 })
        let body = message.text(of: message.root).text
        precondition(crlf(body) == crlf(text), "another text is read")
    }
    var part = DraftPart(
        type: "image/png", content: .bytes(input), disposition: "attachment", name: text)
    part.cid = text
    for part in [part, DraftPart(type: text, content: .bytes(input), name: text)] {
        guard let written = draft([], part) else { continue }
        guard let message = try? ParsedMessage(written) else { fatalError("GMime is missing") }
        precondition(message.header.fields.count <= 7 && !message.root.isMultipart)
    }
}

private func draft(_ fields: [DraftField], _ body: DraftPart) -> [UInt8]? {
    guard let date = MessageDate(seconds: 0) else { fatalError("there is no 1970") }
    return try? MessageDraft(fields: fields, body: body)
        .bytes(uniqueId: "id", domain: "example.com", date: date)
}

/// Every CRLF, CR and LF is one line break.
private func crlf(_ text: String) -> [[UInt8]] {
    let scalars = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    return scalars.utf8.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
}

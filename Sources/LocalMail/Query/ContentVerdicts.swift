/// What the conditions of a filter on the bytes of messages came to.
///
/// They are asked without the account's lock, because to read a message takes long.
struct ContentVerdicts {
    private let contents: [CompiledFilter.Content]
    private var verdicts: [UInt64: [Bool]] = [:]

    init(_ filter: CompiledFilter) {
        contents = filter.contents
    }

    /// - Returns: `nil` if the message was not read yet.
    subscript(number: UInt64, index: Int) -> Bool? { verdicts[number]?[index] }

    mutating func read(_ messages: [StoredMessage], with reader: any MessageReader) {
        for message in messages {
            let content = message.content
            // In lower case.
            lazy var body = SearchTerms.lowered([reader.bodyText(of: content.bytes)])
            lazy var texts = SearchTerms.lowered(SearchTexts.of(content.summary)) + body
            verdicts[message.number] = contents.map { condition in
                switch condition {
                case .header(let name, let value):
                    let values = reader.headerValues(named: name, in: content.bytes)
                    guard let value else { return !values.isEmpty }
                    return values.contains { value.match($0) }
                case .body(let terms): return terms.match(lowered: body)
                case .text(let terms): return terms.match(lowered: texts)
                }
            }
        }
    }
}

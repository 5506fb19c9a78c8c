import MIME
import Testing

@Suite struct FlattenedBodyTests {
    /// A part: its type, whether it is an attachment, its parts, and its content.
    private indirect enum Node {
        case leaf(String, String, disposition: String? = nil, name: String? = nil)
        case multi(String, [Node])

        func text(_ number: String = "b") -> String {
            switch self {
            case .leaf(let content, let type, let disposition, let name):
                let field = disposition.map { "Content-Disposition: \($0)\n" } ?? ""
                let suffix = name.map { "; name=\($0)" } ?? ""
                return "Content-Type: \(type)\(suffix)\n\(field)\n\(content)"
            case .multi(let subtype, let nodes):
                let parts = nodes.enumerated().map {
                    "--\(number)\n\($1.text("\(number).\($0)"))\n"
                }
                return "Content-Type: multipart/\(subtype); boundary=\"\(number)\"\n\n"
                    + parts.joined() + "--\(number)--"
            }
        }
    }

    private func lists(_ node: Node) throws -> [String] {
        let message = try message(node.text())
        return [message.textBody, message.htmlBody, message.attachments].map { list in
            list.map { String(decoding: message.content(of: $0), as: UTF8.self) }
                .joined(separator: " ")
        }
    }

    /// RFC 8621 §4.1.4.
    @Test func theExampleOfTheStandardIsDivided() throws {
        let inner = Node.multi(
            "mixed",
            [
                .leaf("B", "text/plain", disposition: "inline"),
                .leaf("C", "image/jpeg", disposition: "inline"),
                .leaf("D", "text/plain", disposition: "inline"),
            ])
        let related = Node.multi("related", [.leaf("E", "text/html"), .leaf("F", "image/jpeg")])
        let example = Node.multi(
            "mixed",
            [
                .leaf("A", "text/plain", disposition: "inline"),
                .multi(
                    "mixed",
                    [
                        .multi("alternative", [inner, related]),
                        .leaf("G", "image/jpeg", disposition: "attachment"),
                        .leaf("H", "application/x-excel"), .leaf("J", "message/rfc822"),
                    ]),
                .leaf("K", "text/plain", disposition: "inline"),
            ])
        #expect(try lists(example) == ["A B C D K", "A E K", "C F G H J"])
    }

    @Test func textAloneIsBothBodies() throws {
        #expect(try lists(.leaf("A", "text/plain")) == ["A", "A", ""])
        #expect(try lists(.leaf("A", "text/html")) == ["A", "A", ""])
        #expect(try lists(.leaf("A", "image/png")) == ["A", "A", ""])
        #expect(try lists(.leaf("A", "application/pdf")) == ["", "", "A"])
        #expect(try lists(.leaf("A", "text/plain", disposition: "attachment")) == ["", "", "A"])
    }

    @Test func anAlternativeOfOneKindIsBothBodies() throws {
        #expect(try lists(.multi("alternative", [.leaf("A", "text/html")])) == ["A", "A", ""])
        #expect(try lists(.multi("alternative", [.leaf("A", "text/plain")])) == ["A", "A", ""])
        let both = Node.multi(
            "alternative",
            [.leaf("A", "text/plain"), .leaf("B", "text/html"), .leaf("C", "text/calendar")])
        #expect(try lists(both) == ["A", "B", "C"])
    }

    @Test func aLaterTextWithANameIsAnAttachment() throws {
        let parts: [Node] = [
            .leaf("A", "text/plain", name: "a.txt"), .leaf("B", "text/plain", name: "b.txt"),
            .leaf("C", "text/plain"), .leaf("D", "image/png", name: "d.png"),
        ]
        #expect(try lists(.multi("mixed", parts)) == ["A C D", "A C D", "B"])
        #expect(try lists(.multi("related", parts)) == ["A", "A", "B C D"])
    }

    @Test func aTextAfterHTMLWithinAnAlternativeIsInNoList() throws {
        let inner = Node.multi("mixed", [.leaf("A", "text/html"), .leaf("B", "text/plain")])
        #expect(try lists(.multi("alternative", [inner])) == ["A", "A", ""])
    }

    @Test func anInlinePartAloneIsNoAttachment() throws {
        func has(_ disposition: String) throws -> Bool {
            let parts: [Node] = [
                .leaf("A", "text/html"), .leaf("B", "image/png", disposition: disposition),
            ]
            return try message(Node.multi("related", parts).text()).hasAttachment
        }
        #expect(try !has("inline"))
        #expect(try has("attachment"))
        #expect(try has("unknown"))
    }
}

/// The parts of a message as lists: the algorithm of RFC 8621 §4.1.4, exactly. It has no place for
/// a plain text after HTML in a multipart within an alternative; such a part is in the tree alone.
struct FlattenedBody {
    private(set) var text: [BodyPart] = []
    private(set) var html: [BodyPart] = []
    private(set) var attachments: [BodyPart] = []

    init(_ root: BodyPart) {
        add([root], of: .init(subtype: "mixed"))
    }

    private struct Parent {
        let subtype: String
        var isInAlternative = false
        /// Whether parts still go into the lists.
        var takesText = true
        var takesHTML = true
    }

    private mutating func add(_ parts: [BodyPart], of parent: Parent) {
        var parent = parent
        let textCount = text.count
        let htmlCount = html.count
        for (index, part) in parts.enumerated() {
            if let children = part.subParts {
                let subtype = String(
                    decoding: part.type.utf8.dropFirst("multipart/".utf8.count), as: UTF8.self)
                var inner = Parent(subtype: subtype)
                inner.isInAlternative = parent.isInAlternative || subtype == "alternative"
                inner.takesText = parent.takesText
                inner.takesHTML = parent.takesHTML
                add(children, of: inner)
            } else if isInline(part, at: index, of: parent) {
                addInline(part, of: &parent)
            } else {
                attachments.append(part)
            }
        }
        guard parent.subtype == "alternative", parent.takesText, parent.takesHTML else { return }
        if text.count == textCount, html.count != htmlCount {
            text += html[htmlCount...]
        }
        // Only text was found.
        else if html.count == htmlCount, text.count != textCount {
            html += text[textCount...]
        }
    }

    private func isInline(_ part: BodyPart, at index: Int, of parent: Parent) -> Bool {
        let isShown = part.type == "text/plain" || part.type == "text/html" || isMedia(part)
        guard part.disposition != "attachment", isShown else { return false }
        return index == 0
            || parent.subtype != "related" && (isMedia(part) || part.name == nil)
    }

    private mutating func addInline(_ part: BodyPart, of parent: inout Parent) {
        if parent.subtype == "alternative" {
            switch part.type {
            case "text/plain": if parent.takesText { text.append(part) }
            case "text/html": if parent.takesHTML { html.append(part) }
            default: attachments.append(part)
            }
            return
        }
        if parent.isInAlternative {
            if part.type == "text/plain" { parent.takesHTML = false }
            if part.type == "text/html" { parent.takesText = false }
        }
        if parent.takesText { text.append(part) }
        if parent.takesHTML { html.append(part) }
        if !parent.takesText || !parent.takesHTML, isMedia(part) { attachments.append(part) }
    }

    private func isMedia(_ part: BodyPart) -> Bool {
        let type = part.type.utf8
        return ASCII.begins(type, with: "image/") || ASCII.begins(type, with: "audio/")
            || ASCII.begins(type, with: "video/")
    }
}

/// The header fields of a request in their order; a name may occur more than once.
///
/// Names are compared regardless of case and without making Strings. Bytes of a value that are not
/// UTF-8 (obs-text, RFC 9110 §5.5) become U+FFFD.
public struct HeaderFields: Sendable, Sequence {
    let head: RequestHead

    public var count: Int { head.fields.count }

    /// The first value of this name, without white space around it; may be empty.
    public func first(_ name: String) -> String? {
        for field in head.fields where matches(field, name) { return value(of: field) }
        return nil
    }

    /// Every value of this name as bytes, in order, for code that takes values apart.
    public func values(_ name: String) -> [FieldText] {
        head.fields.filter { matches($0, name) }.map {
            FieldText(head.bytes[Int($0.valueStart)..<Int($0.valueEnd)])
        }
    }

    /// Every value of this name, in order. Code that relies on a header must ask for all and
    /// must not accept two.
    public func all(_ name: String) -> [String] {
        head.fields.filter { matches($0, name) }.map { value(of: $0) }
    }

    public func contains(_ name: String) -> Bool {
        head.fields.contains { matches($0, name) }
    }

    /// Every field, with the name as the client wrote it.
    public func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var fields = head.fields.makeIterator()
        return AnyIterator {
            fields.next().map { field in
                let name = Int(field.nameStart)..<Int(field.nameEnd)
                return (String(decoding: head.bytes[name], as: UTF8.self), value(of: field))
            }
        }
    }

    private func value(of field: RequestHead.Field) -> String {
        let range = Int(field.valueStart)..<Int(field.valueEnd)
        return String(decoding: head.bytes[range], as: UTF8.self)
    }

    private func matches(_ field: RequestHead.Field, _ name: String) -> Bool {
        ASCII.equalIgnoringCase(head.bytes, Int(field.nameStart)..<Int(field.nameEnd), name)
    }
}

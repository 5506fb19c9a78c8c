internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// The text fields of a body, from a form or from JSON.
struct BodyFields {
    /// Why a body cannot be read.
    struct Unreadable: Error {}

    private let values: [String: String]

    /// Decodes the body, whose media type the pipeline has checked. An empty body is a form without
    /// fields.
    /// - Parameter names: other fields are ignored.
    /// - Throws: ``Unreadable`` also for a field given twice, one that is not text, and for more
    ///   than a hundred fields of a form.
    init(_ request: Request, named names: Set<String>) throws(Unreadable) {
        values =
            request.isJSON(request.headers.mediaType)
            ? try Self.members(of: request.body, named: names)
            : try Self.fields(of: request.body, named: names)
    }

    /// The text of a field; an empty field counts as absent.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of a field, which may be empty.
    func text(of name: String) -> String? { values[name] }

    private static func members(
        of body: [UInt8], named names: Set<String>
    ) throws(Unreadable) -> [String: String] {
        guard case .object(let members)? = try? JSONValue.parse(body) else { throw Unreadable() }
        var values: [String: String] = [:]
        for name in names {
            switch members.present(name) {
            case nil: continue
            case .string(let text): values[name] = text
            default: throw Unreadable()
            }
        }
        return values
    }

    private static func fields(
        of body: [UInt8], named names: Set<String>
    ) throws(Unreadable) -> [String: String] {
        guard let pairs = FormCoding.pairs(body) else { throw Unreadable() }
        var values: [String: String] = [:]
        for (name, value) in pairs where names.contains(name) {
            // U+FFFD replaces bytes that are not UTF-8, so the original text is unknown.
            guard values[name] == nil, !value.unicodeScalars.contains("\u{FFFD}") else {
                throw Unreadable()
            }
            values[name] = value
        }
        return values
    }
}

extension Request {
    /// Whether the body is JSON: by its media type, or, without one, by its first byte.
    func isJSON(_ mediaType: String?) -> Bool {
        guard let mediaType else {
            return body.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: "{")
        }
        return mediaType == "application/json"
    }
}

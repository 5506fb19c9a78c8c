internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// The fields of a request to the hash-login API, from a form or from JSON.
struct HashLoginFields {
    /// The format in which the request is answered.
    let responseFormat: ResponseFormat
    private let values: [String: String]

    /// Decodes the body, whose media type the pipeline has checked.
    /// - Parameter isOptional: whether an empty body, whatever its type, means no fields.
    /// - Throws: ``CommonError/malformedRequest(_:)`` for a body that cannot be read, a field given
    ///   twice or one that is not text; ``HashLoginError/foreignForm`` for a form that a page of
    ///   another origin may have sent. A page cannot send JSON to another origin without
    ///   a CORS preflight.
    init(_ request: Request, isOptional: Bool = false) throws(HashLoginError) {
        let mediaType = request.headers.mediaType
        if mediaType != "application/json", request.isCrossOriginWrite { throw .foreignForm }
        responseFormat = request.responseFormat(of: mediaType)
        if isOptional && request.body.isEmpty {
            values = [:]
        } else if request.isJSON(mediaType) {
            values = try Self.members(of: request.body)
        } else {
            values = try Self.fields(of: request.body)
        }
    }

    /// The text of a field; an empty field counts as absent.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A password as the bytes that were sent.
    var password: [UInt8]? { self["password"].map { Array($0.utf8) } }

    private static let names = ["email", "password", "password_hash_url", "token"]

    private static func members(of body: [UInt8]) throws(HashLoginError) -> [String: String] {
        guard case .object(let members)? = try? JSONValue.parse(body) else { throw .unreadable }
        var values: [String: String] = [:]
        for name in names {
            switch members.present(name) {
            case nil: continue
            case .string(let text): values[name] = text
            default: throw .unreadable
            }
        }
        return values
    }

    private static func fields(of body: [UInt8]) throws(HashLoginError) -> [String: String] {
        var values: [String: String] = [:]
        for (name, value) in FormCoding.pairs(body) where names.contains(name) {
            // U+FFFD replaces bytes that are not UTF-8, so the text that was meant is unknown.
            guard values[name] == nil, !value.unicodeScalars.contains("\u{FFFD}") else {
                throw .unreadable
            }
            values[name] = value
        }
        return values
    }
}

extension HashLoginError {
    fileprivate static let unreadable = malformed("The request body could not be read.")
}

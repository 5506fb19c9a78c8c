internal import AuthCore
internal import HTTPEngine

/// The fields of a request to the hash-login API, from a form or from JSON.
struct HashLoginFields {
    /// The format in which the request is answered.
    let responseFormat: ResponseFormat
    /// `nil` if the body is empty, where that is allowed.
    private let fields: BodyFields?

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
        guard !isOptional || !request.body.isEmpty else {
            fields = nil
            return
        }
        do {
            fields = try BodyFields(
                request, named: ["email", "password", "password_hash_url", "token"])
        } catch {
            throw .malformed("The request body could not be read.")
        }
    }

    /// The text of a field; an empty field counts as absent.
    subscript(name: String) -> String? { fields?[name] }

    /// A password as the bytes that were sent.
    var password: [UInt8]? { self["password"].map { Array($0.utf8) } }
}

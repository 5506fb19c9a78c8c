internal import HTTPEngine

/// The media type that an endpoint takes.
enum BodyType: Sendable {
    /// The endpoint needs no body: any body and any type is accepted and not read.
    case ignored
    case json
    /// A form or JSON; `isOptional` where a request without a body may have any type.
    case formOrJSON(isOptional: Bool)

    /// The expected type, if the request has another one. A body without a type is treated as the
    /// expected one. Parameters are ignored, because JSON has none (RFC 8259 §11).
    func mismatch(with request: Request) -> String? {
        let json = "application/json"
        let form = "application/x-www-form-urlencoded"
        switch self {
        case .ignored: return nil
        case .json:
            return request.headers.mediaTypes.allSatisfy { $0 == json } ? nil : json
        case .formOrJSON(let isOptional):
            if isOptional, request.body.isEmpty { return nil }
            let isAccepted = request.headers.mediaTypes.allSatisfy { $0 == json || $0 == form }
            return isAccepted ? nil : "\(json) or \(form)"
        }
    }
}

extension HeaderFields {
    /// The media type of each `Content-Type` without its parameters, lower case (RFC 9110 §8.3.1).
    var mediaTypes: [String] {
        values("content-type").map { value in
            // White space is allowed around the type, not inside it.
            value.parts(separatedBy: ";")[0].trimmed.lowercased
        }
    }

    /// The media type of the first `Content-Type`; `nil` when there is none.
    var mediaType: String? { mediaTypes.first }
}

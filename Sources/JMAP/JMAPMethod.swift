public import LocalMail
internal import StrictJSON

/// What the calls of one request share.
public struct CallContext: Sendable {
    public let mail: AccountMail
    /// Creation ids without `#`, and the ids that the server gave (RFC 8620 §3.3).
    public private(set) var createdIDs: [String: String]
    /// Bytes of messages that the calls may still read, and of objects that they may still return.
    /// Without limits a request of a few hundred bytes could ask for everything many times.
    private var readableBytes = 256 << 20
    private var returnableBytes = 48 << 20
    /// Objects that brief calls may still look at.
    private var lookableObjects = 2_000
    /// Bytes that brief calls may select, and as many that they may return.
    static let briefBytes = 64 << 10
    /// Whether the calls are made on an event loop: ``takesLong()`` ends the one that makes it.
    private let isBrief: Bool
    /// A call was ended by it. None of the responses is to be sent.
    private(set) var isAborted = false

    init(mail: AccountMail, createdIDs: [String: String], isBrief: Bool = false) {
        self.mail = mail
        self.createdIDs = createdIDs
        self.isBrief = isBrief
        if isBrief { returnableBytes = Self.briefBytes }
    }

    /// To be called before what may take longer than some milliseconds: reading a message, or
    /// looking at every message.
    mutating func takesLong() throws(MethodError) {
        guard isBrief else { return }
        isAborted = true
        throw .requestTooLarge
    }

    /// To be called before objects are looked at.
    /// - Parameter count: how many, counted as often as they are looked at.
    mutating func looks(at count: Int) throws(MethodError) {
        lookableObjects -= min(count, lookableObjects + 1)
        if lookableObjects < 0 { try takesLong() }
    }

    /// The id that an argument names, which may be the `#` and creation id of an earlier call. If
    /// nothing was created with this creation id, the text stays as it is, and is nobody's id.
    func id(_ text: String) -> String {
        text.afterNumberSign.flatMap { createdIDs[$0] } ?? text
    }

    /// To be called before a message is read.
    mutating func read(_ bytes: Int) throws(MethodError) {
        try takesLong()
        readableBytes -= min(bytes, readableBytes + 1)
        if readableBytes < 0 { throw .requestTooLarge }
    }

    /// To be called for each object that may be large.
    mutating func returns(_ object: JSONValue) throws(MethodError) {
        returnableBytes.spend(on: object)
        guard returnableBytes < 0 else { return }
        try takesLong()
        throw .requestTooLarge
    }

    mutating func created(_ creationID: String, as id: String) { createdIDs[creationID] = id }
}

/// A method: from its arguments, in which all references are resolved, to its responses.
public struct JMAPMethod: Sendable {
    typealias Call =
        @Sendable (Arguments, inout CallContext) async throws(MethodError) -> [Response]

    /// One response. Most methods have one, under their own name.
    struct Response: Sendable {
        let name: String?
        let arguments: JSONObject

        /// - Parameter name: the name of the method that it is a response of, if not this one.
        init(_ members: [JSONObject.Member], of name: String? = nil) {
            arguments = JSONObject(members: members)
            self.name = name
        }
    }

    /// The capability that a request must name in `using`.
    let capability: String
    let call: Call

    init(_ capability: String, _ call: @escaping Call) {
        self.capability = capability
        self.call = call
    }

    /// A method with one response.
    static func one(
        _ capability: String,
        _ call:
            @escaping @Sendable (Arguments, inout CallContext) async throws(MethodError)
            -> [JSONObject.Member]
    ) -> JMAPMethod {
        JMAPMethod(capability) { arguments, context throws(MethodError) in
            [Response(try await call(arguments, &context))]
        }
    }
}

/// The names of capabilities.
enum Capability {
    static let core = "urn:ietf:params:jmap:core"
    static let mail = "urn:ietf:params:jmap:mail"
    static let submission = "urn:ietf:params:jmap:submission"
    static let blob = "urn:ietf:params:jmap:blob"
}

extension String {
    /// The text after a `#` at the beginning; `nil` without one. By bytes, because a combining
    /// character after it would be one `Character` with it.
    var afterNumberSign: String? {
        guard utf8.first == UInt8(ascii: "#") else { return nil }
        return String(Substring(utf8.dropFirst()))
    }
}

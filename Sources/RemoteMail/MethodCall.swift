internal import StrictJSON

/// A method call of a request (RFC 8620 §3.2). Its place in the request is its id.
struct MethodCall {
    let name: String
    let arguments: [(name: String, value: JSONValue)]

    /// - Parameter arguments: without `accountId`.
    init(_ name: String, _ arguments: [(name: String, value: JSONValue)]) {
        self.name = name
        self.arguments = arguments
    }

    static func request(_ calls: [MethodCall], accountID: String) -> [UInt8] {
        JSONWriter.object { body in
            body.member("using", ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"])
            body.member(
                "methodCalls",
                value: .array(
                    calls.enumerated().map { index, call in
                        .array([
                            .string(call.name),
                            .members([("accountId", .string(accountID))] + call.arguments),
                            .string("c\(index)"),
                        ])
                    }))
        }
    }
}

/// The responses to the calls of a request (RFC 8620 §3.4).
struct MethodResponses: Sendable {
    let sessionState: String
    private let responses: [(name: String, value: JSONObject, callID: String)]

    /// Reads them on another executor: they may have mebibytes.
    @concurrent
    static func read(_ bytes: [UInt8]) async throws(StoreFailure) -> MethodResponses {
        try MethodResponses(bytes)
    }

    init(_ bytes: [UInt8]) throws(StoreFailure) {
        guard case .object(let body)? = try? JSONValue.parse(bytes, boundsMarks: false),
            let list = body["methodResponses"]?.array,
            let state = body["sessionState"]?.string
        else { throw .invalid("its answer is not a JMAP response") }
        sessionState = state
        responses = list.compactMap { response in
            guard let parts = response.array, parts.count == 3, let name = parts[0].string,
                let value = parts[1].object, let id = parts[2].string
            else { return nil }
            return (name, value, id)
        }
        guard responses.count == list.count else {
            throw .invalid("its answer has a response without name, object and id")
        }
    }

    /// The arguments of the response to the call at `index`.
    /// - Throws: also for a response that is an error.
    func arguments(
        _ index: Int, of name: String
    ) throws(StoreFailure) -> Arguments {
        guard let response = responses.first(where: { $0.callID == "c\(index)" }) else {
            throw .invalid("its answer has no response to \(name)")
        }
        if response.name == "error" {
            let type = response.value["type"]?.string ?? ""
            switch type {
            case "accountNotFound": throw .noMailbox
            case "serverUnavailable": throw .away("\(name): serverUnavailable")
            default: throw .invalid("\(name): \(Self.shown(type))")
            }
        }
        guard response.name == name else {
            throw .invalid("its answer to \(name) is another method's")
        }
        return Arguments(method: name, object: response.value)
    }

    /// Whether the call at `index` failed with this error.
    func hasError(_ type: String, at index: Int) -> Bool {
        responses.contains {
            $0.callID == "c\(index)" && $0.name == "error" && $0.value["type"]?.string == type
        }
    }

    /// A text of the store in a log.
    private static func shown(_ type: String) -> String {
        let isShown =
            (1...64).contains(type.utf8.count)
            && type.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        return isShown ? type : "an error without a type"
    }
}

/// An object of the store, with what is expected in it.
struct Arguments: Sendable {
    let method: String
    let object: JSONObject

    func list(_ name: String) throws(StoreFailure) -> [JSONValue] {
        guard let list = object[name]?.array else { throw unexpected(name, "an array") }
        return list
    }

    func objects(_ name: String) throws(StoreFailure) -> [Arguments] {
        let list = try list(name)
        let objects = list.compactMap(\.object).map { Arguments(method: method, object: $0) }
        guard objects.count == list.count else { throw unexpected(name, "an array of objects") }
        return objects
    }

    /// An array of ids (RFC 8620 §1.2).
    func ids(_ name: String) throws(StoreFailure) -> [String] {
        let list = try list(name)
        let ids = list.compactMap(\.string).filter(Self.isID)
        guard ids.count == list.count else { throw unexpected(name, "an array of ids") }
        return ids
    }

    func id(_ name: String) throws(StoreFailure) -> String {
        let id = try text(name)
        guard Self.isID(id) else { throw unexpected(name, "an id") }
        return id
    }

    func text(_ name: String) throws(StoreFailure) -> String {
        guard let text = object[name]?.string else { throw unexpected(name, "a string") }
        return text
    }

    /// A string; `nil` where there is `null` or nothing.
    func optionalText(_ name: String) throws(StoreFailure) -> String? {
        object.present(name) == nil ? nil : try text(name)
    }

    /// An UnsignedInt (RFC 8620 §1.3).
    func size(_ name: String) throws(StoreFailure) -> Int {
        guard let number = object[name]?.integer, number >= 0 else {
            throw unexpected(name, "an UnsignedInt")
        }
        return Int(clamping: number)
    }

    func bool(_ name: String) throws(StoreFailure) -> Bool {
        guard let value = object[name]?.bool else { throw unexpected(name, "a Boolean") }
        return value
    }

    /// An object; empty where there is `null` or nothing.
    func members(_ name: String) throws(StoreFailure) -> JSONObject {
        guard let value = object.present(name) else { return JSONObject(members: []) }
        guard let members = value.object else { throw unexpected(name, "an object") }
        return members
    }

    func unexpected(_ name: String, _ kind: String) -> StoreFailure {
        .invalid("`\(name)` of \(method) is not \(kind)")
    }

    /// RFC 8620 §1.2: 1 to 255 letters, digits, hyphens and underscores.
    static func isID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension JSONValue {
    static func members(_ members: [(name: String, value: JSONValue)]) -> JSONValue {
        .object(JSONObject(members: members.map { JSONObject.Member($0.name, $0.value) }))
    }

    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// A reference to the result of an earlier call of the request (RFC 8620 §3.7).
    static func result(of call: Int, _ name: String, _ path: String) -> JSONValue {
        .members([
            ("resultOf", .string("c\(call)")), ("name", .string(name)), ("path", .string(path)),
        ])
    }
}

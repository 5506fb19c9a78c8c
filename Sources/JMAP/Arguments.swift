internal import LocalMail
internal import StrictJSON

/// The arguments of a call. Each function throws ``MethodError/invalidArguments(_:)`` where the
/// argument has another type.
struct Arguments: Sendable {
    let object: JSONObject

    /// Ids in one call: `maxObjectsInGet` and `maxObjectsInSet` of the session object.
    static let maxObjects = 500

    /// - Throws: an error as well for an argument that the method does not have.
    func check(_ known: Set<String>) throws(MethodError) {
        for member in object.members where !known.contains(member.name) {
            throw .invalidArguments("There is no argument `\(member.name)`.")
        }
    }

    /// Whether the call is for the account of the token.
    func checkAccount(of context: CallContext) throws(MethodError) {
        guard let id = object["accountId"]?.string else {
            throw .invalidArguments("`accountId` must be an id.")
        }
        guard context.id(id) == context.mail.account.id else { throw .accountNotFound }
    }

    func string(_ name: String) throws(MethodError) -> String? {
        guard let value = object.present(name) else { return nil }
        guard let text = value.string else {
            throw .invalidArguments("`\(name)` must be a string.")
        }
        return text
    }

    func requiredString(_ name: String) throws(MethodError) -> String {
        guard let text = try string(name) else { throw .invalidArguments("`\(name)` is missing.") }
        return text
    }

    func bool(_ name: String) throws(MethodError) -> Bool {
        guard let value = object.present(name) else { return false }
        guard let bool = value.bool else {
            throw .invalidArguments("`\(name)` must be true or false.")
        }
        return bool
    }

    /// An Int of RFC 8620 §1.3: at most 2^53 - 1, on either side of 0.
    func integer(
        _ name: String, from least: Int = -Arguments.largest
    ) throws(MethodError) -> Int? {
        guard let value = object.present(name) else { return nil }
        guard let integer = value.integer, let number = Int(exactly: integer),
            (least...Self.largest).contains(number)
        else { throw .invalidArguments("`\(name)` must be an integer from \(least).") }
        return number
    }

    static let largest = 1 << 53 - 1

    func strings(_ name: String) throws(MethodError) -> [String]? {
        guard let value = object.present(name) else { return nil }
        guard let strings = value.strings else {
            throw .invalidArguments("`\(name)` must be an array of strings.")
        }
        return strings
    }

    /// Ids, each once, in the order of their first time; `nil` where `null` is given.
    func ids(_ name: String, in context: CallContext) throws(MethodError) -> [String]? {
        guard let texts = try strings(name) else { return nil }
        guard texts.count <= Self.maxObjects else { throw .requestTooLarge }
        var known: Set<String> = []
        return texts.map(context.id).filter { known.insert($0).inserted }
    }

    /// The properties to return.
    /// - Parameter all: those that the type has; all of them if none are named.
    func properties(of all: [String]) throws(MethodError) -> Set<String> {
        guard let names = try strings("properties") else { return Set(all) }
        guard let unknown = names.first(where: { !all.contains($0) }) else {
            // RFC 8620 §5.1: the id is always returned.
            return Set(names).union(["id"])
        }
        throw .invalidArguments("There is no property `\(unknown)`.")
    }

    /// Objects by creation id or id.
    func objects(_ name: String) throws(MethodError) -> [(id: String, value: JSONValue)] {
        guard let value = object.present(name) else { return [] }
        guard let members = value.object?.members else {
            throw .invalidArguments("`\(name)` must be an object.")
        }
        return members.map { ($0.name, $0.value) }
    }
}

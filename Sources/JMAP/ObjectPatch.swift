internal import StrictJSON

/// A PatchObject (RFC 8620 §5.3), whose properties have at most one level below them.
struct ObjectPatch {
    enum Change: Equatable {
        /// The property as a whole; `null` for its default.
        case whole(JSONValue)
        /// By the names of members; `null` removes one.
        case members([JSONObject.Member])
    }

    private(set) var changes: [(property: String, change: Change)] = []

    init(_ value: JSONValue) throws(SetError) {
        guard let object = value.object else {
            throw .invalidPatch("A patch must be an object.")
        }
        var whole: [JSONObject.Member] = []
        var members: [String: [JSONObject.Member]] = [:]
        var names: Set<String> = []
        for member in object.members {
            var path = try Self.path(member.name)
            let property = path.removeFirst()
            guard let name = path.first else {
                whole.append(.init(property, member.value))
                continue
            }
            // Two spellings of one path, as of `~1` in a name.
            guard path.count == 1, names.insert("\(property)/\(name)").inserted else {
                throw .invalidPatch("`\(member.name)` is no path of a property.")
            }
            members[property, default: []].append(.init(name, member.value))
        }
        for member in whole {
            guard members[member.name] == nil,
                !changes.contains(where: { $0.property == member.name })
            else {
                throw .invalidPatch("`\(member.name)` is the beginning of another path.")
            }
            // An unknown property is reported by who knows the properties; so many are none.
            guard changes.count < 64 else { throw .invalidPatch("There are too many properties.") }
            changes.append((member.name, .whole(member.value)))
        }
        for (property, list) in members.sorted(by: { $0.key < $1.key }) {
            changes.append((property, .members(list)))
        }
    }

    /// A JSON pointer without the slash at its beginning (RFC 6901).
    private static func path(_ text: String) throws(SetError) -> [String] {
        let parts = text.utf8
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .invalidPatch("`\(text)` is no path of a property.") }
        return parts.map { JSONPointer.unescaped(String(Substring($0))) }
    }
}

/// The tokens of JSON pointers (RFC 6901 §4).
enum JSONPointer {
    /// `~1` is `/` and `~0` is `~`.
    static func unescaped(_ step: String) -> String {
        guard step.utf8.contains(UInt8(ascii: "~")) else { return step }
        var bytes: [UInt8] = []
        var escapes = false
        for byte in step.utf8 {
            switch byte {
            case UInt8(ascii: "~") where !escapes: escapes = true
            case UInt8(ascii: "0") where escapes:
                bytes.append(UInt8(ascii: "~"))
                escapes = false
            case UInt8(ascii: "1") where escapes:
                bytes.append(UInt8(ascii: "/"))
                escapes = false
            default:
                if escapes { bytes.append(UInt8(ascii: "~")) }
                escapes = false
                bytes.append(byte)
            }
        }
        if escapes { bytes.append(UInt8(ascii: "~")) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

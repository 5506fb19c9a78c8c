/// The members of a JSON object in the order in which they were written, no name twice.
///
/// Names are compared octet by octet. Swift's own `==` on `String` takes canonically equivalent
/// spellings for equal (the Kelvin sign for `K`), which would let a member be read under a name
/// that no other JSON program reads it under.
public struct JSONObject: Sendable, Equatable {
    public struct Member: Sendable, Equatable {
        public let name: String
        public let value: JSONValue
    }

    public let members: [Member]

    init(members: [Member]) {
        self.members = members
    }

    /// The value of the member, `.null` where that was written; `nil` where there is no such
    /// member.
    public subscript(name: String) -> JSONValue? {
        members.first { sameOctets($0.name, name) }?.value
    }

    /// The value of the member where it is there and is not `null`.
    public func present(_ name: String) -> JSONValue? {
        let value = self[name]
        return value == .null ? nil : value
    }
}

func sameOctets(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
}

/// A member's name as a key of a hashed set, by octets. The hash is keyed per process, so a client
/// cannot choose names that collide.
struct OctetName: Hashable {
    let text: String

    static func == (one: OctetName, other: OctetName) -> Bool {
        sameOctets(one.text, other.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

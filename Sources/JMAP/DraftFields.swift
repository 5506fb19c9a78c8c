internal import LocalMail
internal import MIME
internal import Scheduling
internal import StrictJSON

/// The header fields of a message or part that is to be created, by their properties.
struct DraftFields {
    private(set) var fields: [DraftField] = []
    /// The properties whose value is not one of theirs, and those that name a field twice.
    private(set) var invalid: [String] = []
    /// By the field's name in lower case.
    private(set) var properties: [String: String] = [:]

    /// - Parameter property: any that is not one of the others that the object has.
    mutating func add(_ property: String, _ value: JSONValue) {
        guard let header = HeaderProperty.named(property) else {
            invalid.append(property)
            return
        }
        if value == .null { return }
        let name = header.lowercasedName
        if let other = properties[name] {
            // RFC 8621 §4.6: no field is given twice.
            invalid += [other, property]
            return
        }
        properties[name] = property
        guard let values = header.isAll ? value.array : [value] else {
            invalid.append(property)
            return
        }
        for value in values {
            guard let draft = Self.value(value, as: header.form) else {
                invalid.append(property)
                return
            }
            fields.append(DraftField(header.name, draft))
        }
    }

    private static func value(_ value: JSONValue, as form: HeaderProperty.Form) -> DraftValue? {
        switch form {
        case .raw: value.string.map { .raw(unfolded($0)) }
        case .text: value.string.map { .text($0) }
        case .addresses: addresses(value).map { .addresses($0) }
        case .groupedAddresses: groups(value).map { .groupedAddresses($0) }
        case .messageIDs: value.strings.map { .messageIds($0) }
        case .date: value.string.flatMap(MessageDate.init(rfc3339:)).map { .date($0) }
        case .urls: value.strings.map { .urls($0) }
        }
    }

    /// Without the line breaks that fold it (RFC 5322 §2.2.3).
    private static func unfolded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let feed = byte == 0x0D ? index + 1 : index
            let isBreak = feed < bytes.count && bytes[feed] == 0x0A
            let isFolding =
                isBreak && feed + 1 < bytes.count
                && (bytes[feed + 1] == 0x20 || bytes[feed + 1] == 0x09)
            if !isFolding { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func addresses(_ value: JSONValue) -> [EmailAddress]? {
        guard let list = value.array else { return nil }
        var addresses: [EmailAddress] = []
        for item in list {
            guard let object = item.object, let email = object["email"]?.string,
                object.members.allSatisfy({ $0.name == "email" || $0.name == "name" })
            else { return nil }
            let name = object.present("name")
            if let name, name.string == nil { return nil }
            addresses.append(EmailAddress(name: name?.string, email: email))
        }
        return addresses
    }

    private static func groups(_ value: JSONValue) -> [AddressGroup]? {
        guard let list = value.array else { return nil }
        var groups: [AddressGroup] = []
        for item in list {
            guard let object = item.object,
                let members = object["addresses"].flatMap(addresses),
                object.members.allSatisfy({ $0.name == "addresses" || $0.name == "name" })
            else { return nil }
            let name = object.present("name")
            if let name, name.string == nil { return nil }
            groups.append(AddressGroup(name: name?.string, addresses: members))
        }
        return groups
    }
}

extension MessageDate {
    /// A Date of RFC 8620 §1.4. A fraction of a second is left out, because no field has one.
    init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40 else { return nil }
        let isUTC = bytes.last == UInt8(ascii: "Z")
        let zone = isUTC ? [] : Array(bytes.suffix(6))
        let local = String(decoding: bytes.dropLast(isUTC ? 1 : 6), as: UTF8.self)
        guard let offset = isUTC ? 0 : Self.offsetMinutes(zone),
            let instant = MailInstant(utcDate: local + "Z")
        else { return nil }
        let seconds = instant.milliseconds - (instant.milliseconds % 1000 + 1000) % 1000
        self.init(seconds: seconds / 1000 - Int64(offset) * 60, offsetMinutes: offset)
    }

    /// `+hh:mm` or `-hh:mm`.
    private static func offsetMinutes(_ zone: [UInt8]) -> Int? {
        let digits = [zone[1], zone[2], zone[4], zone[5]].map { Int($0) - 0x30 }
        guard digits.allSatisfy({ (0...9).contains($0) }), zone[3] == UInt8(ascii: ":") else {
            return nil
        }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        switch zone[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }
}

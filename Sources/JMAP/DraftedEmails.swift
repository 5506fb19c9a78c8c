internal import Cryptography
internal import LocalMail
internal import MIME
internal import StrictJSON

/// Writes the messages that one Email/set creates (RFC 8621 §4.6).
struct DraftedEmails {
    private let mail: AccountMail
    private let limits: JMAPLimits
    private var reader: BlobReader
    private var writtenBytes = 0

    init(_ mail: AccountMail) {
        self.mail = mail
        limits = JMAPLimits(mail.limits)
        reader = BlobReader(mail)
    }

    mutating func draft(
        _ value: JSONValue, in context: inout CallContext
    ) throws(SetError) -> EmailDraft {
        guard let object = value.object else { throw .invalidProperties([]) }
        var header = DraftFields()
        let envelope = try Self.read(object, &header, in: context)
        var body = DraftBody(object, limits: limits)
        let root = try body.read { id throws(SetError) in
            do throws(MethodError) {
                return try context.blob(context.id(id), by: &reader)
            } catch {
                throw .tooLarge(limits.maxSizeAttachmentsPerEmail)
            }
        }
        for field in root.fields {
            // The fields of the root are those of the message.
            if let property = header.properties[field.name.lowercased()] {
                throw .invalidProperties([property, "bodyStructure"])
            }
        }
        let bytes = try write(header, root, of: object)
        writtenBytes += bytes.count
        // More than that the engine cannot keep.
        guard writtenBytes <= mail.limits.totalBytes else { throw SetError("overQuota") }
        return EmailDraft(
            .bytes(bytes), folderIDs: envelope.folderIDs, keywords: envelope.keywords,
            receivedAt: envelope.receivedAt)
    }

    private struct Metadata {
        var folderIDs: [String] = []
        var keywords: [String] = []
        var receivedAt: MailInstant?
    }

    /// Reads all but the body.
    private static func read(
        _ object: JSONObject, _ header: inout DraftFields, in context: CallContext
    ) throws(SetError) -> Metadata {
        var metadata = Metadata()
        var invalid: [String] = object["mailboxIds"] == nil ? ["mailboxIds"] : []
        for member in object.members {
            switch member.name {
            case "mailboxIds":
                if let names = member.value.trueNames {
                    metadata.folderIDs = names.map(context.id)
                } else {
                    invalid.append(member.name)
                }
            case "keywords" where member.value != .null:
                if let names = member.value.trueNames {
                    metadata.keywords = names
                } else {
                    invalid.append(member.name)
                }
            case "receivedAt" where member.value != .null:
                metadata.receivedAt = member.value.string.flatMap(MailInstant.init(utcDate:))
                if metadata.receivedAt == nil { invalid.append(member.name) }
            case "keywords", "receivedAt": break
            case _ where DraftBody.properties.contains(member.name): break
            default: header.add(member.name, member.value)
            }
        }
        // RFC 8621 §4.6: they are properties of the parts.
        for (name, property) in header.properties where isContentField(name) {
            invalid.append(property)
        }
        invalid += header.invalid
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
        return metadata
    }

    private static func isContentField(_ name: String) -> Bool {
        name.utf8.starts(with: "content-".utf8) || name == "mime-version"
    }

    private func write(
        _ header: DraftFields, _ root: DraftPart, of object: JSONObject
    ) throws(SetError) -> [UInt8] {
        let at = mail.account.address.utf8.lastIndex(of: UInt8(ascii: "@"))
        let domain =
            at.map { mail.account.address.utf8[$0...].dropFirst() } ?? "localhost".utf8[...]
        guard let date = MessageDate(seconds: mail.now.milliseconds / 1000) else {
            throw .invalidProperties(["sentAt"], "The server's clock is wrong.")
        }
        do throws(MIMEError) {
            return try MessageDraft(fields: header.fields, body: root).bytes(
                uniqueId: Base64URL.encode(RandomBytes.make(18)),
                domain: String(Substring(domain)), date: date)
        } catch {
            let bodies = DraftBody.properties.filter { object.present($0) != nil }.sorted()
            switch error {
            case .invalidFieldName(let name), .invalidValue(let name), .lineTooLong(let name):
                let property = header.properties[name.lowercased()]
                throw .invalidProperties(property.map { [$0] } ?? bodies, error.description)
            case .tooManyParts: throw .invalidProperties(bodies, error.description)
            case .libraryMissing:
                throw SetError(
                    "forbidden", [.init("description", .string(error.description))])
            }
        }
    }
}

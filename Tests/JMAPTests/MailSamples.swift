import LocalMail
import StrictJSON

@testable import JMAP

/// An account with mail, and requests for it.
enum MailSamples {
    /// Messages are not read.
    private struct Reader: MessageReader {
        func summary(of message: [UInt8]) -> MessageSummary { MessageSummary() }
        func bodyText(of message: [UInt8]) -> String { "" }
        func headerValues(named name: String, in message: [UInt8]) -> [String] { [] }
        func body(of message: [UInt8]) -> MessageBody {
            MessageBody(text: nil, html: nil, attachments: [])
        }
        func attachment(
            _ index: Int, of message: [UInt8]
        ) -> (attachment: MessageAttachment, content: [UInt8])? { nil }
    }

    static func mail() -> AccountMail {
        let mail = LocalMail(
            MailEnvironment(
                reader: Reader(), now: { MailInstant(milliseconds: 1_700_000_000_000) },
                random: { 1 << 63 }, owner: { _ in .elsewhere }, quota: { _ in 1_000_000 }))
        return mail.mail(of: MailAccount(id: "a", address: "ada@example.org"))
    }
}

/// Makes one call after the other for one account.
struct Client {
    let mail: AccountMail
    private let dispatcher = Dispatcher()

    init(_ mail: AccountMail = MailSamples.mail()) { self.mail = mail }

    /// The responses to calls.
    /// - Parameter calls: the elements of methodCalls.
    func responses(
        _ calls: String
    ) async throws -> [(name: String, value: JSONValue, callID: String)] {
        let list = JMAPLimits.capabilities.sorted().map { #""\#($0)""# }.joined(separator: ",")
        let request = try JMAPRequest(
            Array(#"{"using":[\#(list)],"methodCalls":[\#(calls)]}"#.utf8),
            limits: JMAPLimits(mail.limits))
        let bytes = await dispatcher.respond(to: request, for: mail, sessionState: "s")
        let responses = try JSONValue.parse(bytes).object?["methodResponses"]?.array ?? []
        return responses.compactMap { response in
            guard let parts = response.array, let name = parts[0].string,
                let callID = parts[2].string
            else { return nil }
            return (name, parts[1], callID)
        }
    }

    /// The response to one call, without its call id.
    func call(_ name: String, _ arguments: String) async throws -> (name: String, JSONObject) {
        let response = try await responses(#"["\#(name)",\#(arguments),"0"]"#).first
        return (response?.name ?? "", response?.value.object ?? JSONObject(members: []))
    }

    /// The type of the error that the call has.
    func error(_ name: String, _ arguments: String) async throws -> String? {
        let (name, response) = try await call(name, arguments)
        return name == "error" ? response["type"]?.string : nil
    }
}

internal import AuthAPI
internal import AuthCore
internal import LocalMail
internal import postern

/// Mail. Nothing leaves the machine: messages to addresses elsewhere are kept.
extension PosternServer {
    /// Where the code under test sends its mail, without a login.
    public var smtp: SMTPAddress {
        get throws {
            guard let address = server.smtpAddress.flatMap(SMTPAddress.init) else {
                throw PosternError("the server has no port for SMTP (mail.local_smtp)")
            }
            return address
        }
    }

    /// Waits for a message, and returns the oldest that matches.
    ///
    /// - Parameters:
    ///   - recipient: one of its recipients, in any case of letters.
    ///   - sender: its author or the address that SMTP's MAIL named.
    ///   - subject: a part of its subject, in any case of letters.
    ///   - number: that of an earlier message, to wait for a later one.
    ///   - timeout: at most a day.
    /// - Throws: ``PosternError``, which says what did arrive.
    public func waitForMessage(
        to recipient: String? = nil, from sender: String? = nil, subject: String? = nil,
        after number: Int = 0, timeout: Duration = .seconds(10)
    ) async throws -> Message {
        let mail = try mail
        let filter = TestMail.Filter(recipient: recipient, sender: sender, subject: subject)
        let deadline = ContinuousClock.now.advanced(by: min(timeout, .seconds(86_400)))
        let found = try await checkedMail { () async throws(TestMailError) in
            try await mail.messages(filter, after: number, limit: 1, until: deadline)
        }
        if let first = found.first { return Message(first) }
        try Task.checkCancellation()
        let wanted = [("to", recipient), ("from", sender), ("subject", subject)]
            .compactMap { name, value in value.map { "\(name) \($0)" } }
        throw PosternError(
            """
            no message \(wanted.joined(separator: ", ")) within \(timeout); \
            \(try await arrived(after: number))
            """)
    }

    private func arrived(after number: Int) async throws -> String {
        let all = try await messages(after: number)
        guard !all.isEmpty else { return "nothing arrived" }
        let lines = all.suffix(20).map { message in
            "\n  to \(message.recipients.joined(separator: ", ")), from \(message.from): "
                + message.subject
        }
        return "\(all.count) arrived:" + lines.joined()
    }

    /// The messages that match, in the order of their arrival.
    /// - Parameters: as for ``waitForMessage(to:from:subject:after:timeout:)``.
    public func messages(
        to recipient: String? = nil, from sender: String? = nil, subject: String? = nil,
        after number: Int = 0
    ) async throws -> [Message] {
        let mail = try mail
        let filter = TestMail.Filter(recipient: recipient, sender: sender, subject: subject)
        var found: [Message] = []
        while true {
            let last = found.last?.number ?? number
            let page = try await checkedMail { () async throws(TestMailError) in
                try await mail.messages(filter, after: last)
            }
            if page.isEmpty { return found }
            found += page.map(Message.init)
        }
    }

    /// The bytes of a message, with the fields that the server put before it.
    public func source(of message: Message) throws -> [UInt8] {
        guard let bytes = try mail.source(ofMessage: message.number) else {
            throw PosternError("the message is gone")
        }
        return bytes
    }

    /// Delivers a message, without SMTP.
    /// - Parameters:
    ///   - recipients: mailboxes here, or addresses elsewhere.
    ///   - sender: `sender@example.com` unless given.
    public func deliver(
        to recipients: String..., from sender: String? = nil, subject: String? = nil,
        text: String? = nil, html: String? = nil, attachments: [NewAttachment] = []
    ) async throws {
        let files = attachments.map {
            TestMail.Attachment(filename: $0.filename, type: $0.type, content: $0.content)
        }
        try await deliver(
            TestMail.Draft(
                to: recipients,
                .composed(
                    from: sender, subject: subject, text: text, html: html, attachments: files)))
    }

    /// Delivers a message as it is. Lines that end with LF alone get CRLF.
    public func deliver(to recipients: String..., source: String) async throws {
        try await deliver(TestMail.Draft(to: recipients, .source(Array(source.utf8))))
    }

    private func deliver(_ draft: TestMail.Draft) async throws {
        let mail = try mail
        _ = try await checkedMail { () async throws(TestMailError) in
            try await mail.deliver([draft])
        }
    }

    /// Empties the list of messages. Accounts keep their mail.
    public func clearMessages() throws { try mail.clear() }

    /// From now on mail fails; `nil` ends that.
    public func failMail(_ fault: MailFault?) throws {
        let mail = try mail
        mail.fault =
            switch fault {
            case .recipients: .recipient
            case .messages: .message
            case .temporary: .temporary
            case nil: nil
            }
    }

    private var mail: TestMail {
        get throws {
            guard let mail = server.mail else {
                throw PosternError("the server has no mail (mail.store)")
            }
            return TestMail(mail, clock: server.fixtures.clock.clocks)
        }
    }

    private func checkedMail<T: Sendable>(
        _ body: () async throws(TestMailError) -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch {
            throw PosternError(error)
        }
    }
}

/// One SMTP session of RFC 5321, without a socket or a clock.
///
/// Its driver gives it what arrives with ``receive(_:)``, then does what ``next()`` returns
/// until that is `nil`. While an answer is outstanding, the session keeps what the client sends
/// ahead (RFC 2920). Bytes are read only while ``wantsInput``. The driver keeps ``timer`` and
/// ``SMTPLimits/sessionTime``.
public struct SMTPSession: Sendable {
    private enum Phase {
        case command
        case authentication(SMTPAuthentication)
        case data(SMTPDataReader)
        case chunk(SMTPChunkReader)
        case asking(SMTPAction, isTold: Bool)
        case closed(isTold: Bool, lingers: Bool)
    }

    /// Replies are handed to the driver at this many bytes at the latest.
    private static let outputBytes = 16_384

    private let serverName: String
    private let limits: SMTPLimits
    private var phase = Phase.command
    private var input = SMTPInput()
    private var lines = SMTPLineReader()
    private var output: [UInt8]
    private var clientName: String?
    private var isExtended = false
    private var account: MailAccount?
    private var transaction: SMTPTransaction?
    private var errors = 0
    private var commands = 0
    private var periods = 0
    private var hasInputEnded = false
    /// Ends the session when the question is answered.
    private var lastReply: SMTPReply?

    /// - Parameter serverName: the domain of the server in its greeting.
    public init(serverName: String, limits: SMTPLimits = SMTPLimits()) {
        self.serverName = serverName
        self.limits = limits
        output = SMTPReply(220, nil, "\(serverName) ESMTP Postern").bytes
    }

    public var wantsInput: Bool {
        if case .closed = phase { return false }
        return input.count < SMTPLimits.bufferedBytes && !hasInputEnded && lastReply == nil
    }

    /// The bytes of the client that are in memory.
    public var heldBytes: Int {
        let message =
            switch phase {
            case .data(let reader): reader.heldBytes
            case .asking(.deliver(let message), _): message.bytes.count
            default: transaction?.chunks?.count ?? 0
            }
        return input.count + message
    }

    public var timer: SMTPTimer {
        switch phase {
        case .command, .authentication: SMTPTimer(number: periods, limit: limits.commandTime)
        case .data, .chunk: SMTPTimer(number: periods, limit: limits.dataTime)
        case .asking, .closed: SMTPTimer(number: periods, limit: nil)
        }
    }

    public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        if case .closed = phase { return }
        input.append(bytes)
    }

    /// Gives back the memory of an empty buffer.
    public mutating func releaseBuffers() {
        if input.count == 0 { input.removeAll() }
    }

    /// - Returns: what to do now; `nil` when the session waits for bytes or an answer.
    public mutating func next() -> SMTPAction? {
        while output.count < Self.outputBytes, step() {}
        if !output.isEmpty {
            defer { output = [] }
            return .send(output)
        }
        switch phase {
        case .asking(let question, isTold: false):
            phase = .asking(question, isTold: true)
            return question
        case .closed(isTold: false, let lingers):
            phase = .closed(isTold: true, lingers: lingers)
            return .close(lingers: lingers)
        case .command, .authentication, .data, .chunk:
            guard hasInputEnded else { return nil }
            phase = .closed(isTold: true, lingers: false)
            return .close(lingers: false)
        default: return nil
        }
    }

    /// Answers the question that ``next()`` returned last.
    public mutating func answer(_ answer: SMTPAnswer) {
        guard case .asking(let question, isTold: true) = phase else {
            preconditionFailure("there is no question")
        }
        enter(.command)
        switch (question, answer) {
        case (.verify, .signedIn(let account)):
            self.account = account
            reply(235, "2.7.0", "Authentication succeeded")
        case (.verify, .wrongPassword): reply(535, "5.7.8", "Wrong name or password")
        case (.verify, .failed): reply(454, "4.7.0", "Try again later")
        case (.checkSender, .accepted): reply(250, "2.1.0", "Sender accepted")
        case (.checkSender, .failed(let failure)):
            transaction = nil
            if failure.isTemporary {
                reply(SMTPReply(failure))
            } else {
                reply(553, "5.7.1", "This sender is not yours")
            }
        case (.checkRecipient(let address), .accepted):
            transaction?.recipients.append(address)
            reply(250, "2.1.5", "Recipient accepted")
        case (.checkRecipient, .failed(let failure)): reply(SMTPReply(failure))
        case (.deliver, .delivered(let results)):
            commands = 0
            reply(SMTPReply(results))
        case (.deliver, .failed(let failure)):
            transaction = nil
            reply(SMTPReply(failure))
        default: preconditionFailure("the answer is to another question")
        }
        if let lastReply { end(lastReply, lingers: true) }
    }

    /// Ends the session as soon as possible, but answers an outstanding question before. May be
    /// called several times.
    public mutating func end(_ reason: SMTPEnd) {
        if let reply = reason.reply { end(reply, lingers: true) } else { hasInputEnded = true }
    }

    /// - Returns: `false` when it can do nothing before more bytes or an answer come.
    private mutating func step() -> Bool {
        switch phase {
        case .command, .authentication: return stepInLines()
        case .data(var reader):
            // Not copied while the reader appends to its message.
            phase = .command
            let outcome = reader.next(&input)
            phase = .data(reader)
            guard let outcome else { return false }
            finish(outcome)
            return true
        case .chunk(var reader):
            let isComplete = reader.read(&input, into: &transaction, limit: limits.messageBytes)
            phase = .chunk(reader)
            if isComplete { finish(reader) }
            return isComplete
        case .asking, .closed: return false
        }
    }

    private mutating func stepInLines() -> Bool {
        guard let line = lines.next(&input, limit: SMTPLimits.authenticationBytes) else {
            return false
        }
        switch line {
        case .complete(let bytes):
            periods += 1
            if case .authentication(var exchange) = phase {
                perform(exchange.take(bytes[...]), exchange)
            } else {
                perform(bytes)
            }
        case .bareLineEnd:
            enter(.command)
            reply(.bareLineEnd)
        case .tooLong:
            enter(.command)
            reply(500, "5.5.6", "Line too long")
        case .endless: end(421, "4.7.0", "Line too long")
        }
        return true
    }

    private mutating func perform(_ line: [UInt8]) {
        guard let command = SMTPCommand(parsing: line) else {
            return reply(500, "5.5.2", "Command not recognized")
        }
        commands += 1
        if commands > limits.commands {
            end(421, "4.7.0", "Too many commands")
        } else if line.count + 2 > command.verb.limit {
            reply(500, "5.5.6", "Line too long")
        } else {
            perform(command)
        }
    }

    private mutating func perform(_ command: SMTPCommand) {
        switch command.verb {
        case .helo, .ehlo: greet(command)
        case .mail: beginMail(command)
        case .rcpt: addRecipient(command)
        case .data: beginData(command)
        case .bdat: beginChunk(command)
        case .auth: beginAuthentication(command)
        case .rset:
            transaction = nil
            reply(250, "2.0.0", "Reset")
        case .noop: reply(250, "2.0.0", "OK")
        case .vrfy where command.argument.isEmpty: reply(501, "5.5.4", "An argument is missing")
        case .vrfy: reply(252, "2.5.2", "Send mail to find out")
        case .help:
            reply(214, "2.0.0", "EHLO HELO MAIL RCPT DATA BDAT RSET NOOP VRFY AUTH QUIT")
        case .quit: end(SMTPReply(221, "2.0.0", "Closing"), lingers: false)
        case .expn: reply(502, "5.5.1", "Not implemented")
        // A web page can make a browser send SMTP commands in a request to this port.
        case .http: end(421, "4.7.0", "This is not an HTTP server")
        }
    }

    private mutating func greet(_ command: SMTPCommand) {
        guard let name = command.clientName else {
            return reply(501, "5.5.4", "A domain or address is missing")
        }
        clientName = name
        transaction = nil
        isExtended = command.verb == .ehlo
        guard isExtended else { return reply(SMTPReply(250, nil, serverName)) }
        reply(.extensions(serverName: serverName, messageBytes: limits.messageBytes))
    }

    private mutating func beginMail(_ command: SMTPCommand) {
        guard clientName != nil else { return reply(503, "5.5.1", "EHLO comes first") }
        guard transaction == nil else { return reply(503, "5.5.1", "MAIL came already") }
        let new: SMTPTransaction
        do throws(SMTPReply) {
            new = try SMTPTransaction(
                parsing: command, isExtended: isExtended, messageBytes: limits.messageBytes)
        } catch {
            return reply(error)
        }
        if let account, new.mailFrom.isEmpty {
            return reply(553, "5.7.1", "The sender must be \(account.address)")
        }
        transaction = new
        if let account {
            enter(.asking(.checkSender(new.mailFrom, account), isTold: false))
        } else {
            reply(250, "2.1.0", "Sender accepted")
        }
    }

    private mutating func addRecipient(_ command: SMTPCommand) {
        guard let transaction, transaction.chunks == nil else {
            return reply(503, "5.5.1", "MAIL comes first")
        }
        let recipient: String
        do throws(SMTPReply) {
            recipient = try transaction.recipient(parsing: command)
        } catch {
            return reply(error)
        }
        guard transaction.recipients.count < limits.recipients else {
            return reply(452, "4.5.3", "Too many recipients")
        }
        enter(.asking(.checkRecipient(recipient), isTold: false))
    }

    private mutating func beginData(_ command: SMTPCommand) {
        guard command.argument.isEmpty else { return reply(501, "5.5.4", "DATA has no argument") }
        guard let transaction, transaction.chunks == nil else {
            return reply(503, "5.5.1", "MAIL and RCPT come first")
        }
        guard !transaction.recipients.isEmpty else {
            return reply(554, "5.5.1", "There is no valid recipient")
        }
        enter(.data(SMTPDataReader(limit: limits.messageBytes)))
        reply(SMTPReply(354, nil, "End the message with a dot on a line"))
    }

    private mutating func finish(_ outcome: SMTPDataReader.Outcome) {
        enter(.command)
        switch outcome {
        case .message(let bytes): return deliver(bytes)
        case .failed(let failure): reply(failure)
        case .endless: end(421, "4.3.4", "Message too large")
        }
        transaction = nil
    }

    /// RFC 3030 §2. The bytes of a chunk are taken whether it is accepted or not.
    private mutating func beginChunk(_ command: SMTPCommand) {
        guard let (size, isLast) = command.chunk else {
            // Where the chunk ends, nobody knows.
            return end(421, "4.5.4", "Syntax: BDAT size [LAST]")
        }
        guard size <= limits.messageBytes * SMTPLimits.skippedTimes else {
            return end(421, "4.3.4", "Message too large")
        }
        var failure: SMTPReply?
        if transaction == nil || transaction?.isBroken == true {
            failure = SMTPReply(503, "5.5.1", "MAIL and RCPT come first")
        } else if transaction?.recipients.isEmpty == true {
            failure = SMTPReply(554, "5.5.1", "There is no valid recipient")
        }
        if failure == nil { transaction?.beginChunk() }
        enter(.chunk(SMTPChunkReader(left: size, isLast: isLast, failure: failure)))
    }

    private mutating func finish(_ chunk: SMTPChunkReader) {
        enter(.command)
        if let failure = chunk.failure {
            if chunk.isLast { transaction = nil } else { transaction?.breakOff() }
            reply(failure)
        } else if !chunk.isLast {
            reply(250, "2.0.0", "Chunk received")
        } else if let message = transaction?.chunks {
            if SMTPTransaction.hasBareLineEnd(message) {
                transaction = nil
                reply(.bareLineEnd)
            } else {
                deliver(message)
            }
        }
    }

    private mutating func deliver(_ bytes: [UInt8]) {
        guard let transaction else { return }
        let message = transaction.message(
            bytes, from: clientName ?? "", isExtended: isExtended, account: account)
        // The message is in the question now.
        self.transaction = nil
        enter(.asking(.deliver(message), isTold: false))
    }

    private mutating func beginAuthentication(_ command: SMTPCommand) {
        guard isExtended, account == nil, transaction == nil else {
            return reply(503, "5.5.1", "AUTH comes after EHLO, once, before MAIL")
        }
        do throws(SMTPReply) {
            var exchange = try SMTPAuthentication(parsing: command)
            perform(exchange.begin(), exchange)
        } catch {
            reply(error)
        }
    }

    private mutating func perform(
        _ step: SMTPAuthentication.Step, _ exchange: SMTPAuthentication
    ) {
        switch step {
        case .challenge(let text):
            enter(.authentication(exchange))
            reply(SMTPReply(334, nil, text))
        case .credentials(let name, let password):
            enter(.asking(.verify(name: name, password: password), isTold: false))
        case .cancelled:
            enter(.command)
            reply(501, "5.7.0", "Authentication cancelled")
        case .invalid:
            enter(.command)
            reply(501, "5.5.2", "Invalid response")
        }
    }

    private mutating func enter(_ new: Phase) {
        if case .closed = phase { return }
        phase = new
        periods += 1
    }

    private mutating func reply(_ code: Int, _ status: String, _ text: String) {
        reply(SMTPReply(code, status, text))
    }

    private mutating func reply(_ reply: SMTPReply) {
        output += reply.bytes
        guard reply.isPermanentError else { return }
        errors += 1
        if errors >= limits.errors { end(421, "4.7.0", "Too many errors") }
    }

    private mutating func end(_ code: Int, _ status: String, _ text: String) {
        end(SMTPReply(code, status, text), lingers: true)
    }

    /// What the client sent ahead is not looked at any more. A question is answered before.
    private mutating func end(_ reply: SMTPReply, lingers: Bool) {
        switch phase {
        case .closed: return
        case .asking: lastReply = lastReply ?? reply
        case .command, .authentication, .data, .chunk:
            output += reply.bytes
            phase = .closed(isTold: false, lingers: lingers)
            transaction = nil
        }
        input.removeAll()
    }
}

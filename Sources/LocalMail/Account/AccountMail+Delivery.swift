extension AccountMail {
    /// Puts a message into the inbox.
    func deliver(
        _ content: MailContent, at now: MailInstant
    ) throws(DeliveryFailure) -> MailEmail {
        let keys = ThreadTable.keys(of: content.summary)
        let quota = quotaBytes
        return try write { state throws(DeliveryFailure) in
            guard let inbox = state.folders.folder(.inbox) else { throw .unknownRecipient }
            guard state.messages.bytes + content.bytes.count <= quota else { throw .mailboxFull }
            state.recordDelivery()
            return MailEmail(
                state.insert(
                    content, threadKeys: keys, folders: [inbox.number], keywords: [],
                    receivedAt: now))
        }
    }

    /// - Returns: the message that a submission names.
    func email(toSubmit draft: SubmissionDraft) throws(SubmissionSetError) -> MailEmail {
        if let identityID = draft.identityID, identityID != identity.id {
            throw .invalidProperties(["identityId"])
        }
        guard let email = emails([draft.emailID]).list.first else {
            throw .invalidProperties(["emailId"])
        }
        if email.content.summary.from.isEmpty { throw .invalidEmail(["from"]) }
        return email
    }

    /// Keeps a submission that was made. The message may have gone meanwhile.
    func record(
        _ email: MailEmail, _ envelope: MailEnvelope, results: [DeliveryResult]
    ) -> MailSubmission {
        let now = environment.now()
        return write { state in
            MailSubmission(
                state.insertSubmission(
                    email: email.number, thread: email.thread, envelope: envelope, at: now,
                    status: results.map(RecipientStatus.init)),
                identityID: state.identityID)
        }
    }
}

extension MailEnvelope {
    /// RFC 8621 §7.5: from Sender or From, to everybody in To, Cc and Bcc.
    init(_ summary: MessageSummary) {
        let author = summary.sender.first ?? summary.from.first
        var known: Set<String> = []
        let recipients = (summary.to + summary.cc + summary.bcc).map(\.email).filter {
            known.insert(Keyword.lowered($0)).inserted
        }
        self.init(mailFrom: author?.email ?? "", recipients: recipients)
    }
}

extension RecipientStatus {
    init(_ result: DeliveryResult) {
        let (reply, delivered): (SMTPReply, Delivered) =
            switch result.outcome {
            case .delivered: (.delivered, .yes)
            case .captured: (.delivered, .unknown)
            case .failed(let failure):
                (SMTPReply(failure), failure.isTemporary ? .queued : .no)
            }
        self.init(address: result.recipient, smtpReply: reply.text, delivered: delivered)
    }
}

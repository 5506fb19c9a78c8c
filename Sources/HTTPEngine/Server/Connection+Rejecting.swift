// What a connection answers itself, and when it reads no further request.

extension Connection {
    func reject(_ error: HTTPError, on loop: isolated Loop) {
        finishInput(input.reject(error, id: loop.nextID()))
    }

    func rejectForOverload(on loop: isolated Loop) {
        reject(.overloaded(retryAfter: loop.context.configuration.retryAfter), on: loop)
    }

    /// Answers the last exchange and reads no further request.
    func finishInput(_ exchange: Exchange?) {
        if let exchange { output.enqueue(exchange) }
        phase.endInput(lingers: true)
    }

    /// Rejects the client when the buffer budget is too small for the connection's buffers.
    /// A client that does not read is disconnected, because a response would have to wait, too. A
    /// client in the middle of a request is answered 503, once.
    /// - Returns: whether there is something to send now.
    func rejectsForMemory(on loop: isolated Loop) -> Bool {
        guard phase.closing != .closed, !updateCharge() else { return false }
        if output.unsentBytes > 0 {
            loop.context.rejections.count(.bufferLimit)
            perform(phase.close(), on: loop)
            return false
        }
        // Requests that arrived completely in one read are answered, because they are small.
        guard !isOverBudget, output.waiting > 0 || phase.isMidRequest else { return false }
        isOverBudget = true
        loop.context.rejections.count(.bufferLimit)
        output.dropQueue()
        rejectForOverload(on: loop)
        input.discard()
        // The rest is the request of a running handler; it was charged, or came in one read.
        _ = updateCharge()
        return true
    }

    func updateCharge() -> Bool {
        charge.update(heldBytes: input.heldBytes + output.heldBytes)
    }
}

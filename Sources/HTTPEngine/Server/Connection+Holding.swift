// What a connection holds of its client's bytes and of answers that the client does not read,
// charged to what all connections may hold together.
extension Connection {
    /// Not charged: nearly every request and answer fits in, so that clients who hold much shut out
    /// nobody who asks for little.
    static let freeBytes = 8_192

    private var heldBytes: Int {
        parser.heldBytes + (incoming?.bytes ?? 0) + state.heldBytes + outbox.capacity
    }

    /// Turns the client away where there is no room for what it makes us hold: whoever does not
    /// read is cut off, for an answer would have to wait as well; whoever is in the middle of a
    /// request is told 503, once.
    /// - Returns: whether there is something to send now.
    func turnsAway(on loop: isolated Loop) -> Bool {
        guard state.closing != .closed, !settle(on: loop) else { return false }
        if state.unsent > 0 {
            perform(state.close(), on: loop)
            return false
        }
        // What one read has brought whole is answered; it is not much.
        guard !isTurnedAway, state.waiting > 0 || state.isMidRequest else { return false }
        isTurnedAway = true
        queue.removeAll()
        state.forgetWaiting()
        turnAway(on: loop)
        parser = RequestParser(limits: loop.context.parserLimits)
        // What is left is what a handler has; it was paid for, or came in one read.
        _ = settle(on: loop)
        return true
    }

    /// Charges what has come, gives back what has gone.
    /// - Returns: false when there is no room for it; then nothing has changed.
    private func settle(on loop: isolated Loop) -> Bool {
        let owed = max(0, heldBytes - Connection.freeBytes)
        guard owed != charged else { return true }
        if owed > charged {
            guard loop.context.budget.take(owed - charged) else { return false }
        } else {
            loop.context.budget.give(charged - owed)
        }
        charged = owed
        return true
    }

    /// The connection is closed: nothing of it is held any more.
    func letGo(on loop: isolated Loop) {
        queue.removeAll()
        incoming = nil
        outbox = []
        parser = RequestParser(limits: loop.context.parserLimits)
        loop.context.budget.give(charged)
        charged = 0
    }
}

import AuthCore
import TestPrimitives
import Testing

@testable import AuthStorage

/// Group commit must not change what a single write does.
@Suite struct WriteQueueTests {
    @Test func moreWritesThanItsDepthGetStoreBusy() async throws {
        var settings = SQLiteSettings()
        settings.depth = 4
        let store = try SQLiteStore.open(.memory, settings: settings, at: .epoch)
        let gate = Gate()
        // The writer is blocked, so that later writes wait.
        let held = Task {
            try await store.write { _ in gate.hold() }
        }
        await gate.await()
        let busy = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    do {
                        return try await !store.insert(account(number))
                    } catch is StoreBusy {
                        return true
                    }
                }
            }
            var busy = 0
            for _ in 0..<16 {
                // Sixteen of them fail while the writer is still blocked.
                if try await group.next() == true { busy += 1 }
            }
            gate.release()
            for try await refused in group where refused { busy += 1 }
            return busy
        }
        try await held.value
        #expect(busy == 16)
        #expect(try await store.accounts(after: nil, limit: 100).count == 4)
    }

    @Test func writesThatWaitAreCommittedTogether() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        let gate = Gate()
        let held = Task { try await store.write { _ in gate.hold() } }
        await gate.await()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addImmediateTask { try await store.append(event(.loginFailed, "\(number)")) }
            }
            #expect(store.waitingWrites == 10)
            gate.release()
            try await group.waitForAll()
        }
        try await held.value
        // The connection has the events of the last transaction only.
        #expect(
            try await store.writer.run { $0.events.map(\.subject) } == (0..<10).map { "\($0)" })
        // The queue goes on after a batch.
        try await store.append(event(.loginFailed, "next"))
        #expect(try await store.writer.run { $0.events.map(\.subject) } == ["next"])
    }

    @Test func aFailedWriteUndoesOnlyItsOwnChanges() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        let gate = Gate()
        let held = Task {
            try await store.write { _ in gate.hold() }
        }
        await gate.await()
        // All of these wait once they are added, and are committed as one batch.
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<10 {
                group.addImmediateTask {
                    do {
                        return try await store.write { database in
                            let id = "\(number)"
                            try database.run(
                                Query("half", "INSERT INTO spent_challenge VALUES (?1, 1)"),
                                .text(id))
                            if number % 2 == 1 { throw StorageError.duplicateKey(id: id) }
                            return true
                        }
                    } catch StorageError.duplicateKey(let id) {
                        return id != "\(number)"
                    }
                }
            }
            #expect(store.waitingWrites == 10)
            gate.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await held.value
        #expect(outcomes.filter { $0 }.count == 5)
        for number in 0..<10 {
            let free = try await store.spend("\(number)", expiry: .epoch)
            #expect(free == (number % 2 == 1))
        }
    }

    @Test func aLostTransactionFailsEveryWriteInIt() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        let gate = Gate()
        let held = Task { try await store.write { _ in gate.hold() } }
        await gate.await()
        let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<3 {
                group.addImmediateTask {
                    do {
                        try await store.write { database in
                            try database.run(
                                Query("in", "INSERT INTO spent_challenge VALUES (?1, 1)"),
                                .text("\(number)"))
                            guard number == 1 else { return }
                            // SQLite does this itself when the disk is full.
                            try database.execute(script: "ROLLBACK", name: "lose")
                            throw StorageError.duplicateKey(id: "lost")
                        }
                        return false
                    } catch StorageError.duplicateKey(id: "lost") {
                        return true
                    }
                }
            }
            #expect(store.waitingWrites == 3)
            gate.release()
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        try await held.value
        #expect(failures == 3)
        for number in 0..<3 { #expect(try await store.spend("\(number)", expiry: .epoch)) }
    }
}

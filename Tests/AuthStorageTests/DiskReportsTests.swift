import AuthCore
import Synchronization
import Testing

@testable import AuthStorage

struct DiskReportsTests {
    private final class Heard: Sendable {
        let reports = Mutex<[String]>([])

        func add(_ text: String) { reports.withLock { $0.append(text) } }

        var all: [String] { reports.withLock { $0 } }
    }

    private let heard = Heard()
    private let start = ContinuousClock.now

    private func disk() -> DiskReports {
        DiskReports(
            StoreObservers(
                diskFull: { [heard] in heard.add($0 ? "full" : "not full") },
                diskFailing: { [heard] in heard.add($0 ?? "works") }))
    }

    @Test func aDiskThatWorksIsNotReported() {
        let disk = disk()
        for second in 0..<30 { disk.note(nil, at: start + .seconds(second)) }
        #expect(heard.all.isEmpty)
    }

    @Test func aDiskThatTakesSomeWritesIsReportedOnce() {
        let disk = disk()
        for second in 0..<30 {
            disk.note(second % 3 == 0 ? StoreFull() : nil, at: start + .seconds(second))
        }
        #expect(heard.all == ["full"])
    }

    @Test func itWorksAgainWhenNoWriteHasFailedForAWhile() {
        let disk = disk()
        disk.note(StoreFull(), at: start)
        disk.note(nil, at: start + DiskReports.pause - .milliseconds(1))
        #expect(heard.all == ["full"])
        disk.note(nil, at: start + DiskReports.pause)
        disk.note(nil, at: start + DiskReports.pause)
        #expect(heard.all == ["full", "not full"])
        disk.note(StoreFull(), at: start + .seconds(60))
        #expect(heard.all == ["full", "not full", "full"])
    }

    @Test func aFailureHasItsCauseAndEndsForItself() {
        let disk = disk()
        disk.note(StoreDiskFailure(cause: "broken"), at: start)
        disk.note(StoreFull(), at: start + .seconds(1))
        #expect(heard.all == ["broken", "full", "works"])
        disk.note(nil, at: start + .seconds(60))
        #expect(heard.all == ["broken", "full", "works", "not full"])
    }
}

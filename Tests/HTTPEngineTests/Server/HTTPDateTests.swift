import Testing

@testable import HTTPEngine

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] as [(Int64, String)])
    func secondsReadAsIMFFixdate(seconds: Int64, text: String) {
        #expect(HTTPDate.text(seconds) == text)
    }

    @Test func theTextIsThatOfTheLastSecond() {
        var date = HTTPDate()
        date.update(to: 0)
        date.update(to: 784_111_777)
        #expect(date.bytes == Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8))
    }
}

import HTTPEngine
import StrictJSON
import Testing

@testable import AuthAPI

struct JSONResponseTests {
    @Test(arguments: [
        (Duration.zero, Int64(1)), (.milliseconds(1), 1), (.milliseconds(999), 1), (.seconds(1), 1),
        (.milliseconds(1001), 2), (.seconds(3600), 3600), (.seconds(-5), 1),
    ])
    func retryAfterIsWholeSecondsAndAtLeastOne(wait: Duration, seconds: Int64) {
        #expect(wait.retryAfterSeconds == seconds)
    }

    @Test(arguments: [
        (Duration.seconds(1), "1 second"), (.seconds(2), "2 seconds"), (.seconds(59), "59 seconds"),
        (.seconds(60), "1 minute"), (.seconds(90), "90 seconds"), (.seconds(120), "2 minutes"),
        (.seconds(3600), "1 hour"), (.seconds(5400), "90 minutes"), (.seconds(7200), "2 hours"),
        (.seconds(86_400), "1 day"), (.seconds(604_800), "7 days"),
        (.seconds(86_460), "1441 minutes"),
    ])
    func aLifetimeIsInTheLargestUnitThatIsExact(lifetime: Duration, words: String) {
        #expect(lifetime.inWords == words)
    }

    @Test func aResponseIsJSONThatIsNotCached() throws {
        let response = Response.json(.created, headers: [("X-A", "b")]) { $0.member("a", 1) }
        #expect(response.status == .created)
        #expect(response.header("Content-Type") == "application/json")
        #expect(response.header("Cache-Control") == "no-store")
        #expect(response.header("X-A") == "b")
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"a":1}"#)
    }

    @Test func only401HasWWWAuthenticateAndOnlyAWaitHasRetryAfter() {
        for status in [Status.unauthorized, .forbidden, .serviceUnavailable] {
            var response = Response(status: status)
            response.addErrorFields(retryAfter: status == .serviceUnavailable ? .seconds(2) : nil)
            #expect(
                response.header("WWW-Authenticate") == (status == .unauthorized ? "Bearer" : nil))
            #expect(
                response.header("Retry-After") == (status == .serviceUnavailable ? "2" : nil))
        }
    }
}

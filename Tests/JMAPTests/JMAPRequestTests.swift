import StrictJSON
import Testing

@testable import JMAP

@Suite struct JMAPRequestTests {
    private func request(_ body: String) throws(JMAPRequestError) -> JMAPRequest {
        try JMAPRequest(Array(body.utf8), capabilities: ["core"], maxCalls: 2)
    }

    @Test func aRequestHasItsCallsInOrder() throws {
        let request = try request(
            #"{"using":["core"],"methodCalls":[["a",{"x":1},"0"],["b",{},"1"]]}"#)
        #expect(request.calls.map(\.name) == ["a", "b"])
        #expect(request.calls.map(\.callID) == ["0", "1"])
        #expect(request.createdIDs == nil)
    }

    @Test(arguments: [
        ("{", "notJSON"), (#"{"using":[],"using":[],"methodCalls":[]}"#, "notJSON"),
        ("[]", "notRequest"), (#"{"methodCalls":[]}"#, "notRequest"),
        (#"{"using":"core","methodCalls":[]}"#, "notRequest"),
        (#"{"using":[1],"methodCalls":[]}"#, "notRequest"),
        (#"{"using":["core"]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[["a",{}]]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[["a",[],"0"]]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[["a",{},0]]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[{}]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[],"createdIds":[]}"#, "notRequest"),
        (#"{"using":["core"],"methodCalls":[],"createdIds":{"a":1}}"#, "notRequest"),
        (#"{"using":["core","x"],"methodCalls":[]}"#, "unknownCapability"),
        (#"{"using":["core"],"methodCalls":[["a",{},"0"],["a",{},"1"],["a",{},"2"]]}"#, "limit"),
    ])
    func everyOtherBodyIsRefusedWithItsType(_ body: String, _ type: String) {
        let error = #expect(throws: JMAPRequestError.self) { try request(body) }
        #expect(error?.type == "urn:ietf:params:jmap:error:" + type)
        #expect(error?.detail.isEmpty == false)
    }
}

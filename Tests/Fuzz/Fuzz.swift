// The entry of libFuzzer. One program fuzzes every parser of text from outside; the environment
// variable FUZZ_TARGET names which. A parser must not trap, and the rules that its target checks
// must hold: a precondition that fails is a finding.

internal import Glibc

/// The parsers by name. `Tests/Fuzz/run.sh` lists them from here.
private let targets: [(name: String, check: @Sendable ([UInt8]) -> Void)] = [
    ("request", checkRequest),
    ("proxy-header", checkProxyHeader),
    ("netstring", checkNetstrings),
    ("forwarded", checkForwarded),
    ("header-fields", checkHeaderFields),
    ("form", checkForm),
    ("json", checkJSON),
    ("jwt", checkToken),
    ("argon2", checkHash),
    ("dns", checkDNSAnswer),
    ("names", checkNames),
    ("message", checkMessage),
    ("draft", checkDraft),
    ("smtp", checkSMTP),
    ("jmap", checkJMAP),
    ("passkey", checkPasskey),
    ("provider", checkProvider),
    ("configuration", checkConfiguration),
]

private let check: @Sendable ([UInt8]) -> Void = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = targets.first(where: { $0.name == name }) else {
        fatalError("FUZZ_TARGET is one of \(targets.map(\.name))")
    }
    return target.check
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    check(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

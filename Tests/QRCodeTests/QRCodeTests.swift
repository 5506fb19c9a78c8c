import Testing

@testable import QRCode

/// Programs that read the codes are asked in Tests/Interop/test_factors.py.
@Suite struct QRCodeTests {
    @Test func aCodeIsASquareWithAMargin() throws {
        let svg = try QRCode.svg(of: "otpauth://totp/a:b?secret=GEZDGNBVGY3TQOJQ")
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 37 37\""))
        // The upper left finder begins after the margin, with seven dark modules.
        #expect(svg.contains("d=\"M4 4h7v1h-7z"))
        #expect(!svg.contains("script") && svg.hasSuffix("</svg>"))
    }

    @Test func aTextOfAnyLengthIsACodeOrRefused() throws {
        for count in [0, 1, 2_331] {
            let text = String(repeating: "x", count: count)
            #expect((try? QRCode.svg(of: text)) != nil || count == 0)
        }
        #expect(throws: QRCodeError.tooLong) {
            try QRCode.svg(of: String(repeating: "x", count: 2_332))
        }
    }
}

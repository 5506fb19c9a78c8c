// QRCode: texts as QR codes.
//
// Owns: the image of a code (ISO/IEC 18004) in SVG, whose modules libqrencode computes, a library
// that is loaded when it is first used. Never knows what the text means.

internal import CQRCode

/// Why there is no QR code.
public enum QRCodeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// libqrencode cannot be loaded; with the loader's message.
    case libraryMissing(String)
    /// The text is longer than the largest symbol holds.
    case tooLong

    public var description: String {
        switch self {
        case .libraryMissing(let cause):
            "libqrencode cannot be loaded (Debian: libqrencode4): \(cause)"
        case .tooLong: "the text is too long for a QR code"
        }
    }
}

/// A QR code as an image.
public enum QRCode {
    /// The light margin that readers need, in modules (ISO/IEC 18004 §6.3.8).
    private static let margin = 4

    private static let fault = postern_qrcode_load().map { String(cString: $0) }

    /// The code of `text`, dark on light whatever the page's colours are, as an SVG document that
    /// can be shown in any size.
    public static func svg(of text: String) throws(QRCodeError) -> String {
        if let fault { throw .libraryMissing(fault) }
        // The largest symbol holds 2,331 bytes at level M.
        guard text.utf8.count <= 2_331 else { throw .tooLong }
        var text = text
        let code = text.withUTF8 { postern_qrcode_encode($0.baseAddress, Int32($0.count)) }
        guard let code else { throw .tooLong }
        defer { postern_qrcode_free(code) }
        let side = Int(postern_qrcode_width(code)) + 2 * margin
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/>\
            <path d="\(darkLines(of: code))"/></svg>
            """
    }

    /// The dark modules of each row, those that touch as one rectangle.
    private static func darkLines(of code: OpaquePointer) -> String {
        let width = postern_qrcode_width(code)
        var path = ""
        for y in 0..<width {
            var x: Int32 = 0
            while x < width {
                let start = x
                while x < width, postern_qrcode_is_dark(code, x, y) { x += 1 }
                let count = Int(x - start)
                if count > 0 {
                    path += "M\(Int(start) + margin) \(Int(y) + margin)h\(count)v1h-\(count)z"
                }
                x += 1
            }
        }
        return path
    }
}

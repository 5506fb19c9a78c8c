/// HTML markup. Interpolated strings are escaped; only another `HTMLText` is inserted unchanged.
struct HTMLText: ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral value: String) {
        text = value
    }

    /// - Parameter markup: taken as it is.
    init(markup: String) {
        text = markup
    }

    init(stringInterpolation: Interpolation) {
        text = stringInterpolation.text
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        /// Escapes a value for element content and for quoted attributes.
        mutating func appendInterpolation(_ value: String) {
            for character in value.unicodeScalars {
                switch character {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(character)
                }
            }
        }

        /// Inserts markup unchanged.
        mutating func appendInterpolation(_ markup: HTMLText) {
            text += markup.text
        }
    }
}

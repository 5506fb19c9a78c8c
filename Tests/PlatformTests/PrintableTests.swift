import Platform
import Testing

struct PrintableTests {
    @Test func everyCharacterThatChangesTheDirectionOfTextIsEscaped() {
        let found = (UInt32(0x80)...0xffff).compactMap(Unicode.Scalar.init)
            .filter(\.properties.isBidiControl)
        #expect(found.count == 12)
        for scalar in found {
            let text = String(Character(scalar)).printable()
            #expect(text == scalar.escape, "\(scalar.value)")
        }
    }
}

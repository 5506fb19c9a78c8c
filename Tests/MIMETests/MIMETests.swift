import MIME
import Testing

@Suite struct MIMEErrorTests {
    @Test func aMissingLibraryIsReportedWithItsPackage() {
        let text = MIMEError.libraryMissing("cannot open").description
        #expect(text == "GMime cannot be loaded (Debian: libgmime-3.0-0): cannot open")
    }
}

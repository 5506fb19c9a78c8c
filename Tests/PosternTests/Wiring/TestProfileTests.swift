import Testing

@testable import Configuration
@testable import postern

@Suite struct TestProfileTests {
    @Test func noOtherProfileHasIt() {
        #expect(TestProfile(Config()) == nil)
        #expect(TestProfile(Config(profile: .production)) == nil)
        #expect(TestProfile(Config(profile: .test)) != nil)
    }
}

extension Config {
    /// The record of credential events.
    struct Audit: Sendable {
        /// How long events are kept; zero keeps them for ever.
        var retention = Duration.zero

        static let settings = [
            Setting(
                "audit.retention", \.audit.retention, .duration(.zero ... .seconds(86_400 * 36_500))
            )
        ]
    }
}

/// `[webhooks]`: the URLs of users' webhooks.
public struct WebhooksSection: Sendable {
    /// How long one attempt may take.
    public var timeout = Duration.seconds(10)
    /// Whether loopback and private addresses may be connected to. Not allowed in the production
    /// profile.
    public var allowPrivateNetworks = false
    /// The ports that may be connected to; empty allows all.
    public var ports = [443]
    /// A PEM file of certificates to trust instead of the system's.
    public var caFile: String?

    static let settings = [
        Setting(
            "webhooks.timeout", \.webhooks.timeout, .duration(.milliseconds(10) ... .seconds(60))),
        Setting("webhooks.allow_private_networks", \.webhooks.allowPrivateNetworks, .boolean),
        Setting(
            "webhooks.ports", \.webhooks.ports,
            .list(of: .integer(1...65_535), 0...100, accepts: "at most 100 ports, [] for all")),
        Setting("webhooks.ca_file", \.webhooks.caFile, Syntax.path.optional),
    ]
}

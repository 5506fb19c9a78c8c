internal import Fetching

extension Config {
    /// How users' domains are looked up.
    struct DNS: Sendable {
        /// For one look-up in all.
        var timeout = Duration.seconds(5)
        /// The nameservers that are asked; the system's when empty.
        var servers: [NameServer] = []

        static let settings = [
            Setting(
                "dns.timeout", \.dns.timeout, .duration(.milliseconds(100) ... .seconds(30))),
            Setting(
                "dns.servers", \.dns.servers,
                .list(
                    of: .nameServer, 0...8,
                    accepts: "at most 8 addresses (192.0.2.53, 192.0.2.53:5353, [::1]:53)")),
        ]
    }
}

extension Syntax<NameServer> {
    fileprivate static let nameServer = Syntax.string(
        "an address with or without a port", read: { NameServer($0) }, write: \.description)
}

internal import AuthCore

extension Config {
    /// Logging in against an Argon2 hash that the user hosts.
    struct HashLogin: Sendable {
        /// The issuer (`iss`) of login tokens; also read from `JWT_ISSUER`. The public URL outside
        /// the production profile, where it must be set.
        var issuer: String?
        /// When a failed login is answered, counted from its arrival; longer than
        /// `hash_login.login_timeout`, or a slow host would show.
        var failureFloor = Duration.seconds(3)
        /// The least time in which a failed fetch is answered at registration.
        var fetchFloor = Duration.seconds(1)
        /// How long a fetch may take at registration.
        var registerTimeout = Duration.seconds(5)
        /// How long a fetch may take at a login.
        var loginTimeout = Duration.seconds(2)
        /// Whether `http` URLs may be fetched. For trying things out; refused in production.
        var allowHTTP = false
        /// Whether loopback and private addresses may be fetched from. Refused in production.
        var allowPrivateNetworks = false
        /// Ports that may be fetched from.
        var ports = [443]
        /// A PEM file of certificates to trust in place of the system's.
        var caFile: String?
        /// The most memory that a served hash may ask for, in KiB.
        var maxMemoryKiB = 65_536
        /// The most passes that a served hash may ask for.
        var maxIterations = 10
        /// The most lanes that a served hash may ask for.
        var maxParallelism = 4
        /// The longest salt that a served hash may have, in bytes.
        var maxSaltBytes = 64
        /// The longest tag that a served hash may have, in bytes.
        var maxTagBytes = 64

        static let settings = [
            Setting("hash_login.issuer", \.hashLogin.issuer, Syntax.visible(1...200).optional),
            Setting("hash_login.failure_floor", \.hashLogin.failureFloor, .floor),
            Setting("hash_login.fetch_floor", \.hashLogin.fetchFloor, .floor),
            Setting("hash_login.register_timeout", \.hashLogin.registerTimeout, .fetchTime),
            Setting("hash_login.login_timeout", \.hashLogin.loginTimeout, .fetchTime),
            Setting("hash_login.allow_http", \.hashLogin.allowHTTP, .boolean),
            Setting(
                "hash_login.allow_private_networks", \.hashLogin.allowPrivateNetworks, .boolean),
            Setting(
                "hash_login.ports", \.hashLogin.ports,
                .list(of: .integer(1...65_535), 0...100, accepts: "at most 100 ports, [] for any")),
            Setting("hash_login.ca_file", \.hashLogin.caFile, Syntax.path.optional),
            Setting("hash_login.max_memory_kib", \.hashLogin.maxMemoryKiB, .integer(8...65_536)),
            Setting("hash_login.max_iterations", \.hashLogin.maxIterations, .integer(1...10)),
            Setting("hash_login.max_parallelism", \.hashLogin.maxParallelism, .integer(1...4)),
            Setting("hash_login.max_salt_bytes", \.hashLogin.maxSaltBytes, .integer(8...64)),
            Setting("hash_login.max_tag_bytes", \.hashLogin.maxTagBytes, .integer(16...64)),
        ]
    }
}

extension Syntax<Duration> {
    fileprivate static let floor = Syntax.duration(.zero ... .seconds(60))
    fileprivate static let fetchTime = Syntax.duration(.milliseconds(10) ... .seconds(60))
}

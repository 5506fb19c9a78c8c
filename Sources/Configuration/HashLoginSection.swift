internal import AuthCore
internal import Cryptography

/// `[hash_login]`: login against an Argon2 hash that the user hosts.
public struct HashLoginSection: Sendable {
    /// The issuer (`iss`) of login tokens; also read from `JWT_ISSUER`. It defaults to the public
    /// URL; the production profile requires one.
    public var issuer: String?
    /// When a failed login is answered, counted from its arrival. It must be longer than
    /// ``loginTimeout``, or the time of the answer would show that a host is slow.
    public var failureFloor = defaults.failureFloor
    /// The shortest time in which a failed fetch is answered at registration.
    public var fetchFloor = defaults.fetchFloor
    /// How long a fetch may take at registration.
    public var registerTimeout = defaults.registerTimeout
    /// How long a fetch may take at login.
    public var loginTimeout = defaults.loginTimeout
    /// Whether `http` URLs may be fetched. Not allowed in the production profile.
    public var allowHTTP = false
    /// Whether loopback and private addresses may be fetched from. Not allowed in the production
    /// profile.
    public var allowPrivateNetworks = false
    /// The ports that may be fetched from; empty allows all.
    public var ports = [443]
    /// A PEM file of certificates to trust instead of the system's.
    public var caFile: String?
    /// The highest memory cost of a served hash, in KiB.
    public var maxMemoryKiB = defaults.bounds.memoryKiB
    /// The highest number of iterations of a served hash.
    public var maxIterations = defaults.bounds.iterations
    /// The highest product of memory cost in KiB and iterations of a served hash.
    public var maxMemoryPasses = defaults.bounds.memoryPasses
    /// The highest parallelism of a served hash.
    public var maxParallelism = defaults.bounds.parallelism
    /// The longest salt of a served hash, in bytes.
    public var maxSaltBytes = defaults.bounds.saltBytes.upperBound
    /// The longest tag of a served hash, in bytes.
    public var maxTagBytes = defaults.bounds.tagBytes.upperBound

    private static let defaults = HashLogins.Settings()

    static let settings = [
        Setting("hash_login.issuer", \.hashLogin.issuer, Syntax.visible(1...200).optional),
        Setting("hash_login.failure_floor", \.hashLogin.failureFloor, floor),
        Setting("hash_login.fetch_floor", \.hashLogin.fetchFloor, floor),
        Setting("hash_login.register_timeout", \.hashLogin.registerTimeout, fetchTimeout),
        Setting("hash_login.login_timeout", \.hashLogin.loginTimeout, fetchTimeout),
        Setting("hash_login.allow_http", \.hashLogin.allowHTTP, .boolean),
        Setting("hash_login.allow_private_networks", \.hashLogin.allowPrivateNetworks, .boolean),
        Setting(
            "hash_login.ports", \.hashLogin.ports,
            .list(of: .integer(1...65_535), 0...100, accepts: "at most 100 ports, [] for all")),
        Setting("hash_login.ca_file", \.hashLogin.caFile, Syntax.path.optional),
        // Operators may lower these limits. Higher ones would let a served hash stop the server.
        Setting(
            "hash_login.max_memory_kib", \.hashLogin.maxMemoryKiB,
            .integer(8...defaults.bounds.memoryKiB)),
        Setting(
            "hash_login.max_iterations", \.hashLogin.maxIterations,
            .integer(1...defaults.bounds.iterations)),
        Setting(
            "hash_login.max_memory_passes", \.hashLogin.maxMemoryPasses,
            .integer(8...defaults.bounds.memoryPasses)),
        Setting(
            "hash_login.max_parallelism", \.hashLogin.maxParallelism,
            .integer(1...defaults.bounds.parallelism)),
        Setting(
            "hash_login.max_salt_bytes", \.hashLogin.maxSaltBytes,
            .integer(defaults.bounds.saltBytes)),
        Setting(
            "hash_login.max_tag_bytes", \.hashLogin.maxTagBytes,
            .integer(defaults.bounds.tagBytes)),
    ]

    private static let floor = Syntax.duration(.zero ... .seconds(60))
    private static let fetchTimeout = Syntax.duration(.milliseconds(10) ... .seconds(60))
}

internal import Glibc

/// How many files and sockets the process may have open.
enum Descriptors {
    /// Raises the soft limit to the hard one: 1,024 is a limit from the days of `select`.
    /// - Returns: the limit in force.
    @discardableResult
    static func raiseLimit() -> UInt {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return UInt(limit.rlim_cur)
    }
}

internal import CPostgres

/// A connection parameter of libpq.
typealias PostgresParameter = (name: String, value: String)

/// One of the hosts of a URL.
struct PostgresHost: Equatable, Sendable {
    /// A name, an address, or the directory of a socket.
    let name: String
    let port: String
}

/// In which order the hosts of a URL are tried.
///
/// libpq uses the order of the URL. If the machine of a host is gone, every new connection would
/// wait for `connect_timeout` before the next host is tried.
enum PostgresHostOrder: Equatable, Sendable {
    /// As the URL has them.
    case ofURL
    /// First the host that accepted writes a moment ago, then those after it.
    case first(PostgresHost)
    /// The host that did not answer a moment ago comes last.
    case last(PostgresHost)

    private static let defaultPort = "5432"

    /// - Parameter options: of a URL, as libpq has parsed it.
    /// - Returns: the parameters that name hosts, in this order; empty for the order of the URL.
    func parameters(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [PostgresParameter] {
        let lists = ["host", "hostaddr", "port"].map { (name: $0, values: Self.list($0, options)) }
        let names = lists[0].values
        let ports = lists[2].values
        func index(of host: PostgresHost) -> Int? {
            names.indices.first { index in
                guard names[index] == host.name else { return false }
                guard ports.count == names.count else { return true }
                return (ports[index].isEmpty ? Self.defaultPort : ports[index]) == host.port
            }
        }
        let start: Int?
        switch self {
        case .ofURL: start = nil
        case .first(let host): start = index(of: host)
        case .last(let host): start = index(of: host).map { ($0 + 1) % names.count }
        }
        guard let start, start > 0 else { return [] }
        return lists.filter { $0.values.count == names.count }.map { name, values in
            (name, (values[start...] + values[..<start]).joined(separator: ","))
        }
    }

    private static func list(
        _ keyword: String, _ options: UnsafeMutablePointer<PQconninfoOption>
    ) -> [String] {
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == keyword {
                guard let value = option.pointee.val else { return [] }
                return String(cString: value).split(
                    separator: ",", omittingEmptySubsequences: false
                ).map(String.init)
            }
            option += 1
        }
        return []
    }
}

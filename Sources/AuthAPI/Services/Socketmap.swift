internal import AuthCore
internal import HTTPEngine

/// The look-ups of a mail server, by Postfix's socketmap protocol (socketmap_table(5)): requests
/// `<map> <key>` and replies `OK <data>`, `NOTFOUND `, `TEMP <reason>` or `PERM <reason>`, all of
/// them netstrings.
///
/// A key that cannot be in a map is answered "not found", because mail servers look up any text
/// that their clients send.
struct Socketmap: Sendable {
    /// Bytes of a request.
    static let requestBytes = 1_024
    /// Open connections: every process of a mail server has some.
    static let maxConnections = 1_000

    private enum Map: String, CaseIterable {
        case mailbox, domain, sender
    }

    private static let notFound = Array("NOTFOUND ".utf8)

    let services: MailServices

    var service: NetstringService {
        NetstringService(
            requestBytes: Self.requestBytes, maxConnections: Self.maxConnections,
            oversized: Self.notFound, failed: Self.temporary("internal error"), answer: reply)
    }

    /// - Throws: an error that is this server's fault.
    func reply(to request: [UInt8]) async throws -> [UInt8] {
        guard let space = request.firstIndex(of: 0x20) else {
            return Self.permanent("a request is a map, a space and a key")
        }
        guard
            let map = Map.allCases.first(where: {
                request[..<space].elementsEqual($0.rawValue.utf8)
            })
        else {
            let names = Map.allCases.map(\.rawValue).joined(separator: ", ")
            return Self.permanent("the maps are \(names)")
        }
        let key = request[(space + 1)...]
        // Parsing an address trims white space, which is right only for input of people.
        guard key.allSatisfy({ (0x21...0x7e).contains($0) }) else { return Self.notFound }
        do throws(ServicesError) {
            let data = try await look(up: String(decoding: key, as: UTF8.self), in: map)
            return data.map { Array("OK \($0)".utf8) } ?? Self.notFound
        } catch {
            switch error.common {
            case .busy: return Self.temporary("the database does not answer, try again later")
            case .failed(let cause): throw cause
            default: throw error
            }
        }
    }

    private func look(up key: String, in map: Map) async throws(ServicesError) -> String? {
        switch map {
        case .mailbox, .sender:
            return try await services.name(ofAddress: key)
        case .domain:
            guard let domain = Domain(parsing: key) else { return nil }
            return try await services.receivesMail(for: domain) ? "OK" : nil
        }
    }

    private static func temporary(_ reason: String) -> [UInt8] { Array("TEMP \(reason)".utf8) }

    private static func permanent(_ reason: String) -> [UInt8] { Array("PERM \(reason)".utf8) }
}

/// Where the JMAP mail store is: the URLs of the session object (RFC 8620 §2).
public struct JMAPDirectory: Sendable {
    /// Paths below the base, as RFC 6570 level 1 templates where the RFC has variables.
    /// The defaults are those of Cyrus IMAP.
    public struct Paths: Equatable, Sendable {
        public var api: String
        public var upload: String
        public var download: String
        public var eventSource: String

        public init(
            api: String = "/jmap/", upload: String = "/jmap/upload/{accountId}/",
            download: String = "/jmap/download/{accountId}/{blobId}/{name}?accept={type}",
            eventSource: String = "/jmap/eventsource/{types}/{closeafter}/{ping}"
        ) {
            self.api = api
            self.upload = upload
            self.download = download
            self.eventSource = eventSource
        }
    }

    /// The mail store's URL, or this server's own while there is none.
    let baseURL: String
    let paths: Paths
    /// Whether a mail store is configured.
    let hasMailStore: Bool

    /// - Parameters:
    ///   - mailStoreURL: without a slash at the end; `nil` while there is no mail store.
    ///   - publicURL: this server's own.
    public init(mailStoreURL: String?, publicURL: String, paths: Paths) {
        baseURL = mailStoreURL ?? publicURL
        self.paths = paths
        hasMailStore = mailStoreURL != nil
    }
}

/// The arguments of Email/set (RFC 8621 §4.6).
///
/// An id that begins with `#` names a creation of the same call.
public struct EmailSet: Sendable {
    public var ifInState: String?
    public var create: [(creationID: String, draft: EmailDraft)] = []
    public var update: [(id: String, patch: EmailPatch)] = []
    public var destroy: [String] = []

    public init() {}
}

/// A message to put into folders.
public struct EmailDraft: Sendable {
    public enum Source: Sendable {
        case bytes([UInt8])
        /// For Email/import (RFC 8621 §4.8).
        case blob(String)
    }

    public var source: Source
    public var folderIDs: [String]
    public var keywords: [String]
    /// `nil` for now.
    public var receivedAt: MailInstant?

    public init(
        _ source: Source, folderIDs: [String], keywords: [String] = [],
        receivedAt: MailInstant? = nil
    ) {
        self.source = source
        self.folderIDs = folderIDs
        self.keywords = keywords
        self.receivedAt = receivedAt
    }
}

/// `nil` leaves a property as it is.
public struct EmailPatch: Hashable, Sendable {
    public enum Members: Hashable, Sendable {
        case replace([String])
        /// `true` adds a member, `false` removes it (a patch to `keywords/$seen`).
        case patch([String: Bool])
    }

    public var folderIDs: Members?
    public var keywords: Members?

    public init(folderIDs: Members? = nil, keywords: Members? = nil) {
        self.folderIDs = folderIDs
        self.keywords = keywords
    }
}

public struct CreatedEmail: Hashable, Sendable {
    public let id: String
    public let blobID: String
    public let threadID: String
    public let size: Int
}

public enum EmailSetError: Error, Hashable, Sendable {
    /// The account was removed.
    case forbidden
    case notFound
    case willDestroy
    case invalidProperties([String])
    case blobNotFound(String)
    case tooManyKeywords
    /// More than the account's quota, or no memory left for mail.
    case overQuota
    /// More than this many bytes.
    case tooLarge(Int)

    /// The type of the SetError of RFC 8620 §5.3.
    public var type: String {
        switch self {
        case .forbidden: "forbidden"
        case .notFound: "notFound"
        case .willDestroy: "willDestroy"
        case .invalidProperties: "invalidProperties"
        case .blobNotFound: "blobNotFound"
        case .tooManyKeywords: "tooManyKeywords"
        case .overQuota: "overQuota"
        case .tooLarge: "tooLarge"
        }
    }
}

public enum UploadError: Error, Hashable, Sendable {
    /// More than this many bytes.
    case tooLarge(Int)
    /// No memory left for mail.
    case overQuota
}

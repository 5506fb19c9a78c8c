/// An Argon2 tag with everything except the password that is needed to compute it again, and its
/// encoded form: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`, the PHC string of the reference
/// implementation.
///
/// Reading is strict, so that a hash has one text: argon2id or argon2i, version 19, the three costs
/// in the order m, t, p as digits without leading zeros, no `keyid` and no `data`, salt and tag in
/// standard base64 without padding and without bits after the last byte.
public struct Argon2Hash: Equatable, Sendable {
    /// What one computation costs.
    public struct Cost: Equatable, Sendable {
        public var memoryKiB: Int
        public var iterations: Int
        public var parallelism: Int

        public init(memoryKiB: Int, iterations: Int, parallelism: Int) {
            self.memoryKiB = memoryKiB
            self.iterations = iterations
            self.parallelism = parallelism
        }
    }

    public let variant: Argon2.Variant
    public let cost: Cost
    public let salt: [UInt8]
    public let tag: [UInt8]

    /// Computes the tag of `password`. Slow, and uses `cost.memoryKiB` of memory.
    public init(
        password: [UInt8], variant: Argon2.Variant = .argon2id, cost: Cost, salt: [UInt8],
        tagBytes: Int = 32, kernel: Argon2.Kernel = .best
    ) throws(CryptographyError) {
        tag = try Argon2.hash(
            password: password, salt: salt, iterations: cost.iterations,
            memoryKiB: cost.memoryKiB, parallelism: cost.parallelism, outputBytes: tagBytes,
            variant: variant, kernel: kernel)
        self.variant = variant
        self.cost = cost
        self.salt = salt
    }

    /// Computes the tag again. Takes as long for a wrong password as for the right one.
    public func isTag(
        of password: [UInt8], kernel: Argon2.Kernel = .best
    ) throws(CryptographyError) -> Bool {
        let again = try Argon2Hash(
            password: password, variant: variant, cost: cost, salt: salt, tagBytes: tag.count,
            kernel: kernel)
        return ConstantTime.equal(again.tag, tag)
    }
}

extension Argon2Hash {
    /// The highest costs and the lengths that are accepted in a hash of another program.
    public struct Bounds: Equatable, Sendable {
        public var memoryKiB: Int
        public var iterations: Int
        public var parallelism: Int
        /// KiB times iterations. The computing time is proportional to it.
        public var memoryPasses: Int
        public var saltBytes: ClosedRange<Int>
        public var tagBytes: ClosedRange<Int>

        public init(
            memoryKiB: Int, iterations: Int, parallelism: Int, memoryPasses: Int = .max,
            saltBytes: ClosedRange<Int> = 8...64, tagBytes: ClosedRange<Int> = 16...64
        ) {
            self.memoryKiB = memoryKiB
            self.iterations = iterations
            self.parallelism = parallelism
            self.memoryPasses = memoryPasses
            self.saltBytes = saltBytes
            self.tagBytes = tagBytes
        }

        /// The bounds of ``Argon2`` itself, for hashes that this server computes.
        public static let computable = Bounds(
            memoryKiB: Argon2.memoryKiB.upperBound, iterations: Argon2.iterations.upperBound,
            parallelism: Argon2.parallelism.upperBound)
    }

    /// The longest text that can be a hash within any bounds. Longer texts are not read.
    public static let maximumBytes = 256

    /// Reads the encoded form; computes nothing.
    /// - Returns: `nil` when `text` is anything else, or its costs exceed `bounds`.
    public init?(encoded text: [UInt8], within bounds: Bounds) {
        guard text.count <= Self.maximumBytes else { return nil }
        let fields = text.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        guard fields.count == 6, fields[0].isEmpty, fields[2].elementsEqual("v=19".utf8),
            let variant = Argon2.Variant(name: fields[1]), let cost = Cost(encoded: fields[3]),
            cost.isWithin(bounds),
            let salt = Base64.decode(unpadded: fields[4]), bounds.saltBytes.contains(salt.count),
            let tag = Base64.decode(unpadded: fields[5]), bounds.tagBytes.contains(tag.count)
        else { return nil }
        self.variant = variant
        self.cost = cost
        self.salt = salt
        self.tag = tag
    }

    public var encoded: String {
        "$\(variant.name)$v=19$m=\(cost.memoryKiB),t=\(cost.iterations),p=\(cost.parallelism)"
            + "$\(Self.encodeBase64(salt))$\(Self.encodeBase64(tag))"
    }

    private static func encodeBase64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Argon2Hash.Cost {
    fileprivate init?(encoded text: ArraySlice<UInt8>) {
        let fields = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == 3, let memory = Self.number(fields[0], after: "m="),
            let iterations = Self.number(fields[1], after: "t="),
            let parallelism = Self.number(fields[2], after: "p=")
        else { return nil }
        self.init(memoryKiB: memory, iterations: iterations, parallelism: parallelism)
    }

    /// RFC 9106 §3.1: at least 8 KiB per lane.
    fileprivate func isWithin(_ bounds: Argon2Hash.Bounds) -> Bool {
        iterations <= bounds.iterations && parallelism <= bounds.parallelism
            && memoryKiB <= bounds.memoryKiB && memoryKiB >= 8 * parallelism
            // No overflow: each has at most nine digits.
            && memoryKiB * iterations <= bounds.memoryPasses
    }

    /// One to nine digits: no bound is above 999,999,999.
    private static func number(_ text: ArraySlice<UInt8>, after name: StaticString) -> Int? {
        let name = Array("\(name)".utf8)
        let digits = text.dropFirst(name.count)
        guard text.starts(with: name), (1...9).contains(digits.count),
            digits.first != UInt8(ascii: "0")
        else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}

extension Argon2.Variant {
    fileprivate init?(name: ArraySlice<UInt8>) {
        if name.elementsEqual("argon2id".utf8) {
            self = .argon2id
        } else if name.elementsEqual("argon2i".utf8) {
            self = .argon2i
        } else {
            return nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .argon2i: "argon2i"
        case .argon2id: "argon2id"
        }
    }
}

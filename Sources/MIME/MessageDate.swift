internal import CGMime

/// An instant, and the offset of the zone in which it was written.
public struct MessageDate: Hashable, Sendable {
    /// Since 1970 UTC.
    public let seconds: Int64
    public let offsetMinutes: Int

    /// - Returns: `nil` outside the years 1900 to 9999 (RFC 5322 §3.3), and for an offset of a day
    ///   or more: such a date cannot be written as RFC 3339 requires.
    public init?(seconds: Int64, offsetMinutes: Int = 0) {
        // From 1900-01-02 to 9999-12-30, so that it is within the years in every zone.
        guard (-2_208_902_400...253_402_214_399).contains(seconds),
            abs(offsetMinutes) < 1_440
        else { return nil }
        self.seconds = seconds
        self.offsetMinutes = offsetMinutes
    }

    init?(parsing value: UnsafePointer<CChar>) {
        var seconds: Int64 = 0
        var offset: Int32 = 0
        guard postern_gmime_parse_date(value, &seconds, &offset) else { return nil }
        self.init(seconds: seconds, offsetMinutes: Int(offset) / 60)
    }

    /// As RFC 3339 writes it, with the original offset.
    public func rfc3339() throws(MIMEError) -> String {
        try formatted("%Y-%m-%dT%H:%M:%S%:z")
    }

    /// As RFC 5322 §3.3 writes it.
    func rfc5322() throws(MIMEError) -> String {
        // The names are not GLib's, which depend on the locale.
        guard let month = Int(try formatted("%m")), Self.months.indices.contains(month - 1),
            let weekday = Int(try formatted("%u")), Self.days.indices.contains(weekday - 1)
        else { throw .invalidValue("Date") }
        let day = try formatted("%d")
        let rest = try formatted("%Y %H:%M:%S %z")
        return "\(Self.days[weekday - 1]), \(day) \(Self.months[month - 1]) \(rest)"
    }

    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private func formatted(_ format: String) throws(MIMEError) -> String {
        try MIMELibrary.load()
        let text = taken(postern_gmime_format_date(seconds, Int32(offsetMinutes * 60), format))
        guard let text else { throw .invalidValue("Date") }
        return text
    }
}

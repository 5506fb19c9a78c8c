public import Scheduling

/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// The samples of a metric follow its ``begin(_:_:_:)``. Names, help texts and the names of labels
/// are the program's own and are written as they are; the values of labels are escaped.
public struct MetricsText: Sendable {
    public enum Kind: String, Sendable {
        case counter, gauge, histogram, summary
    }

    public typealias Labels = [(name: String, value: String)]

    private(set) var bytes: [UInt8] = []
    private var name = ""

    /// Begins a metric.
    public mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
    }

    public mutating func sample(_ labels: Labels, _ value: Int) {
        line("", labels, String(value))
    }

    public mutating func sample(_ labels: Labels, _ value: Double) {
        line("", labels, Self.text(value))
    }

    /// The samples of a histogram. Nanoseconds are written as seconds.
    public mutating func sample(_ labels: Labels, _ histogram: Histogram) {
        var count = 0
        for (bound, own) in zip(histogram.bounds, histogram.counts) {
            count += own
            let limit = Self.value(bound, histogram.unit)
            line("_bucket", labels + [("le", limit)], String(count))
        }
        line("_bucket", labels + [("le", "+Inf")], String(histogram.count))
        total(labels, Self.value(histogram.sum, histogram.unit), histogram.count)
    }

    /// The samples of a summary without quantiles.
    public mutating func sample(_ labels: Labels, nanoseconds: Int, count: Int) {
        total(labels, Self.value(nanoseconds, .nanoseconds), count)
    }

    /// A metric that is one number.
    public mutating func counter(_ name: String, _ help: String, _ value: Int) {
        begin(name, .counter, help)
        sample([], value)
    }

    /// A metric that is one number.
    public mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        begin(name, .gauge, help)
        sample([], value)
    }

    /// A metric that is one number.
    public mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        begin(name, .gauge, help)
        sample([], value)
    }

    private mutating func total(_ labels: Labels, _ sum: String, _ count: Int) {
        line("_sum", labels, sum)
        line("_count", labels, String(count))
    }

    private mutating func line(_ suffix: String, _ labels: Labels, _ value: String) {
        append(name)
        append(suffix)
        var separator = "{"
        for label in labels {
            append(separator)
            append(label.name)
            append("=\"")
            escape(label.value)
            append("\"")
            separator = ","
        }
        append(labels.isEmpty ? " " : "} ")
        append(value)
        append("\n")
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\n"): append("\\n")
            default: bytes.append(byte)
            }
        }
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    private static func value(_ number: Int, _ unit: Histogram.Unit) -> String {
        switch unit {
        case .nanoseconds: text(Double(number) / 1e9)
        case .items: String(number)
        }
    }

    private static func text(_ value: Double) -> String {
        // As `1` and not `1.0`, as Prometheus writes it.
        Int(exactly: value).map { String($0) } ?? value.description
    }
}

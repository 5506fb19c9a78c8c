/// Writes the members of one JSON object, in the order in which it is called.
///
/// Whatever it is given, what comes out is JSON that `JSONValue.parse` reads, as long as no name is
/// written twice (not checked: names are the program's own). There is no overload for `Double`, so
/// a number that is not finite cannot be asked for.
public struct JSONWriter {
    var output = JSONOutput()

    /// The JSON text of an object. `capacity` is a guess at its bytes.
    public static func object(
        capacity: Int = 512, _ fill: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.output.bytes.reserveCapacity(capacity)
        writer.braces(fill)
        return writer.output.bytes
    }

    public mutating func member(_ name: String, _ value: String) {
        output.name(name)
        output.string(value)
    }

    /// Writes `null` where there is no value.
    public mutating func member(_ name: String, _ value: String?) {
        output.name(name)
        if let value { output.string(value) } else { output.literal("null") }
    }

    public mutating func member(_ name: String, _ value: Int) {
        member(name, Int64(value))
    }

    public mutating func member(_ name: String, _ value: Int64) {
        output.name(name)
        output.integer(value)
    }

    public mutating func member(_ name: String, _ value: Bool) {
        output.name(name)
        output.bool(value)
    }

    public mutating func member(_ name: String, _ values: [String]) {
        array(name) { for value in values { $0.element(value) } }
    }

    /// A member whose value is an object.
    public mutating func member(_ name: String, _ fill: (inout JSONWriter) -> Void) {
        output.name(name)
        braces(fill)
    }

    /// A member whose value is an array.
    public mutating func array(_ name: String, _ fill: (inout JSONArrayWriter) -> Void) {
        output.name(name)
        var elements = JSONArrayWriter()
        swap(&elements.output, &output)
        elements.brackets(fill)
        swap(&elements.output, &output)
    }

    public mutating func null(_ name: String) {
        output.name(name)
        output.literal("null")
    }

    mutating func braces(_ fill: (inout JSONWriter) -> Void) {
        output.open(UInt8(ascii: "{"))
        fill(&self)
        output.close(UInt8(ascii: "}"))
    }
}

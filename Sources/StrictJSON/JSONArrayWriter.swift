/// Writes the elements of one JSON array, in the order in which it is called.
public struct JSONArrayWriter {
    var output = JSONOutput()

    public mutating func element(_ value: String) {
        output.separate()
        output.string(value)
    }

    public mutating func element(_ value: Int) {
        output.separate()
        output.integer(Int64(value))
    }

    /// An element that is an object.
    public mutating func element(_ fill: (inout JSONWriter) -> Void) {
        output.separate()
        var members = JSONWriter()
        swap(&members.output, &output)
        members.braces(fill)
        swap(&members.output, &output)
    }

    mutating func brackets(_ fill: (inout JSONArrayWriter) -> Void) {
        output.open(UInt8(ascii: "["))
        fill(&self)
        output.close(UInt8(ascii: "]"))
    }
}

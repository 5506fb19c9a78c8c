/// The Bcc field, which nobody may see in a message that is sent (RFC 8621 §7.5).
enum BlindCopy {
    static func removed(from message: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        var start = 0
        var isHidden = false
        var hasHidden = false
        while start < message.count {
            let end = message[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? message.count
            let line = message[start..<end]
            if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) { break }
            // Lines that begin with white space continue the field (RFC 5322 §2.2.3).
            if line.first != 0x20, line.first != 0x09 { isHidden = isBcc(line) }
            if isHidden { hasHidden = true } else { kept += line }
            start = end
        }
        return hasHidden ? kept + message[start...] : message
    }

    private static func isBcc(_ line: ArraySlice<UInt8>) -> Bool {
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var end = name.endIndex
        while end > name.startIndex, name[end - 1] == 0x20 || name[end - 1] == 0x09 { end -= 1 }
        return name[..<end].elementsEqual("bcc".utf8) { $0 | 0x20 == $1 }
    }
}

package import CEmbeddedFiles

extension EmbeddedFile {
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: end - start)) }
}

extension Array {
    /// - Returns: the first index whose element, and all after it, are `isAfter`.
    func partitionIndex(_ isAfter: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

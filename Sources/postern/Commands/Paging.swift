/// Does `body` for every item of a list that a store gives a page at a time, so that a long list is
/// never in memory as a whole.
/// - Parameters:
///   - key: what the list goes by.
///   - page: the items after a key, from the first when it is `nil`, and at most so many.
func forEach<Item, Key>(
    by key: (Item) -> Key, in page: (Key?, Int) async throws -> [Item],
    _ body: (Item) throws -> Void
) async throws {
    let size = 500
    var last: Key?
    while true {
        let items = try await page(last, size)
        for item in items { try body(item) }
        last = items.last.map(key)
        if items.count < size { return }
    }
}

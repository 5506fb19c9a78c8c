/// Gives way to other tasks until `condition` holds.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

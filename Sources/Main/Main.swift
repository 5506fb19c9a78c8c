// Main: the executable `postern`.
//
// Owns the entry point. Never does anything else: the program is a module, so that PosternTesting
// can run a server as well.

internal import postern

@main
struct Main {
    static func main() async {
        await Program.run()
    }
}

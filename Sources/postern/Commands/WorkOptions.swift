internal import ArgumentParser
internal import Glibc

/// How much of the machine a proof of work may use.
struct WorkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Threads for the proof of work, 16 MiB each (default: one per core).", valueName: "n"))
    var threads: Int?

    var count: Int { threads ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    func validate() throws {
        guard (1...256).contains(count) else {
            throw ValidationError("--threads must be from 1 to 256.")
        }
    }
}

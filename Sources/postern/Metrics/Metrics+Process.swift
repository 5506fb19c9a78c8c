internal import AuthAPI
internal import AuthCore
internal import Platform

extension Metrics {
    /// The build, and what the kernel knows about this process, with the names of Prometheus.
    /// - Parameters:
    ///   - storage: `sqlite` or `postgresql`.
    ///   - scrypt: the instructions that compute scrypt.
    ///   - argon2: those that compute Argon2.
    nonisolated func addProcess(storage: String, scrypt: String, argon2: String) {
        let started = Double(SystemClock.now().milliseconds) / 1000
        add { text in
            text.begin("postern_build_info", .gauge, "The program; always 1.")
            text.sample(
                [
                    ("version", Process.version), ("storage", storage), ("scrypt", scrypt),
                    ("argon2", argon2),
                ], 1)
            text.gauge(
                "process_start_time_seconds", "When the process started, since 1970.", started)
            text.begin(
                "process_cpu_seconds_total", .counter, "CPU time of the process and the kernel.")
            text.sample([], Process.cpuSeconds)
            if let memory = Process.memory {
                text.gauge(
                    "process_resident_memory_bytes", "Memory that is in RAM.",
                    memory.residentBytes)
                text.gauge(
                    "process_virtual_memory_bytes", "Address space.", memory.virtualBytes)
            }
            if let descriptors = Process.openDescriptors {
                text.gauge("process_open_fds", "File descriptors that are open.", descriptors)
            }
            text.gauge(
                "process_max_fds", "File descriptors that may be open.",
                Process.descriptorLimit)
        }
    }
}

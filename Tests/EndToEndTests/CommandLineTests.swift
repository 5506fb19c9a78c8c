internal import Testing

/// The command line of the built program, without a server.
@ProgramQueue
struct CommandLineTests {
    private func run(
        _ arguments: [String], in directory: TestDirectory, variables: [String: String] = [:]
    ) throws -> (end: Program.End, output: String, errors: String) {
        let program = try Program(arguments, in: directory, variables: variables)
        let end = try program.awaitEnd()
        return (end, program.standardOutput, program.log)
    }

    @Test(arguments: [
        ["nosuch"], ["nosuch", "--help"], ["account", "nosuch", "--help"], ["help", "nosuch"],
    ])
    func anUnknownSubcommandIsAUsageError(arguments: [String]) throws {
        let (end, output, errors) = try run(arguments, in: try TestDirectory())
        #expect(end == .exited(64))
        #expect(output == "")
        #expect(errors.contains("nosuch"))
    }

    @Test(arguments: [
        ["--help"], ["account", "--help"], ["account", "add", "--help"], ["help", "account"], [],
    ])
    func theHelpOfASubcommandIsNoError(arguments: [String]) throws {
        let (end, output, errors) = try run(arguments, in: try TestDirectory())
        #expect(end == .exited(0))
        #expect(output.contains("postern"))
        #expect(errors == "")
    }

    /// Such a database would end with the command, so the command must not report success.
    @Test(arguments: [
        ["user", "add", "ada@example.test", "--password-stdin"],
        ["account", "add", "ada@mail.test", "--password-stdin"],
        ["domain", "add", "example.test"], ["account", "list"],
    ])
    func aCommandOnADatabaseInMemoryNamesTheAlternative(arguments: [String]) throws {
        let (end, output, errors) = try run(
            arguments + ["--profile", "test"], in: try TestDirectory())
        #expect(end == .exited(78))
        #expect(output == "")
        #expect(errors.contains("ends with it") && errors.contains("--data"))
    }

    @Test func variablesThatKubernetesInjectsDoNotStopTheStart() throws {
        let program = try Program.serve(
            in: try TestDirectory(),
            variables: [
                "POSTERN_PORT": "tcp://10.0.0.7:8080", "POSTERN_PORT_8080_TCP_ADDR": "10.0.0.7",
                "POSTERN_SERVICE_HOST": "10.0.0.7", "POSTERN_SERVICE_PORT": "8080",
            ])
        #expect(try program.stop() == .exited(0))
    }
}

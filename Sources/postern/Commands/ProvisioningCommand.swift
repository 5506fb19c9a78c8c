internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform

/// `postern provisioning`: manages account events that their receiver has not accepted.
struct ProvisioningCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provisioning",
        abstract: "Show, repeat or skip account events that their receiver has not accepted.",
        discussion: """
            A server sends the changes of accounts to provisioning.url. It repeats an event that \
            is not accepted, after longer and longer times. Later events of the same address wait \
            for it.

            Examples:
              postern provisioning status
              postern provisioning retry
              postern provisioning skip 1234
            """,
        subcommands: [Status.self, Retry.self, Skip.self])

    /// The number of failing events that are shown, or changed in one statement.
    private static let page = 1000

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show how many events are waiting, and those that were tried.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, config in
                if config.provisioning.url == nil {
                    Output.message("provisioning.url is not set: no event is sent")
                }
                let last = try await stores.accountFeed.lastAccountEvent()
                let status = try await stores.deliveries.deliveryStatus(limit: page)
                let isMore = status.waiting == DeliveryStatus.countLimit
                try Output.deliver(
                    "\(last) events, \(status.waiting)\(isMore ? " or more" : "") not accepted")
                for pending in status.failing {
                    let event = pending.event
                    let attempts = "\(pending.attempts) attempt\(pending.attempts == 1 ? "" : "s")"
                    try Output.deliver(
                        "\(event.number)  \(event.kind.rawValue)  \(event.address)  \(attempts)"
                            + "  next \(pending.due.rfc3339)")
                }
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Send events that were not accepted again now, without waiting longer.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, _ in
                var count = 0
                while true {
                    let failing = try await stores.deliveries.deliveryStatus(limit: page).failing
                    for pending in failing {
                        try await stores.deliveries.postpone(
                            pending.event.number, until: Instant(seconds: 0))
                    }
                    count += failing.count
                    guard failing.count == page else { break }
                }
                Output.print("\(count) event\(count == 1 ? " is" : "s are") sent again")
            }
        }
    }

    struct Skip: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "skip",
            abstract: "Treat an event as accepted, so that later ones of its address are sent.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The number of the event.") var number: Int64

        func run() async throws {
            try await options.withStore { stores, _ in
                guard
                    try await stores.deliveries.noteAccepted(number, at: SystemClock.now())
                else {
                    Output.message("event \(number) is not waiting for its receiver")
                    throw ExitCode.failure
                }
                Output.print("skipped event \(number)")
            }
        }
    }
}

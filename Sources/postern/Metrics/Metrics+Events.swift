internal import AuthAPI
internal import AuthCore
internal import Scheduling

/// The events that are logged, by their kind.
struct EventCounts: Sendable {
    let credential = Counters<AuditEvent.Kind>()
    /// Those that were folded are counted when they are logged.
    let security = Counters<SecurityEvent.Kind>()
}

extension Metrics {
    nonisolated func add(_ events: EventCounts) {
        add { text in
            text.begin(
                "postern_credential_events_total", .counter, "Credential events, as logged.")
            for kind in AuditEvent.Kind.allCases {
                text.sample([("kind", kind.rawValue)], events.credential.value(kind))
            }
            text.begin("postern_security_events_total", .counter, "Security events, as logged.")
            for kind in SecurityEvent.Kind.allCases {
                text.sample([("kind", kind.rawValue)], events.security.value(kind))
            }
        }
    }

    nonisolated func add(_ logins: Counters<LoginResult>) {
        add { text in
            text.begin(
                "postern_logins_total", .counter,
                "Passwords and API keys that were to be checked.")
            for result in LoginResult.allCases {
                text.sample(
                    [("kind", result.kind.rawValue), ("result", result.end.rawValue)],
                    logins.value(result))
            }
        }
    }

    nonisolated func add(_ limiter: RateLimiter) {
        add { text in
            text.begin(
                "postern_rate_limited_total", .counter, "Requests beyond a rate, by its class.")
            for limit in RateLimiter.Class.allCases {
                text.sample([("class", limit.rawValue)], limiter.rejections(of: limit))
            }
        }
    }

    nonisolated func addProofs(_ kinds: [(name: String, events: Counters<ProofEvent>)]) {
        add { text in
            text.begin(
                "postern_proof_of_work_total", .counter, "What has happened to challenges.")
            for (name, events) in kinds {
                for event in ProofEvent.allCases {
                    text.sample(
                        [("kind", name), ("event", event.rawValue)], events.value(event))
                }
            }
        }
    }

    /// - Parameter lowest: ``Agents/lowestDifficulty(at:)`` of the present ones.
    nonisolated func addDifficulty(_ lowest: @escaping @Sendable () -> Int) {
        add { text in
            text.gauge(
                "postern_proof_of_work_difficulty",
                "The difficulty for an agent that has not asked for some time.", lowest())
        }
    }

    nonisolated func add(_ keys: KeyRing) {
        add { text in
            text.begin(
                "postern_signing_key_created_timestamp_seconds", .gauge,
                "When the newest signing key was made, since 1970.")
            let creations = keys.creations()
            for use in KeyUse.allCases {
                guard let created = creations[use] else { continue }
                text.sample([("use", use.rawValue)], Double(created.milliseconds) / 1000)
            }
        }
    }

    nonisolated func addFetches(
        _ purposes: [(name: String, results: Counters<FetchResult>)]
    ) {
        add { text in
            text.begin(
                "postern_fetches_total", .counter, "Hashes that were to be fetched from a URL.")
            for (name, results) in purposes {
                for result in FetchResult.allCases {
                    text.sample(
                        [("purpose", name), ("result", result.rawValue)], results.value(result))
                }
            }
        }
    }
}

/// How the fetch of a hash ended.
enum FetchResult: String, CaseIterable, Sendable {
    case fetched
    /// The host did not serve it in time, or broke a rule.
    case failed
    /// The rules forbid connecting to the host's address.
    case forbidden
    /// Too many were waiting. Nothing was fetched.
    case busy
}

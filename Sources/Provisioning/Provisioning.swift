// Provisioning: account events, on their way to the operator's programs.
//
// Owns the delivery of events (signatures, retries, pauses while the receiver is down) and reading
// the feed by number. Never changes an account, and never loses an event that was not accepted.

// Scheduling: Dispatch for Swift concurrency, and the calendar.
//
// Owns: the executor that ties an actor to a serial queue, the bounded pools on which slow work
// runs, limits by key, deadlines, dates in UTC, and the numbers that metrics are made of. Never
// knows what the work is, never reads the wall clock, and never blocks a caller.

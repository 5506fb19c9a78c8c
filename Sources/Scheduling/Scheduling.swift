// Scheduling: how Dispatch meets Swift concurrency.
//
// Owns: the executor that ties an actor to a serial queue, and the bounded pools on which slow
// work runs. Never knows what the work is, and never blocks a caller.

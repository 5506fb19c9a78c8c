/// A connection for its loop, of any protocol. Confined to the loop: every method that does
/// something takes the loop as its isolation.
///
/// When it closes, it calls ``Loop/forget(_:)``, once, and then closes its descriptor.
protocol LoopConnection: AnyObject {
    /// Identifies it on its loop, until it closes.
    var descriptor: Int32 { get }
    /// What it has not finished, in a few words for the log; nil where every request was answered.
    /// Never what a client has sent.
    var pendingWork: String? { get }
    /// From now on it gets another one of these services, by its listener.
    func serve(_ services: [Listener.Service])
    /// Begins to serve.
    func open(on loop: isolated Loop)
    /// Handles events of epoll.
    func ready(_ events: UInt32, on loop: isolated Loop)
    /// Goes on with what has arrived, after ``Loop/resume(_:)``.
    func resume(on loop: isolated Loop)
    /// Checks the deadlines, and gives back empty buffers: most connections are idle for long.
    func tick(on loop: isolated Loop)
    /// The server stops: closes as soon as the requests that have arrived are answered.
    func drain(on loop: isolated Loop)
    /// Closes at once.
    func abort(on loop: isolated Loop)
    /// Releases its place among the counted connections. Called by ``Loop/forget(_:)``.
    func release(on loop: isolated Loop)
}

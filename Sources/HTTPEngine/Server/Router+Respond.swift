extension Router {
    /// The response of a handler. If the handler threw, the cause is reported, and the response is
    /// that of the error, or the 500 of its API.
    func response(
        to exchange: Exchange, _ result: Result<Response, any Error>, on loop: isolated Loop
    ) -> Response {
        switch result {
        case .success(let response): return response
        case .failure(is CancellationError)
        where loop.isStopping && exchange.route?.route.isLongPoll == true:
            // It has not got as far as to wait.
            let retryAfter = loop.context.configuration.retryAfter
            return render(
                .overloaded(retryAfter: retryAfter), of: exchange.route, exchange.context)
        case .failure(let error):
            let fault = error as? AnsweredFault
            loop.report(fault?.cause ?? error, of: exchange)
            return fault?.response ?? render(.internalError, of: exchange.route, exchange.context)
        }
    }

    /// Writes the response. One with an invalid header becomes the 500 of its API, or else an empty
    /// 500.
    /// - Returns: the status and the bytes that are written.
    func write(
        _ response: Response, _ frame: ResponseEncoder.Frame, of exchange: Exchange,
        to output: inout ConnectionOutput, on loop: isolated Loop
    ) -> (Status, Int) {
        do throws(InvalidHeader) {
            return (response.status, try output.write(response, frame))
        } catch {
            loop.report(error, of: exchange)
            let rendered = render(.internalError, of: exchange.route, exchange.context)
            let empty = Response(status: .internalServerError)
            // Without headers there is nothing that could be invalid.
            let bytes = (try? output.write(rendered, frame)) ?? (try? output.write(empty, frame))
            return (.internalServerError, bytes ?? 0)
        }
    }

    /// The status for the log where the client has closed the connection. Its handler was
    /// cancelled, which is not an error.
    func unsentStatus(
        of exchange: Exchange, _ result: Result<Response, any Error>, on loop: isolated Loop
    ) -> Status {
        if case .failure(let error) = result, error is CancellationError {
            return .clientClosedConnection
        }
        return response(to: exchange, result, on: loop).status
    }

    /// Answers a request without a socket, for tests of routes and handlers.
    ///
    /// Does what a connection does between the parser and the encoder: 404, 405 and 413 in that
    /// order, 500 for what a handler throws or for a header that is not valid, no body for HEAD.
    /// The headers that the engine adds to every response (`Date`, `Content-Length`…) are missing,
    /// and no hook is called.
    public func respond(to request: Request) async -> Response {
        let context = ErrorContext(id: request.requestID, head: request.head)
        var response: Response
        switch match(request.head, id: request.requestID) {
        case .response(let ready): response = ready
        case .route(let mounted, let parameters):
            let limit = mounted.route.bodyLimit ?? ServerConfiguration().bodyBytes
            if request.body.count > limit {
                response = render(.bodyTooLarge(limit: limit), of: mounted, context)
            } else {
                do {
                    let request = Request(
                        head: request.head, body: request.body, peer: request.peer,
                        requestID: request.requestID, parameters: parameters,
                        route: mounted.route.template)
                    response = try await mounted.run(request).get()
                    try ResponseEncoder.validate(response)
                } catch let fault as AnsweredFault {
                    response = fault.response
                } catch {
                    response = render(.internalError, of: mounted, context)
                }
            }
        }
        if request.method == .head { response.body = [] }
        return response
    }
}

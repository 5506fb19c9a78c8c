/// The reference on the home page: endpoints, fields, responses, the token and its public key.
struct HashLoginReference {
    let publicURL: String
    let publicKey: String
    let tokenLifetime: Duration

    var markup: HTMLText {
        """
        <section aria-labelledby="key">
        <h2 id="key">Public key</h2>
        <p>Tokens are signed with RS256 by this key. The same key as a set is at
        <a href="/.well-known/login-jwks.json">/.well-known/login-jwks.json</a>.</p>
        <pre tabindex="0">\(publicKey)</pre>
        </section>
        <section aria-labelledby="reference">
        <h2 id="reference">Reference</h2>
        <p>Send a form, or JSON with <code>Content-Type: application/json</code>. The response is
        JSON when the request was, or when <code>Accept</code> prefers
        <code>application/json</code>.
        Errors are <code>{"error":"…"}</code>.</p>
        \(endpoints)
        <h3>The hash</h3>
        <p>The URL must be <code>https</code> and answer 200 with exactly one encoded Argon2 string,
        without redirects. <a href="/example.txt">/example.txt</a> shows one, of the password
        <code>test123</code>. This command creates yours:</p>
        <pre tabindex="0">echo -n 'your password' | argon2 "$(openssl rand -hex 16)" -id -e</pre>
        \(claims)
        </section>
        """
    }

    private var endpoints: HTMLText {
        """
        <table>
        <thead><tr><th scope="col">Endpoint</th><th scope="col">Fields</th>
        <th scope="col">Response</th></tr></thead>
        <tbody>
        <tr><td><code>POST /register</code></td>
        <td>email, password_hash_url, password</td><td>201 email, password_hash_url</td></tr>
        <tr><td><code>POST /login</code></td>
        <td>email, password</td><td>200 token, token_type, email</td></tr>
        <tr><td><code>POST /validate</code></td>
        <td>token, or as bearer</td><td>200 valid, payload</td></tr>
        <tr><td><code>POST /logout</code>, <code>DELETE /logout</code></td>
        <td>bearer token, or email and password</td><td>200 success, email</td></tr>
        </tbody>
        </table>
        <pre tabindex="0">curl \(publicURL)/login \\
          -H 'Content-Type: application/json' \\
          -d '{"email":"user@example.com","password":"correct horse battery staple"}'</pre>
        """
    }

    private var claims: HTMLText {
        """
        <h3>The token</h3>
        <dl>
        <dt>sub, email</dt><dd>the email address</dd>
        <dt>email_verified</dt>
        <dd>false: the password fits a hash, and nobody has shown that the mailbox is theirs</dd>
        <dt>iss</dt><dd>this server's issuer</dd>
        <dt>iat, exp</dt>
        <dd>when it was issued, and when it expires, \(tokenLifetime.inWords) later</dd>
        <dt>ver</dt><dd>rises with every logout, which ends every earlier token</dd>
        </dl>
        """
    }
}

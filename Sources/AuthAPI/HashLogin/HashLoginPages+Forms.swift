internal import HTTPEngine

extension HashLoginPages {
    func form(
        _ form: Form, _ fields: HashLoginFields? = nil, _ error: HashLoginError? = nil
    ) -> HTMLText {
        switch form {
        case .registration:
            """
            <form method="post" action="/register" aria-labelledby="register">
            <h2 id="register">Register</h2>
            \(input("email", "Email", type: "email", completes: "email", fields, error, "register"))
            \(input("password_hash_url", "Password hash URL", type: "url", completes: "url", fields, error, "register"))
            \(input("password", "Password", type: "password", completes: "current-password", fields, error, "register"))
            <button type="submit">Register</button>
            </form>
            """
        case .login:
            """
            <form method="post" action="/login" aria-labelledby="login">
            <h2 id="login">Log in</h2>
            \(input("email", "Email", type: "email", completes: "username", fields, error, "login"))
            \(input("password", "Password", type: "password", completes: "current-password", fields, error, "login"))
            <button type="submit">Log in</button>
            </form>
            """
        }
    }

    /// A labelled field; its error is tied to it, and it takes the focus.
    private func input(
        _ name: String, _ label: String, type: String, completes: String,
        _ fields: HashLoginFields?, _ error: HashLoginError?, _ prefix: String
    ) -> HTMLText {
        let id = "\(prefix)-\(name)"
        let value = type == "password" ? "" : fields?[name] ?? ""
        guard let error, error.field == name else {
            return """
                <p><label for="\(id)">\(label)</label>
                <input id="\(id)" name="\(name)" type="\(type)" autocomplete="\(completes)" \
                value="\(value)" required></p>
                """
        }
        return """
            <p><label for="\(id)">\(label)</label>
            <input id="\(id)" name="\(name)" type="\(type)" autocomplete="\(completes)" \
            value="\(value)" required aria-invalid="true" aria-describedby="\(id)-error" autofocus>
            <span id="\(id)-error" class="error">\(error.sentence)</span></p>
            """
    }
}

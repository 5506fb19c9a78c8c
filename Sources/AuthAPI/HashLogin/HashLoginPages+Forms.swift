internal import HTTPEngine

extension HashLoginPages {
    /// - Parameter error: shown at its field when the form is shown again.
    func form(
        _ form: Form, _ fields: HashLoginFields? = nil, _ error: HashLoginErrorText? = nil
    ) -> HTMLText {
        switch form {
        case .registration:
            """
            <form method="post" action="/register" aria-label="Register">
            \(heading("Register", error))
            \(input(.email("register"), fields, error))
            \(input(.hashURL, fields, error))
            \(input(.password("register"), fields, error))
            <button type="submit">Register</button>
            </form>
            """
        case .login:
            """
            <form method="post" action="/login" aria-label="Log in">
            \(heading("Log in", error))
            \(input(.email("login"), fields, error))
            \(input(.password("login"), fields, error))
            <button type="submit">Log in</button>
            </form>
            """
        }
    }

    private func heading(_ title: String, _ error: HashLoginErrorText?) -> HTMLText {
        error == nil ? "<h2>\(title)</h2>" : ""
    }

    /// A field with its label. The field of an error gets the focus, and screen readers read the
    /// error at once (`role="alert"`) and with the field (`aria-describedby`).
    private func input(
        _ field: Field, _ fields: HashLoginFields?, _ error: HashLoginErrorText?
    ) -> HTMLText {
        let value = field.type == "password" ? "" : fields?[field.name] ?? ""
        let attributes: HTMLText = """
            id="\(field.id)" name="\(field.name)" type="\(field.type)" \
            autocomplete="\(field.completes)" value="\(value)" required
            """
        guard let error, error.field == field.name else {
            return """
                <p><label for="\(field.id)">\(field.label)</label>
                <input \(attributes)></p>
                """
        }
        return """
            <p><label for="\(field.id)">\(field.label)</label>
            <input \(attributes) aria-invalid="true" aria-describedby="\(field.id)-error" autofocus>
            <span id="\(field.id)-error" class="error" role="alert">\(error.sentence)</span></p>
            """
    }
}

/// A field of a form.
private struct Field {
    let form: String
    let name: String
    let label: String
    let type: String
    /// What a browser may fill in (HTML's `autocomplete`).
    let completes: String

    var id: String { "\(form)-\(name)" }

    static func email(_ form: String) -> Field {
        Field(form: form, name: "email", label: "Email", type: "email", completes: "username")
    }

    static func password(_ form: String) -> Field {
        Field(
            form: form, name: "password", label: "Password", type: "password",
            completes: "current-password")
    }

    static let hashURL = Field(
        form: "register", name: "password_hash_url", label: "Password hash URL", type: "url",
        completes: "url")
}

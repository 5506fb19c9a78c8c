internal import AuthCore

/// The identity providers in the dashboard. Links, because they lead to the pages of others.
enum ProviderMarkup {
    /// Empty without a provider.
    static func links(_ providers: [LoginProvider]) -> HTMLText {
        guard !providers.isEmpty else { return "" }
        let items = providers.map { provider -> String in
            let item: HTMLText = """
                <li><a class="button" href="/api/user/oauth/\(provider.name)">Log in with
                \(provider.label)</a></li>

                """
            return item.text
        }
        return "<ul class=\"or\">\n\(HTMLText(markup: items.joined()))</ul>\n"
    }

    static func linkButtons(_ providers: [LoginProvider]) -> HTMLText {
        HTMLText(
            markup: providers.map { provider in
                let button: HTMLText = """
                    <button type="button" class="second small" data-provider="\(provider.name)"
                    data-label="\(provider.label)">Link \(provider.label)</button>

                    """
                return button.text
            }.joined())
    }
}

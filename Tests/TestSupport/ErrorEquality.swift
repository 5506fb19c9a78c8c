public import AuthCore

// Tests compare errors as they print. The errors themselves cannot be Equatable: `failed` carries
// any error.

extension CommonError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

extension AgentError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

extension AccountsError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

extension HashLoginError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

extension ProofOfWorkError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

extension ServicesError: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        String(reflecting: left) == String(reflecting: right)
    }
}

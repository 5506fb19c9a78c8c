// Texts that the program carries, as bytes in its read-only data. As array literals in Swift, which
// SwiftPM's .embedInCode makes of them, they take the compiler half a minute.
#pragma once

struct __attribute__((swift_name("EmbeddedFile"), swift_attr("@Sendable")))
embedded_file {
    const unsigned char *start;
    const unsigned char *end;
};

// The list: FILE(name in Swift, path from the folder of this target). A folder in Files/ has the
// name of the folder in AuthAPI or AuthCore that uses it; migrations belong to AuthStorage.
#define EMBEDDED_FILES(FILE) \
    FILE(llms_txt, "Files/Discovery/llms.txt") \
    FILE(openapi_json, "Files/Discovery/openapi.json") \
    FILE(common_passwords_txt, "Files/Passwords/common-passwords.txt") \
    FILE(style_css, "Files/Web/style.css") \
    FILE(signup_html, "Files/Web/signup.html") \
    FILE(dashboard_html, "Files/Web/dashboard.html") \
    FILE(reset_password_html, "Files/Web/reset-password.html") \
    FILE(verify_email_html, "Files/Web/verify-email.html") \
    FILE(mail_html, "Files/Web/mail.html") \
    FILE(mail_view_html, "Files/Web/mail-view.html") \
    FILE(confirm_html, "Files/Web/confirm.html") \
    FILE(accounts_js, "Files/Web/accounts.js") \
    FILE(api_js, "Files/Web/api.js") \
    FILE(captured_js, "Files/Web/captured.js") \
    FILE(dashboard_js, "Files/Web/dashboard.js") \
    FILE(domains_js, "Files/Web/domains.js") \
    FILE(list_js, "Files/Web/list.js") \
    FILE(mail_js, "Files/Web/mail.js") \
    FILE(message_frame_js, "Files/Web/message-frame.js") \
    FILE(login_js, "Files/Web/login.js") \
    FILE(passkeys_js, "Files/Web/passkeys.js") \
    FILE(totp_js, "Files/Web/totp.js") \
    FILE(webauthn_js, "Files/Web/webauthn.js") \
    FILE(providers_js, "Files/Web/providers.js") \
    FILE(proof_worker_js, "Files/Web/proof-worker.js") \
    FILE(proof_js, "Files/Web/proof.js") \
    FILE(signup_js, "Files/Web/signup.js") \
    FILE(reset_password_js, "Files/Web/reset-password.js") \
    FILE(security_js, "Files/Web/security.js") \
    FILE(tokens_js, "Files/Web/tokens.js") \
    FILE(user_js, "Files/Web/user.js") \
    FILE(verify_email_js, "Files/Web/verify-email.js") \
    FILE(view_js, "Files/Web/view.js") \
    FILE(webhooks_js, "Files/Web/webhooks.js") \
    FILE(postgres_0001_sql, "../../migrations/postgres/0001_postgres.sql") \
    FILE(postgres_0002_sql, "../../migrations/postgres/0002_account_events.sql") \
    FILE(postgres_0003_sql, "../../migrations/postgres/0003_account_count.sql") \
    FILE(postgres_0004_sql, "../../migrations/postgres/0004_webhooks.sql") \
    FILE(postgres_0005_sql, "../../migrations/postgres/0005_sessions.sql") \
    FILE(postgres_0006_sql, "../../migrations/postgres/0006_factors.sql") \
    FILE(postgres_0007_sql, "../../migrations/postgres/0007_identities.sql") \
    FILE(postgres_0008_sql, "../../migrations/postgres/0008_email_links.sql") \
    FILE(sqlite_0001_sql, "../../migrations/sqlite/0001_accounts.sql") \
    FILE(sqlite_0002_sql, "../../migrations/sqlite/0002_users.sql") \
    FILE(sqlite_0003_sql, "../../migrations/sqlite/0003_hash_login.sql") \
    FILE(sqlite_0004_sql, "../../migrations/sqlite/0004_token_scopes.sql") \
    FILE(sqlite_0005_sql, "../../migrations/sqlite/0005_abuse.sql") \
    FILE(sqlite_0006_sql, "../../migrations/sqlite/0006_account_events.sql") \
    FILE(sqlite_0007_sql, "../../migrations/sqlite/0007_webhooks.sql") \
    FILE(sqlite_0008_sql, "../../migrations/sqlite/0008_sessions.sql") \
    FILE(sqlite_0009_sql, "../../migrations/sqlite/0009_factors.sql") \
    FILE(sqlite_0010_sql, "../../migrations/sqlite/0010_identities.sql") \
    FILE(sqlite_0011_sql, "../../migrations/sqlite/0011_email_links.sql")

// EmbeddedFile.name in Swift.
#define EMBEDDED_FILE(name, path)                     \
    extern const struct embedded_file embedded_##name \
        __attribute__((swift_name("EmbeddedFile." #name)));
EMBEDDED_FILES(EMBEDDED_FILE)
#undef EMBEDDED_FILE

// Texts that the program carries, as bytes in its read-only data. As array literals in Swift, which
// SwiftPM's .embedInCode makes of them, they take the compiler half a minute.
#pragma once
#include <stddef.h>

struct __attribute__((swift_name("EmbeddedFile"), swift_attr("@Sendable")))
embedded_file {
    const unsigned char *start;
    size_t count;
};

// EmbeddedFile.name in Swift.
#define EMBEDDED_FILE(name)                           \
    extern const struct embedded_file embedded_##name \
        __attribute__((swift_name("EmbeddedFile." #name)))

EMBEDDED_FILE(llms_txt);
EMBEDDED_FILE(openapi_json);
EMBEDDED_FILE(style_css);
EMBEDDED_FILE(signup_html);
EMBEDDED_FILE(dashboard_html);
EMBEDDED_FILE(accounts_js);
EMBEDDED_FILE(api_js);
EMBEDDED_FILE(dashboard_js);
EMBEDDED_FILE(domains_js);
EMBEDDED_FILE(list_js);
EMBEDDED_FILE(proof_worker_js);
EMBEDDED_FILE(proof_js);
EMBEDDED_FILE(signup_js);
EMBEDDED_FILE(tokens_js);
EMBEDDED_FILE(user_js);
EMBEDDED_FILE(view_js);
EMBEDDED_FILE(common_passwords_txt);
EMBEDDED_FILE(postgres_0001_sql);
EMBEDDED_FILE(postgres_0002_sql);
EMBEDDED_FILE(postgres_0003_sql);
EMBEDDED_FILE(sqlite_0001_sql);
EMBEDDED_FILE(sqlite_0002_sql);
EMBEDDED_FILE(sqlite_0003_sql);
EMBEDDED_FILE(sqlite_0004_sql);
EMBEDDED_FILE(sqlite_0005_sql);
EMBEDDED_FILE(sqlite_0006_sql);

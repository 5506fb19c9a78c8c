#include "CEmbeddedFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"  // #embed
#define FILE_OF(bytes) {bytes, sizeof bytes}

static const unsigned char llms_txt[] = {
#embed "../AuthAPI/Discovery/llms.txt"
};
const struct embedded_file embedded_llms_txt = FILE_OF(llms_txt);

static const unsigned char openapi_json[] = {
#embed "../AuthAPI/Discovery/openapi.json"
};
const struct embedded_file embedded_openapi_json = FILE_OF(openapi_json);

static const unsigned char style_css[] = {
#embed "../AuthAPI/HashLogin/style.css"
};
const struct embedded_file embedded_style_css = FILE_OF(style_css);

static const unsigned char signup_html[] = {
#embed "../AuthAPI/Web/signup.html"
};
const struct embedded_file embedded_signup_html = FILE_OF(signup_html);

static const unsigned char dashboard_html[] = {
#embed "../AuthAPI/Web/dashboard.html"
};
const struct embedded_file embedded_dashboard_html = FILE_OF(dashboard_html);

static const unsigned char accounts_js[] = {
#embed "../AuthAPI/Web/accounts.js"
};
const struct embedded_file embedded_accounts_js = FILE_OF(accounts_js);

static const unsigned char api_js[] = {
#embed "../AuthAPI/Web/api.js"
};
const struct embedded_file embedded_api_js = FILE_OF(api_js);

static const unsigned char dashboard_js[] = {
#embed "../AuthAPI/Web/dashboard.js"
};
const struct embedded_file embedded_dashboard_js = FILE_OF(dashboard_js);

static const unsigned char domains_js[] = {
#embed "../AuthAPI/Web/domains.js"
};
const struct embedded_file embedded_domains_js = FILE_OF(domains_js);

static const unsigned char list_js[] = {
#embed "../AuthAPI/Web/list.js"
};
const struct embedded_file embedded_list_js = FILE_OF(list_js);

static const unsigned char proof_worker_js[] = {
#embed "../AuthAPI/Web/proof-worker.js"
};
const struct embedded_file embedded_proof_worker_js = FILE_OF(proof_worker_js);

static const unsigned char proof_js[] = {
#embed "../AuthAPI/Web/proof.js"
};
const struct embedded_file embedded_proof_js = FILE_OF(proof_js);

static const unsigned char signup_js[] = {
#embed "../AuthAPI/Web/signup.js"
};
const struct embedded_file embedded_signup_js = FILE_OF(signup_js);

static const unsigned char tokens_js[] = {
#embed "../AuthAPI/Web/tokens.js"
};
const struct embedded_file embedded_tokens_js = FILE_OF(tokens_js);

static const unsigned char user_js[] = {
#embed "../AuthAPI/Web/user.js"
};
const struct embedded_file embedded_user_js = FILE_OF(user_js);

static const unsigned char view_js[] = {
#embed "../AuthAPI/Web/view.js"
};
const struct embedded_file embedded_view_js = FILE_OF(view_js);

static const unsigned char common_passwords_txt[] = {
#embed "../AuthCore/Passwords/common-passwords.txt"
};
const struct embedded_file embedded_common_passwords_txt = FILE_OF(common_passwords_txt);

static const unsigned char postgres_0001_sql[] = {
#embed "../../migrations/postgres/0001_postgres.sql"
};
const struct embedded_file embedded_postgres_0001_sql = FILE_OF(postgres_0001_sql);

static const unsigned char postgres_0002_sql[] = {
#embed "../../migrations/postgres/0002_account_events.sql"
};
const struct embedded_file embedded_postgres_0002_sql = FILE_OF(postgres_0002_sql);

static const unsigned char postgres_0003_sql[] = {
#embed "../../migrations/postgres/0003_account_count.sql"
};
const struct embedded_file embedded_postgres_0003_sql = FILE_OF(postgres_0003_sql);

static const unsigned char sqlite_0001_sql[] = {
#embed "../../migrations/sqlite/0001_accounts.sql"
};
const struct embedded_file embedded_sqlite_0001_sql = FILE_OF(sqlite_0001_sql);

static const unsigned char sqlite_0002_sql[] = {
#embed "../../migrations/sqlite/0002_users.sql"
};
const struct embedded_file embedded_sqlite_0002_sql = FILE_OF(sqlite_0002_sql);

static const unsigned char sqlite_0003_sql[] = {
#embed "../../migrations/sqlite/0003_hash_login.sql"
};
const struct embedded_file embedded_sqlite_0003_sql = FILE_OF(sqlite_0003_sql);

static const unsigned char sqlite_0004_sql[] = {
#embed "../../migrations/sqlite/0004_token_scopes.sql"
};
const struct embedded_file embedded_sqlite_0004_sql = FILE_OF(sqlite_0004_sql);

static const unsigned char sqlite_0005_sql[] = {
#embed "../../migrations/sqlite/0005_abuse.sql"
};
const struct embedded_file embedded_sqlite_0005_sql = FILE_OF(sqlite_0005_sql);

static const unsigned char sqlite_0006_sql[] = {
#embed "../../migrations/sqlite/0006_account_events.sql"
};
const struct embedded_file embedded_sqlite_0006_sql = FILE_OF(sqlite_0006_sql);

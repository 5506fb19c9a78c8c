#include "CGMime.h"
#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

// The declarations that are needed, because GMime's headers lie in folders that SwiftPM does not
// search for a target that it does not link. Tests/Interop/test_libraries.py compiles this file
// with GMime's own headers before it, so that a difference is an error.
typedef struct _GMimeParserOptions GMimeParserOptions;
typedef struct _GMimeFormatOptions GMimeFormatOptions;
typedef struct _GMimeReferences GMimeReferences;
typedef struct _GMimeContentType GMimeContentType;
typedef struct _GMimeContentDisposition GMimeContentDisposition;
typedef struct _GMimeEncoding GMimeEncoding;
typedef struct _InternetAddress InternetAddress;
typedef struct _InternetAddressMailbox InternetAddressMailbox;
typedef struct _InternetAddressGroup InternetAddressGroup;
typedef struct _InternetAddressList InternetAddressList;
typedef struct _GDateTime GDateTime;
typedef struct _GTimeZone GTimeZone;
typedef struct _GTypeInstance GTypeInstance;

void g_mime_init(void);
GMimeParserOptions *g_mime_parser_options_new(void);
void g_mime_parser_options_set_fallback_charsets(GMimeParserOptions *, const char **);
char *g_mime_utils_header_decode_text(GMimeParserOptions *, const char *);
char *g_mime_utils_header_encode_text(GMimeFormatOptions *, const char *, const char *);
GDateTime *g_mime_utils_header_decode_date(const char *);
GMimeReferences *g_mime_references_parse(GMimeParserOptions *, const char *);
int g_mime_references_length(GMimeReferences *);
const char *g_mime_references_get_message_id(GMimeReferences *, int);
void g_mime_references_free(GMimeReferences *);
GMimeContentType *g_mime_content_type_new(const char *, const char *);
GMimeContentType *g_mime_content_type_parse(GMimeParserOptions *, const char *);
const char *g_mime_content_type_get_media_type(GMimeContentType *);
const char *g_mime_content_type_get_media_subtype(GMimeContentType *);
const char *g_mime_content_type_get_parameter(GMimeContentType *, const char *);
void g_mime_content_type_set_parameter(GMimeContentType *, const char *, const char *);
char *g_mime_content_type_encode(GMimeContentType *, GMimeFormatOptions *);
GMimeContentDisposition *g_mime_content_disposition_new(void);
GMimeContentDisposition *g_mime_content_disposition_parse(GMimeParserOptions *, const char *);
const char *g_mime_content_disposition_get_disposition(GMimeContentDisposition *);
void g_mime_content_disposition_set_disposition(GMimeContentDisposition *, const char *);
const char *g_mime_content_disposition_get_parameter(GMimeContentDisposition *, const char *);
void g_mime_content_disposition_set_parameter(
    GMimeContentDisposition *, const char *, const char *);
char *g_mime_content_disposition_encode(GMimeContentDisposition *, GMimeFormatOptions *);
unsigned long internet_address_mailbox_get_type(void);
unsigned long internet_address_group_get_type(void);
const char *internet_address_get_name(InternetAddress *);
void internet_address_set_charset(InternetAddress *, const char *);
InternetAddress *internet_address_mailbox_new(const char *, const char *);
const char *internet_address_mailbox_get_addr(InternetAddressMailbox *);
InternetAddress *internet_address_group_new(const char *);
InternetAddressList *internet_address_group_get_members(InternetAddressGroup *);
InternetAddressList *internet_address_list_new(void);
InternetAddressList *internet_address_list_parse(GMimeParserOptions *, const char *);
int internet_address_list_length(InternetAddressList *);
int internet_address_list_add(InternetAddressList *, InternetAddress *);
InternetAddress *internet_address_list_get_address(InternetAddressList *, int);
char *internet_address_list_to_string(InternetAddressList *, GMimeFormatOptions *, int);
void g_mime_encoding_init_encode(GMimeEncoding *, unsigned);
void g_mime_encoding_init_decode(GMimeEncoding *, unsigned);
size_t g_mime_encoding_outlen(GMimeEncoding *, size_t);
size_t g_mime_encoding_flush(GMimeEncoding *, const char *, size_t, char *);
const char *g_mime_charset_iconv_name(const char *);
void g_free(void *);
void g_object_unref(void *);
int g_type_check_instance_is_a(GTypeInstance *, unsigned long);
long g_date_time_to_unix(GDateTime *);
long g_date_time_get_utc_offset(GDateTime *);
GDateTime *g_date_time_new_from_unix_utc(long);
GDateTime *g_date_time_to_timezone(GDateTime *, GTimeZone *);
char *g_date_time_format(GDateTime *, const char *);
void g_date_time_unref(GDateTime *);
GTimeZone *g_time_zone_new_offset(int);
void g_time_zone_unref(GTimeZone *);

#define FUNCTIONS(X) \
    X(g_mime_init) X(g_mime_parser_options_new) X(g_mime_parser_options_set_fallback_charsets) \
    X(g_mime_utils_header_decode_text) X(g_mime_utils_header_encode_text) \
    X(g_mime_utils_header_decode_date) X(g_mime_references_parse) X(g_mime_references_length) \
    X(g_mime_references_get_message_id) X(g_mime_references_free) X(g_mime_content_type_new) \
    X(g_mime_content_type_parse) X(g_mime_content_type_get_media_type) \
    X(g_mime_content_type_get_media_subtype) X(g_mime_content_type_get_parameter) \
    X(g_mime_content_type_set_parameter) X(g_mime_content_type_encode) \
    X(g_mime_content_disposition_new) X(g_mime_content_disposition_parse) \
    X(g_mime_content_disposition_get_disposition) X(g_mime_content_disposition_set_disposition) \
    X(g_mime_content_disposition_get_parameter) X(g_mime_content_disposition_set_parameter) \
    X(g_mime_content_disposition_encode) X(internet_address_mailbox_get_type) \
    X(internet_address_group_get_type) X(internet_address_get_name) \
    X(internet_address_set_charset) X(internet_address_mailbox_new) \
    X(internet_address_mailbox_get_addr) X(internet_address_group_new) \
    X(internet_address_group_get_members) X(internet_address_list_new) \
    X(internet_address_list_parse) X(internet_address_list_length) X(internet_address_list_add) \
    X(internet_address_list_get_address) X(internet_address_list_to_string) \
    X(g_mime_encoding_init_encode) X(g_mime_encoding_init_decode) X(g_mime_encoding_outlen) \
    X(g_mime_encoding_flush) X(g_mime_charset_iconv_name) X(g_free) X(g_object_unref) \
    X(g_type_check_instance_is_a) X(g_date_time_to_unix) X(g_date_time_get_utc_offset) \
    X(g_date_time_new_from_unix_utc) X(g_date_time_to_timezone) X(g_date_time_format) \
    X(g_date_time_unref) X(g_time_zone_new_offset) X(g_time_zone_unref)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} api;

// Only read after postern_gmime_load.
static GMimeParserOptions *options;

const char *postern_gmime_load(void) {
    // The name of GMime 3's interface since 2017. Never closed, because GLib's types stay
    // registered. dlsym also finds the functions of GLib, on which it depends.
    void *library = dlopen("libgmime-3.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define LOAD(name) \
    api.name = (__typeof__(api.name))dlsym(library, #name); \
    if (!api.name) return "libgmime-3.0.so.0 has no " #name;
    FUNCTIONS(LOAD)
    api.g_mime_init();
    options = api.g_mime_parser_options_new();
    // Otherwise the charset of the process's locale is tried.
    const char *charsets[] = {"utf-8", "windows-1252", "iso-8859-1", NULL};
    api.g_mime_parser_options_set_fallback_charsets(options, charsets);
    return NULL;
}

void postern_gmime_free(void *memory) { api.g_free(memory); }

char *postern_gmime_decode_text(const char *value) {
    return api.g_mime_utils_header_decode_text(options, value);
}

char *postern_gmime_encode_text(const char *text) {
    return api.g_mime_utils_header_encode_text(NULL, text, "utf-8");
}

bool postern_gmime_parse_date(const char *value, int64_t *seconds, int32_t *offset) {
    GDateTime *date = api.g_mime_utils_header_decode_date(value);
    if (!date) return false;
    *seconds = api.g_date_time_to_unix(date);
    // In microseconds.
    *offset = api.g_date_time_get_utc_offset(date) / 1000000;
    api.g_date_time_unref(date);
    return true;
}

char *postern_gmime_format_date(int64_t seconds, int32_t offset, const char *format) {
    GDateTime *date = api.g_date_time_new_from_unix_utc(seconds);
    if (!date) return NULL;
    GTimeZone *zone = api.g_time_zone_new_offset(offset);
    GDateTime *local = api.g_date_time_to_timezone(date, zone);
    char *text = local ? api.g_date_time_format(local, format) : NULL;
    if (local) api.g_date_time_unref(local);
    api.g_time_zone_unref(zone);
    api.g_date_time_unref(date);
    return text;
}

postern_ids *postern_gmime_parse_ids(const char *value) {
    return api.g_mime_references_parse(options, value);
}

int postern_gmime_count_ids(postern_ids *ids) { return api.g_mime_references_length(ids); }

const char *postern_gmime_id(postern_ids *ids, int index) {
    return api.g_mime_references_get_message_id(ids, index);
}

void postern_gmime_free_ids(postern_ids *ids) { api.g_mime_references_free(ids); }

postern_addresses *postern_gmime_parse_addresses(const char *value) {
    return api.internet_address_list_parse(options, value);
}

int postern_gmime_count_addresses(postern_addresses *list) {
    return api.internet_address_list_length(list);
}

const char *postern_gmime_address_name(postern_addresses *list, int index) {
    return api.internet_address_get_name(api.internet_address_list_get_address(list, index));
}

const char *postern_gmime_address_spec(postern_addresses *list, int index) {
    InternetAddress *address = api.internet_address_list_get_address(list, index);
    if (!api.g_type_check_instance_is_a(
            (GTypeInstance *)address, api.internet_address_mailbox_get_type()))
        return NULL;
    return api.internet_address_mailbox_get_addr((InternetAddressMailbox *)address);
}

postern_addresses *postern_gmime_group_members(postern_addresses *list, int index) {
    InternetAddress *address = api.internet_address_list_get_address(list, index);
    if (!api.g_type_check_instance_is_a(
            (GTypeInstance *)address, api.internet_address_group_get_type()))
        return NULL;
    return api.internet_address_group_get_members((InternetAddressGroup *)address);
}

void postern_gmime_free_addresses(postern_addresses *list) { api.g_object_unref(list); }

postern_addresses *postern_gmime_new_addresses(void) { return api.internet_address_list_new(); }

// Gives the address to the list.
static void add(InternetAddressList *list, InternetAddress *address) {
    // Otherwise the first of several charsets that has all characters.
    api.internet_address_set_charset(address, "utf-8");
    api.internet_address_list_add(list, address);
    api.g_object_unref(address);
}

void postern_gmime_add_mailbox(postern_addresses *list, const char *name, const char *spec) {
    add(list, api.internet_address_mailbox_new(name, spec));
}

postern_addresses *postern_gmime_add_group(postern_addresses *list, const char *name) {
    InternetAddress *group = api.internet_address_group_new(name);
    add(list, group);
    return api.internet_address_group_get_members((InternetAddressGroup *)group);
}

char *postern_gmime_encode_addresses(postern_addresses *list) {
    return api.internet_address_list_to_string(list, NULL, true);
}

postern_type *postern_gmime_parse_type(const char *value) {
    return api.g_mime_content_type_parse(options, value);
}

postern_type *postern_gmime_new_type(const char *type, const char *subtype) {
    return api.g_mime_content_type_new(type, subtype);
}

const char *postern_gmime_type(postern_type *type) {
    return api.g_mime_content_type_get_media_type(type);
}

const char *postern_gmime_subtype(postern_type *type) {
    return api.g_mime_content_type_get_media_subtype(type);
}

const char *postern_gmime_type_parameter(postern_type *type, const char *name) {
    return api.g_mime_content_type_get_parameter(type, name);
}

void postern_gmime_set_type_parameter(postern_type *type, const char *name, const char *value) {
    api.g_mime_content_type_set_parameter(type, name, value);
}

char *postern_gmime_encode_type(postern_type *type) {
    return api.g_mime_content_type_encode(type, NULL);
}

void postern_gmime_free_type(postern_type *type) { api.g_object_unref(type); }

postern_disposition *postern_gmime_parse_disposition(const char *value) {
    return api.g_mime_content_disposition_parse(options, value);
}

postern_disposition *postern_gmime_new_disposition(const char *name) {
    GMimeContentDisposition *disposition = api.g_mime_content_disposition_new();
    api.g_mime_content_disposition_set_disposition(disposition, name);
    return disposition;
}

const char *postern_gmime_disposition(postern_disposition *disposition) {
    return api.g_mime_content_disposition_get_disposition(disposition);
}

const char *postern_gmime_disposition_parameter(
    postern_disposition *disposition, const char *name) {
    return api.g_mime_content_disposition_get_parameter(disposition, name);
}

void postern_gmime_set_disposition_parameter(
    postern_disposition *disposition, const char *name, const char *value) {
    api.g_mime_content_disposition_set_parameter(disposition, name, value);
}

char *postern_gmime_encode_disposition(postern_disposition *disposition) {
    return api.g_mime_content_disposition_encode(disposition, NULL);
}

void postern_gmime_free_disposition(postern_disposition *disposition) {
    api.g_object_unref(disposition);
}

// The state of a coder, whose type GMime declares but whose fields are its own. It has 76 bytes.
typedef union {
    max_align_t alignment;
    uint8_t bytes[256];
} coder_state;
#ifdef __GMIME_H__
_Static_assert(sizeof(GMimeEncoding) <= sizeof(coder_state), "GMime's coder is larger");
#endif

uint8_t *postern_gmime_recode(
    postern_coding coding, bool encode, const uint8_t *bytes, size_t count, size_t *result_count) {
    coder_state state = {0};
    GMimeEncoding *coder = (GMimeEncoding *)&state;
    (encode ? api.g_mime_encoding_init_encode : api.g_mime_encoding_init_decode)(coder, coding);
    // Freed with g_free, which is free.
    uint8_t *result = malloc(api.g_mime_encoding_outlen(coder, count) + 1);
    if (!result) return NULL;
    *result_count = api.g_mime_encoding_flush(coder, (const char *)bytes, count, (char *)result);
    return result;
}

// Makes place for `more` bytes after `used`.
static bool reserve(uint8_t **buffer, size_t *size, size_t used, size_t more) {
    if (*size - used >= more) return true;
    size_t larger = *size * 2 + more;
    uint8_t *moved = realloc(*buffer, larger);
    if (!moved) return false;
    *buffer = moved;
    *size = larger;
    return true;
}

// Returns the number of bytes, or -1 without memory. `more` is set with the result for the rest.
static ssize_t convert(
    iconv_t converter, char *in, size_t left, uint8_t **buffer, bool *has_problem) {
    size_t size = left * 2 + 64, used = 0;
    if (!(*buffer = malloc(size))) return -1;
    while (true) {
        char *out = (char *)*buffer + used;
        size_t space = size - used;
        // Without input it writes what it still holds, and ends.
        bool ends = left == 0;
        size_t code = ends ? iconv(converter, NULL, NULL, &out, &space)
                           : iconv(converter, &in, &left, &out, &space);
        used = (size_t)((uint8_t *)out - *buffer);
        if (code != (size_t)-1) {
            if (ends) return (ssize_t)used;
        } else if (errno == E2BIG) {
            if (!reserve(buffer, &size, used, left * 2 + 64)) return -1;
        } else {
            // Not valid, or not complete at the end.
            *has_problem = true;
            if (!reserve(buffer, &size, used, 3)) return -1;
            memcpy(*buffer + used, "\xef\xbf\xbd", 3);
            used += 3;
            if (ends) return (ssize_t)used;
            in++, left--;
        }
    }
}

uint8_t *postern_gmime_to_utf8(
    const char *charset, const uint8_t *bytes, size_t count, size_t *result_count,
    bool *has_problem) {
    // iconv's options come after a slash. Its name for a charset may differ from MIME's.
    if (strchr(charset, '/')) return NULL;
    iconv_t converter = iconv_open("UTF-8", api.g_mime_charset_iconv_name(charset));
    if (converter == (iconv_t)-1) return NULL;
    uint8_t *buffer = NULL;
    *has_problem = false;
    ssize_t used = convert(converter, (char *)bytes, count, &buffer, has_problem);
    iconv_close(converter);
    if (used < 0) {
        free(buffer);
        return NULL;
    }
    *result_count = (size_t)used;
    return buffer;
}

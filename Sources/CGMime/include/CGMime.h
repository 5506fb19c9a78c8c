// GMime, the library of Internet messages, loaded when it is first used, so that a server that
// handles no messages has neither it nor GLib in its memory.
//
// Call postern_gmime_load before anything else, from one thread. After that every function may be
// called from any thread; an object is used by one thread at a time. Texts end with a NUL. Returned
// texts, unless const, are the caller's and freed with postern_gmime_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Loads GMime and initialises it. Returns NULL, or why that failed.
const char *postern_gmime_load(void);

void postern_gmime_free(void *memory);

// Header fields. The values are unfolded.

// Decodes encoded-words and undeclared 8-bit characters to UTF-8 (RFC 2047).
char *postern_gmime_decode_text(const char *value);
// Encodes what is not ASCII in UTF-8 text as encoded-words. Does not fold.
char *postern_gmime_encode_text(const char *text);

// A date of RFC 5322 as seconds since 1970 and the zone's offset from UTC in seconds.
bool postern_gmime_parse_date(const char *value, int64_t *seconds, int32_t *offset);
// An instant in the form of g_date_time_format(3), e.g. `%Y-%m-%dT%H:%M:%S%:z`. NULL for an instant
// outside the years 1 to 9999.
char *postern_gmime_format_date(int64_t seconds, int32_t offset, const char *format);

typedef struct _GMimeReferences postern_ids;
postern_ids *postern_gmime_parse_ids(const char *value);
int postern_gmime_count_ids(postern_ids *ids);
const char *postern_gmime_id(postern_ids *ids, int index);
void postern_gmime_free_ids(postern_ids *ids);

typedef struct _InternetAddressList postern_addresses;
postern_addresses *postern_gmime_parse_addresses(const char *value);
int postern_gmime_count_addresses(postern_addresses *list);
// The decoded display name; may be NULL.
const char *postern_gmime_address_name(postern_addresses *list, int index);
// The addr-spec; NULL for a group.
const char *postern_gmime_address_spec(postern_addresses *list, int index);
// The members of a group, which belong to `list`; NULL for a mailbox.
postern_addresses *postern_gmime_group_members(postern_addresses *list, int index);
void postern_gmime_free_addresses(postern_addresses *list);

postern_addresses *postern_gmime_new_addresses(void);
void postern_gmime_add_mailbox(postern_addresses *list, const char *name, const char *spec);
// Returns the members of the new group, which belong to `list`.
postern_addresses *postern_gmime_add_group(postern_addresses *list, const char *name);
// Encoded for a header field. Does not fold.
char *postern_gmime_encode_addresses(postern_addresses *list);

typedef struct _GMimeContentType postern_type;
postern_type *postern_gmime_parse_type(const char *value);
postern_type *postern_gmime_new_type(const char *type, const char *subtype);
const char *postern_gmime_type(postern_type *type);
const char *postern_gmime_subtype(postern_type *type);
// Decoded to UTF-8 (RFC 2231, RFC 2047); NULL without one.
const char *postern_gmime_type_parameter(postern_type *type, const char *name);
void postern_gmime_set_type_parameter(postern_type *type, const char *name, const char *value);
// Encoded and folded with LF.
char *postern_gmime_encode_type(postern_type *type);
void postern_gmime_free_type(postern_type *type);

typedef struct _GMimeContentDisposition postern_disposition;
postern_disposition *postern_gmime_parse_disposition(const char *value);
postern_disposition *postern_gmime_new_disposition(const char *name);
const char *postern_gmime_disposition(postern_disposition *disposition);
const char *postern_gmime_disposition_parameter(postern_disposition *disposition, const char *name);
void postern_gmime_set_disposition_parameter(
    postern_disposition *disposition, const char *name, const char *value);
char *postern_gmime_encode_disposition(postern_disposition *disposition);
void postern_gmime_free_disposition(postern_disposition *disposition);

// Content.

typedef enum {
    postern_base64 = 4,
    postern_quoted_printable = 5,
    postern_uuencode = 6,
} postern_coding;

// Decodes or encodes the whole of a part's content. Encoded text has lines that end with LF; so has
// text that is to be encoded as quoted-printable. Returns NULL without memory.
uint8_t *postern_gmime_recode(
    postern_coding coding, bool encode, const uint8_t *bytes, size_t count, size_t *result_count);

// Converts text of the named charset to UTF-8, with U+FFFD for what is not valid in it. Returns
// NULL if the C library does not know the charset.
uint8_t *postern_gmime_to_utf8(
    const char *charset, const uint8_t *bytes, size_t count, size_t *result_count,
    bool *has_problem);

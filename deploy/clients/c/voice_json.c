/* As much of JSON as the client reads and writes. */
#define _XOPEN_SOURCE 700
#include "voice_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Behind the string that begins here; NULL where it does not end. */
static const char *skip_string(const char *at) {
  for (at++; *at != '\0'; at++) {
    if (*at == '"') return at + 1;
    if (*at == '\\' && *++at == '\0') return NULL;
  }
  return NULL;
}

static const char *skip_value(const char *at) {
  int depth = 0;
  while (*at != '\0') {
    if (*at == '"') {
      at = skip_string(at);
      if (at == NULL) return NULL;
    } else {
      if (depth == 0 && strchr(",]}", *at) != NULL) return at;
      if (*at == '{' || *at == '[') depth++;
      if (*at == '}' || *at == ']') depth--;
      at++;
    }
    if (depth == 0 && strchr(",]} \t\r\n", *at) != NULL) return at;
  }
  return NULL;
}

const char *json_member(const char *json, const char *name) {
  const char *at = skip_space(json);
  size_t size = strlen(name);
  if (*at != '{') return NULL;
  do {
    at = skip_space(at + 1);
    if (*at != '"') return NULL;
    const char *key = at + 1;
    at = skip_string(at);
    if (at == NULL) return NULL;
    int found = (size_t)(at - 1 - key) == size && memcmp(key, name, size) == 0;
    at = skip_space(at);
    if (*at != ':') return NULL;
    at = skip_space(at + 1);
    const char *value = at;
    at = skip_value(at);
    if (at == NULL) return NULL;
    if (found) return value;
    at = skip_space(at);
  } while (*at == ',');
  return NULL;
}

static int hex(const char *at) {
  int value = 0;
  for (int n = 0; n < 4; n++) {
    static const char digits[] = "0123456789abcdef";
    const char *digit = at[n] == '\0' ? NULL : strchr(digits, at[n] | 0x20);
    if (digit == NULL) return -1;
    value = value * 16 + (int)(digit - digits);
  }
  return value;
}

static char *put_utf8(char *out, unsigned long code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xf0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3f));
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}

/* Reads what stands behind `\u`, both halves of a pair; half a pair as U+FFFD. NULL where it is wrong. */
static const char *take_code(const char *at, unsigned long *code) {
  int first = hex(at);
  if (first < 0) return NULL;
  *code = (unsigned long)first;
  if (first < 0xd800 || first > 0xdfff) return at + 4;
  int second = first < 0xdc00 && at[4] == '\\' && at[5] == 'u' ? hex(at + 6) : -1;
  if (second < 0xdc00 || second > 0xdfff) {
    *code = 0xfffd;
    return at + 4;
  }
  *code = 0x10000 + ((unsigned long)(first - 0xd800) << 10) + (unsigned long)(second - 0xdc00);
  return at + 10;
}

char *json_text(const char *value) {
  if (value == NULL || *value != '"') return NULL;
  const char *end = skip_string(value);
  /* Escapes are never shorter than what they stand for. */
  char *text = end == NULL ? NULL : malloc((size_t)(end - value));
  char *out = text;
  const char *at = value + 1;
  while (text != NULL && at < end - 1) {
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    const char *name = strchr(names, at[1]);
    unsigned long code = name == NULL ? (unsigned char)at[1] : (unsigned char)meant[name - names];
    const char *next = at[1] == 'u' ? take_code(at + 2, &code) : at + 2;
    if (next == NULL) {
      free(text);
      return NULL;
    }
    at = next;
    out = put_utf8(out, code);
  }
  if (text != NULL) *out = '\0';
  return text;
}

long long json_number(const char *value, long long otherwise) {
  if (value == NULL) return otherwise;
  char *end = NULL;
  long long number = strtoll(value, &end, 10);
  return end == value ? otherwise : number;
}

int json_true(const char *value) { return value != NULL && strncmp(value, "true", 4) == 0; }

int json_quote(const char *text, char *quoted, size_t size) {
  size_t used = 0;
  if (size < 3) return 0;
  quoted[used++] = '"';
  for (; *text != '\0'; text++) {
    unsigned char byte = (unsigned char)*text;
    if (used + 8 > size) return 0;
    if (byte < 0x20) used += (size_t)sprintf(quoted + used, "\\u%04x", byte);
    else {
      if (byte == '"' || byte == '\\') quoted[used++] = '\\';
      quoted[used++] = (char)byte;
    }
  }
  quoted[used++] = '"';
  quoted[used] = '\0';
  return 1;
}

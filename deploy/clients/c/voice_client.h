/* What the parts of the client share. */
#ifndef VOICE_CLIENT_H
#define VOICE_CLIENT_H

#include <stddef.h>

/* The service is heard of every few seconds; after so long without a byte the connection is dead. */
#define SILENCE_MS 75000
#define CONNECT_MS 10000

typedef enum {
  FINE,
  BROKEN,  /* The connection broke, or was not made; it is worth another try. */
  REFUSED, /* The service said no, and will again. */
  CLOSED   /* The service closed with 1000: all is said. */
} Outcome;

/* Keeps the sentence for people, and returns the outcome. */
Outcome fail(Outcome outcome, const char *format, ...);
Outcome fail_errno(Outcome outcome, const char *what);
const char *failure(void);

typedef struct {
  int descriptor;
  /* What came and was not taken yet lies from `at` to `end`. */
  unsigned char *bytes;
  size_t at, end, room;
  /* The message in hand; ends with 0. */
  char *message;
  size_t message_size;
} Socket;

/* The client's side of RFC 6455. The socket has to be dropped, however it ends. */
Outcome open_socket(Socket *socket, const char *host, const char *port, const char *path, const char *key);
void drop(Socket *socket);
int has_message(Socket *socket, int ms);
/* `*text` is the next JSON message, until the next call; NULL after a frame that was none. */
Outcome receive(Socket *socket, char **text);
Outcome send_text(Socket *socket, const char *text);
Outcome send_bytes(Socket *socket, const unsigned char *bytes, size_t size);

/* One POST on a connection of its own. */
Outcome post_json(const char *host, const char *port, const char *path, const char *key, const char *body);

/* The value of an object's own member; NULL where there is none, or no object. */
const char *json_member(const char *json, const char *name);
/* The text of a string, to be freed; NULL for everything else. */
char *json_text(const char *value);
long long json_number(const char *value, long long otherwise);
int json_true(const char *value);
/* Writes the text as a JSON string; 0 where it does not fit. */
int json_quote(const char *text, char *quoted, size_t size);

#endif

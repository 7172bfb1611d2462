/* TCP, the handshake and the frames of RFC 6455, and one plain POST. */
#define _XOPEN_SOURCE 700
#include "voice_client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_HEAD_BYTES 65536
#define MOST_MESSAGE_BYTES (4 * 1024 * 1024)

static char sentence[512];

Outcome fail(Outcome outcome, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vsnprintf(sentence, sizeof sentence, format, rest);
  va_end(rest);
  return outcome;
}

Outcome fail_errno(Outcome outcome, const char *what) {
  return fail(outcome, "%s: %s", what, strerror(errno));
}

const char *failure(void) { return sentence; }

static int is_ready(int descriptor, short events, int ms) {
  struct pollfd wanted = {descriptor, events, 0};
  int count = poll(&wanted, 1, ms);
  /* After an interruption there may be nothing yet; whoever asks asks again. */
  return count > 0;
}

static int connect_to(const struct addrinfo *address) {
  int descriptor = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
  if (descriptor < 0) return -1;
  int error = 0;
  socklen_t size = sizeof error;
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  if (connect(descriptor, address->ai_addr, address->ai_addrlen) == 0) return descriptor;
  if (errno == EINPROGRESS) {
    errno = ETIMEDOUT;
    if (is_ready(descriptor, POLLOUT, CONNECT_MS) &&
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0) {
      if (error == 0) return descriptor;
      errno = error;
    }
  }
  error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static Outcome dial(Socket *socket, const char *host, const char *port) {
  struct addrinfo hints, *found = NULL;
  memset(socket, 0, sizeof *socket);
  memset(&hints, 0, sizeof hints);
  socket->descriptor = -1;
  hints.ai_socktype = SOCK_STREAM;
  int problem = getaddrinfo(host, port, &hints, &found);
  if (problem != 0) {
    return fail(BROKEN, "no connection to %s:%s: %s", host, port, gai_strerror(problem));
  }
  for (struct addrinfo *one = found; one != NULL && socket->descriptor < 0; one = one->ai_next) {
    socket->descriptor = connect_to(one);
  }
  int error = errno;
  freeaddrinfo(found);
  if (socket->descriptor >= 0) return FINE;
  return fail(BROKEN, "no connection to %s:%s: %s", host, port, strerror(error));
}

void drop(Socket *socket) {
  if (socket->descriptor >= 0) close(socket->descriptor);
  free(socket->bytes);
  free(socket->message);
  memset(socket, 0, sizeof *socket);
  socket->descriptor = -1;
}

static Outcome send_all(Socket *socket, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  while (size > 0) {
    ssize_t sent = send(socket->descriptor, at, size, MSG_NOSIGNAL);
    if (sent > 0) {
      at += sent;
      size -= (size_t)sent;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!is_ready(socket->descriptor, POLLOUT, SILENCE_MS)) {
        return fail(BROKEN, "nothing could be sent for %d s", SILENCE_MS / 1000);
      }
    } else if (errno != EINTR) {
      return fail_errno(BROKEN, "the connection was lost");
    }
  }
  return FINE;
}

/* Waits for more bytes, and keeps them. */
static Outcome fill(Socket *socket, int ms) {
  if (socket->at > 0) {
    memmove(socket->bytes, socket->bytes + socket->at, socket->end - socket->at);
    socket->end -= socket->at;
    socket->at = 0;
  }
  if (socket->end == socket->room) {
    size_t room = socket->room == 0 ? 16384 : socket->room * 2;
    unsigned char *bytes = realloc(socket->bytes, room);
    if (bytes == NULL) return fail_errno(BROKEN, "no memory");
    socket->bytes = bytes;
    socket->room = room;
  }
  if (!is_ready(socket->descriptor, POLLIN, ms)) {
    return fail(BROKEN, "nothing came for %d s", ms / 1000);
  }
  ssize_t got = recv(socket->descriptor, socket->bytes + socket->end, socket->room - socket->end, 0);
  if (got == 0) return fail(BROKEN, "the connection was lost");
  if (got < 0) {
    int again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return again ? FINE : fail_errno(BROKEN, "the connection was lost");
  }
  socket->end += (size_t)got;
  return FINE;
}

int has_message(Socket *socket, int ms) {
  return socket->end > socket->at || is_ready(socket->descriptor, POLLIN, ms);
}

/* `*bytes` are the next ones, until more are asked for. */
static Outcome take(Socket *socket, size_t size, unsigned char **bytes) {
  while (socket->end - socket->at < size) {
    Outcome outcome = fill(socket, SILENCE_MS);
    if (outcome != FINE) return outcome;
  }
  *bytes = socket->bytes + socket->at;
  socket->at += size;
  return FINE;
}

/* Reads the head of an answer as text, with its status; the body's first bytes stay. */
static Outcome take_head(Socket *socket, char **head, int *status) {
  size_t looked = 0;
  for (;;) {
    for (; looked + 4 <= socket->end; looked++) {
      if (memcmp(socket->bytes + looked, "\r\n\r\n", 4) != 0) continue;
      *head = malloc(looked + 1);
      if (*head == NULL) return fail_errno(BROKEN, "no memory");
      memcpy(*head, socket->bytes, looked);
      (*head)[looked] = '\0';
      socket->at = looked + 4;
      const char *space = strchr(*head, ' ');
      *status = strncmp(*head, "HTTP/1.1 ", 9) == 0 && space != NULL ? atoi(space) : 0;
      return FINE;
    }
    if (socket->end > MOST_HEAD_BYTES) return fail(REFUSED, "the answer is not HTTP's");
    Outcome outcome = fill(socket, CONNECT_MS);
    if (outcome != FINE) return outcome;
  }
}

/* The body says why, if it comes at all. */
static Outcome refuse(Socket *socket, int status, const char *head) {
  int again = status >= 500 || status == 408 || status == 429;
  if (socket->at == socket->end) fill(socket, 1000);
  size_t size = socket->end - socket->at;
  char *body = calloc(size + 1, 1);
  if (body != NULL && size > 0) memcpy(body, socket->bytes + socket->at, size);
  char *message = body == NULL ? NULL : json_text(json_member(body, "message"));
  int line = (int)strcspn(head, "\r");
  if (message != NULL) fail(BROKEN, "%d: %s", status, message);
  else fail(BROKEN, "%d: %.*s", status, line, head);
  free(message);
  free(body);
  return again ? BROKEN : REFUSED;
}

static Outcome random_bytes(unsigned char *bytes, size_t size) {
  static FILE *source;
  if (source == NULL) source = fopen("/dev/urandom", "rb");
  if (source != NULL && fread(bytes, 1, size, source) == size) return FINE;
  return fail(REFUSED, "there is no /dev/urandom");
}

static void base64(const unsigned char *bytes, size_t size, char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t n = 0; n < size; n += 3) {
    uint32_t three = (uint32_t)bytes[n] << 16;
    if (n + 1 < size) three |= (uint32_t)bytes[n + 1] << 8;
    if (n + 2 < size) three |= bytes[n + 2];
    *text++ = digits[three >> 18];
    *text++ = digits[three >> 12 & 63];
    *text++ = n + 1 < size ? digits[three >> 6 & 63] : '=';
    *text++ = n + 2 < size ? digits[three & 63] : '=';
  }
  *text = '\0';
}

static uint32_t turned(uint32_t value, int by) { return value << by | value >> (32 - by); }

static void sha1_block(uint32_t *state, const unsigned char *block) {
  uint32_t words[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int n = 0; n < 80; n++) {
    if (n < 16) {
      words[n] = (uint32_t)block[4 * n] << 24 | (uint32_t)block[4 * n + 1] << 16 |
                 (uint32_t)block[4 * n + 2] << 8 | block[4 * n + 3];
    } else {
      words[n] = turned(words[n - 3] ^ words[n - 8] ^ words[n - 14] ^ words[n - 16], 1);
    }
    uint32_t mixed = n < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : n < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : n < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
    uint32_t next = turned(a, 5) + mixed + e + words[n];
    e = d;
    d = c;
    c = turned(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

/* SHA-1 (FIPS 180-4) of less than 119 bytes: of the key and the GUID of a handshake. */
static void sha1(const char *text, unsigned char *digest) {
  uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  unsigned char blocks[128] = {0};
  size_t size = strlen(text), whole = size < 56 ? 64 : 128;
  memcpy(blocks, text, size);
  blocks[size] = 0x80;
  blocks[whole - 2] = (unsigned char)(size * 8 >> 8);
  blocks[whole - 1] = (unsigned char)(size * 8);
  for (size_t n = 0; n < whole; n += 64) sha1_block(state, blocks + n);
  for (int n = 0; n < 20; n++) digest[n] = (unsigned char)(state[n / 4] >> (24 - 8 * (n % 4)));
}

/* Whether the answer proves that it is a WebSocket's. */
static int is_accepted(const char *head, const char *key) {
  char text[100], expected[40];
  unsigned char digest[20];
  snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
  sha1(text, digest);
  base64(digest, sizeof digest, expected);
  return strstr(head, expected) != NULL;
}

static Outcome send_head(Socket *socket, const char *first, const char *host, const char *port,
                         const char *key, const char *rest) {
  char head[4096];
  if (strpbrk(key, "\r\n") != NULL) return fail(REFUSED, "the key is not one line");
  int size = snprintf(head, sizeof head, "%s HTTP/1.1\r\nHost: %s:%s\r\nX-API-Key: %s\r\n%s", first, host,
                      port, key, rest);
  if (size < 0 || (size_t)size >= sizeof head) return fail(REFUSED, "the key is too long");
  return send_all(socket, head, (size_t)size);
}

Outcome open_socket(Socket *socket, const char *host, const char *port, const char *path, const char *key) {
  unsigned char nonce[16];
  char named[32], first[300], rest[200], *head = NULL;
  int status = 0;
  Outcome outcome = dial(socket, host, port);
  if (outcome == FINE) outcome = random_bytes(nonce, sizeof nonce);
  if (outcome != FINE) return outcome;
  base64(nonce, sizeof nonce, named);
  snprintf(first, sizeof first, "GET %s", path);
  snprintf(rest, sizeof rest,
           "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: %s\r\n\r\n", named);
  outcome = send_head(socket, first, host, port, key, rest);
  if (outcome == FINE) outcome = take_head(socket, &head, &status);
  if (outcome == FINE && status != 101) outcome = refuse(socket, status, head);
  else if (outcome == FINE && !is_accepted(head, named)) {
    outcome = fail(REFUSED, "the answer is no WebSocket's");
  }
  free(head);
  return outcome;
}

Outcome post_json(const char *host, const char *port, const char *path, const char *key, const char *body) {
  Socket socket;
  char first[300], rest[400], *head = NULL;
  int status = 0;
  Outcome outcome = dial(&socket, host, port);
  snprintf(first, sizeof first, "POST %s", path);
  snprintf(rest, sizeof rest,
           "Connection: close\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
           strlen(body), body);
  if (outcome == FINE) outcome = send_head(&socket, first, host, port, key, rest);
  if (outcome == FINE) outcome = take_head(&socket, &head, &status);
  if (outcome == FINE && status >= 300) outcome = refuse(&socket, status, head);
  free(head);
  drop(&socket);
  return outcome;
}

static Outcome send_frame(Socket *socket, int opcode, const unsigned char *bytes, size_t size) {
  unsigned char *frame = malloc(size + 14), *mask;
  size_t head = 2;
  if (frame == NULL) return fail_errno(BROKEN, "no memory");
  frame[0] = (unsigned char)(0x80 | opcode);
  if (size < 126) {
    frame[1] = (unsigned char)(0x80 | size);
  } else {
    /* Pieces and messages of this client are far below 64 KiB. */
    frame[1] = 0x80 | 126;
    frame[2] = (unsigned char)(size >> 8);
    frame[3] = (unsigned char)size;
    head = 4;
  }
  mask = frame + head;
  Outcome outcome = size > 65535 ? fail(REFUSED, "a message is too large") : random_bytes(mask, 4);
  if (outcome == FINE) {
    for (size_t n = 0; n < size; n++) frame[head + 4 + n] = bytes[n] ^ mask[n % 4];
    outcome = send_all(socket, frame, head + 4 + size);
  }
  free(frame);
  return outcome;
}

Outcome send_text(Socket *socket, const char *text) {
  return send_frame(socket, 1, (const unsigned char *)text, strlen(text));
}

Outcome send_bytes(Socket *socket, const unsigned char *bytes, size_t size) {
  return send_frame(socket, 2, bytes, size);
}

/* Close codes after which the same would happen again are for good. */
static Outcome closed(const unsigned char *payload, size_t size) {
  int code = size < 2 ? 1005 : payload[0] << 8 | payload[1];
  int reason = size < 2 ? 0 : (int)size - 2;
  int is_final = code == 4400 || code == 4401 || code == 4403 || code == 4404 || code == 4409;
  Outcome outcome = code == 1000 ? CLOSED : is_final ? REFUSED : BROKEN;
  return fail(outcome, "closed with %d: %.*s", code, reason, size < 2 ? "" : (const char *)payload + 2);
}

static Outcome frame_size(Socket *socket, unsigned char short_size, size_t *size) {
  unsigned char *bytes;
  *size = short_size & 0x7f;
  if (*size < 126) return FINE;
  int count = *size == 126 ? 2 : 8;
  Outcome outcome = take(socket, (size_t)count, &bytes);
  if (outcome != FINE) return outcome;
  uint64_t whole = 0;
  for (int n = 0; n < count; n++) whole = whole << 8 | bytes[n];
  if (whole + socket->message_size > MOST_MESSAGE_BYTES) return fail(BROKEN, "a message is too large");
  *size = (size_t)whole;
  return FINE;
}

Outcome receive(Socket *socket, char **text) {
  unsigned char *head, *payload;
  size_t size = 0;
  *text = NULL;
  Outcome outcome = take(socket, 2, &head);
  if (outcome != FINE) return outcome;
  int is_last = head[0] & 0x80, opcode = head[0] & 0x0f;
  outcome = frame_size(socket, head[1], &size);
  if (outcome == FINE) outcome = take(socket, size, &payload);
  if (outcome != FINE) return outcome;
  if (opcode == 8) return closed(payload, size);
  if (opcode == 9) return send_frame(socket, 10, payload, size);
  if (opcode > 2) return FINE;
  if (opcode != 0) socket->message_size = 0;
  char *message = realloc(socket->message, socket->message_size + size + 1);
  if (message == NULL) return fail_errno(BROKEN, "no memory");
  memcpy(message + socket->message_size, payload, size);
  socket->message = message;
  socket->message_size += size;
  message[socket->message_size] = '\0';
  if (is_last) *text = message;
  return FINE;
}

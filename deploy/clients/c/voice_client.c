/* A device of the voice session service, in C99 with POSIX sockets and nothing else.
 *
 *     cc -std=c99 -O2 -o voice_client voice_client.c
 *     export VOICE_URL=http://127.0.0.1:8080
 *     VOICE_KEY=... ./voice_client device --device ID recording.wav
 *
 * It survives a connection that breaks: it connects again, later each time, and goes on where it was.
 * It has no TLS: `dial`, `send_all` and `fill` are all that a TLS library would have to replace.
 */
#define _XOPEN_SOURCE 700
#include "voice_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Not acknowledged yet: kept to be sent again, and most that is sent ahead. */
#define WINDOW_BYTES (256 * 1024)
#define PIECE_BYTES 3200
#define MOST_TRIES 20
#define FIRST_WAIT 0.5
#define LONGEST_WAIT 30.0

typedef struct {
  const char *host, *port, *device, *key, *title;
  int transcript;
  FILE *source;
  /* What is left of a WAV file's samples, bytes; endless for a stream. */
  unsigned long long left;
  unsigned rate, channels;
  double bytes_per_second;
  char session[64];
  long long seq;
  unsigned char kept[WINDOW_BYTES + PIECE_BYTES];
  size_t kept_size;
  long long kept_from, sent;
  int at_end;
} Device;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pause_for(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

static void forget(Device *device, long long offset) {
  if (offset <= device->kept_from) return;
  size_t gone = (size_t)(offset - device->kept_from);
  if (gone > device->kept_size) gone = device->kept_size;
  memmove(device->kept, device->kept + gone, device->kept_size - gone);
  device->kept_size -= gone;
  device->kept_from = offset;
}

static Outcome begin(Device *device, const char *frame) {
  long long offset = json_number(json_member(frame, "audio_offset_bytes"), 0);
  char *session = json_text(json_member(frame, "session_id"));
  if (session == NULL || strlen(session) >= sizeof device->session) {
    free(session);
    return fail(REFUSED, "the service named no session");
  }
  if (offset < device->kept_from) {
    free(session);
    return fail(REFUSED, "the service asks for audio that this device has no more");
  }
  if (device->session[0] == '\0') {
    fprintf(stderr, "session %s\n", session);
    /* A session that was running already has bytes of an earlier stream. */
    device->kept_from = offset;
  }
  strcpy(device->session, session);
  free(session);
  forget(device, offset);
  device->sent = offset;
  return FINE;
}

/* Words on standard output, troubles on the other. */
static void hear(Device *device, const char *frame, const char *type) {
  if (json_member(frame, "at") != NULL) {
    device->seq = json_number(json_member(frame, "seq"), device->seq);
  }
  if (strcmp(type, "AudioAck") == 0) {
    forget(device, json_number(json_member(frame, "audio_offset_bytes"), 0));
  } else if (strcmp(type, "Results") == 0 && json_true(json_member(frame, "is_final"))) {
    char *speaker = json_text(json_member(frame, "speaker"));
    char *words = json_text(json_member(frame, "transcript"));
    printf("%s: %s\n", speaker == NULL ? "UU" : speaker, words == NULL ? "" : words);
    free(speaker);
    free(words);
  } else if (strcmp(type, "Warning") == 0 || strcmp(type, "Error") == 0) {
    char *code = json_text(json_member(frame, "code"));
    char *message = json_text(json_member(frame, "message"));
    fprintf(stderr, "%s %s: %s\n", type[0] == 'W' ? "warning" : "error", code ? code : "",
            message ? message : "");
    free(code);
    free(message);
  }
}

static Outcome configure(const Device *device, Socket *socket) {
  char text[2048];
  char title[1200] = "", session[96] = "", transcript[64] = "";
  if (device->title != NULL) {
    char quoted[1100];
    if (!json_quote(device->title, quoted, sizeof quoted)) {
      return fail(REFUSED, "the title is too long");
    }
    snprintf(title, sizeof title, ",\"title\":%s", quoted);
  }
  if (device->session[0] != '\0') {
    snprintf(session, sizeof session, ",\"session_id\":\"%s\"", device->session);
  }
  if (device->transcript && device->seq >= 0) {
    snprintf(transcript, sizeof transcript, ",\"transcript\":true,\"from_seq\":%lld", device->seq);
  } else if (device->transcript) {
    strcpy(transcript, ",\"transcript\":true");
  }
  snprintf(text, sizeof text,
           "{\"type\":\"Configure\",\"encoding\":\"pcm_s16le\",\"sample_rate\":%u,\"channels\":%u%s%s%s}",
           device->rate, device->channels, title, session, transcript);
  return send_text(socket, text);
}

/* Sends the next piece; `*more` is 0 when all was sent. */
static Outcome send_next(Device *device, Socket *socket, int *more) {
  size_t ahead = (size_t)(device->sent - device->kept_from);
  if (ahead == device->kept_size && !device->at_end) {
    size_t wanted = device->left < PIECE_BYTES ? (size_t)device->left : PIECE_BYTES;
    size_t got = fread(device->kept + device->kept_size, 1, wanted, device->source);
    device->at_end = got == 0;
    device->left -= got;
    device->kept_size += got;
  }
  size_t size = device->kept_size - ahead;
  if (size > PIECE_BYTES) size = PIECE_BYTES;
  *more = size > 0;
  if (size == 0) return FINE;
  device->sent += (long long)size;
  return send_bytes(socket, device->kept + ahead, size);
}

static Outcome take_frame(Device *device, Socket *socket, int *begun, int *tries) {
  char *frame = NULL;
  Outcome outcome = receive(socket, &frame);
  if (outcome != FINE || frame == NULL) return outcome;
  char *type = json_text(json_member(frame, "type"));
  if (type != NULL && strcmp(type, "Begin") == 0) {
    outcome = begin(device, frame);
    *begun = 1;
    *tries = 0;
  } else if (type != NULL) {
    hear(device, frame, type);
  }
  free(type);
  return outcome;
}

static Outcome stream(Device *device, Socket *socket, int *tries) {
  int begun = 0, closing = 0;
  double due = now();
  Outcome outcome = configure(device, socket);
  while (outcome == FINE) {
    int room = begun && !closing && device->sent - device->kept_from < WINDOW_BYTES;
    double wait = due - now();
    int ms = !room ? SILENCE_MS : wait <= 0 ? 0 : (int)(wait * 1000) + 1;
    if (has_message(socket, ms)) {
      int before = begun;
      outcome = take_frame(device, socket, &begun, tries);
      if (begun && !before) due = now();
    } else if (!room) {
      return fail(BROKEN, "nothing came for %d s", SILENCE_MS / 1000);
    } else {
      int more = 0;
      outcome = send_next(device, socket, &more);
      double late = now() - 1;
      due = (due > late ? due : late) + PIECE_BYTES / device->bytes_per_second;
      if (outcome == FINE && !more) {
        outcome = send_text(socket, "{\"type\":\"CloseStream\"}");
        closing = 1;
      }
    }
  }
  if (outcome != CLOSED) return outcome;
  if (device->at_end && device->kept_size == 0) return FINE;
  return fail(REFUSED, "the session has ended before all audio was taken");
}

static Outcome attempt_stream(Device *device, int *tries) {
  char path[256];
  snprintf(path, sizeof path, "/api/devices/%s/stream", device->device);
  Socket socket;
  Outcome outcome = open_socket(&socket, device->host, device->port, path, device->key);
  if (outcome == FINE) outcome = stream(device, &socket, tries);
  drop(&socket);
  return outcome;
}

/* Ends the recording; may be repeated, so it is tried again like everything else. */
static Outcome attempt_stop(Device *device, int *tries) {
  (void)tries;
  char path[256], body[128];
  snprintf(path, sizeof path, "/api/devices/%s/session/stop", device->device);
  snprintf(body, sizeof body, "{\"session_id\":\"%s\"}", device->session);
  return post_json(device->host, device->port, path, device->key, body);
}

/* Runs the attempt until it succeeds; waits longer after each failure in a row. */
static Outcome persistently(Outcome (*attempt)(Device *, int *), Device *device) {
  int tries = 0;
  for (;;) {
    Outcome outcome = attempt(device, &tries);
    if (outcome != BROKEN) return outcome;
    if (++tries >= MOST_TRIES) return REFUSED;
    double wait = FIRST_WAIT;
    for (int n = 1; n < tries && wait < LONGEST_WAIT; n++) wait *= 2;
    if (wait > LONGEST_WAIT) wait = LONGEST_WAIT;
    wait *= 0.5 + 0.5 * (double)random() / 2147483648.0;
    fprintf(stderr, "%s; trying again in %.1f s\n", failure(), wait);
    pause_for(wait);
  }
}

static unsigned little(const unsigned char *bytes, int count) {
  unsigned value = 0;
  for (int n = count - 1; n >= 0; n--) value = value << 8 | bytes[n];
  return value;
}

/* Finds the samples of a WAV file of 16 bits. */
static Outcome read_wav(Device *device, const char *path) {
  unsigned char head[12], format[16];
  int known = 0;
  if (fread(head, 1, 12, device->source) < 12 || memcmp(head, "RIFF", 4) != 0 ||
      memcmp(head + 8, "WAVE", 4) != 0) {
    return fail(REFUSED, "%s: no WAV file", path);
  }
  while (fread(head, 1, 8, device->source) == 8) {
    unsigned long size = little(head + 4, 4);
    if (memcmp(head, "data", 4) == 0 && known) {
      device->left = size == 0xffffffffUL ? ~0ULL : size;
      return FINE;
    }
    unsigned long skip = size + (size & 1);
    if (memcmp(head, "fmt ", 4) == 0 && size >= 16) {
      if (fread(format, 1, 16, device->source) < 16) break;
      skip -= 16;
      device->channels = little(format + 2, 2);
      device->rate = little(format + 4, 4);
      known = little(format + 14, 2) == 16 && device->channels >= 1 && device->channels <= 2;
    }
    while (skip-- > 0) {
      if (getc(device->source) == EOF) break;
    }
  }
  return fail(REFUSED, "%s: only WAV of 16 bits with one or two channels", path);
}

static Outcome open_source(Device *device, const char *path) {
  device->rate = 16000;
  device->channels = 1;
  device->left = ~0ULL;
  device->source = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (device->source == NULL) return fail_errno(REFUSED, path);
  return device->source == stdin ? FINE : read_wav(device, path);
}

static Outcome record(Device *device, const char *path, double speed) {
  device->key = getenv("VOICE_KEY");
  if (device->key == NULL || device->key[0] == '\0') {
    return fail(REFUSED, "the environment has no VOICE_KEY");
  }
  Outcome outcome = open_source(device, path);
  if (outcome != FINE) return outcome;
  device->bytes_per_second = speed * device->rate * device->channels * 2;
  outcome = persistently(attempt_stream, device);
  if (outcome == FINE) outcome = persistently(attempt_stop, device);
  if (outcome == FINE) fprintf(stderr, "sent %lld bytes, all stored\n", device->kept_from);
  return outcome;
}

static int usage(void) {
  fputs("usage: voice_client device --device ID [--url http://HOST:PORT] [--title TEXT]\n"
        "                    [--transcript] [--speed N] FILE\n\n"
        "Streams a WAV file, or 16 kHz mono PCM from standard input where FILE is -, as a device.\n"
        "Its key is VOICE_KEY, the address is VOICE_URL unless --url is given. --transcript prints what\n"
        "is heard (may_read); --speed 1 is the speed of life.\n", stderr);
  return 2;
}

/* Splits `http://HOST[:PORT]` in place. */
static Outcome split_url(char *url, Device *device) {
  if (strncmp(url, "https://", 8) == 0) {
    return fail(REFUSED, "this client has no TLS: let it speak to a proxy that has (http://...)");
  }
  if (strncmp(url, "http://", 7) != 0) return fail(REFUSED, "--url must begin with http://");
  device->host = url + 7;
  char *end = url + 7 + strcspn(url + 7, "/");
  *end = '\0';
  char *colon = strrchr(url + 7, ':');
  device->port = colon == NULL ? "80" : colon + 1;
  if (colon != NULL) *colon = '\0';
  return FINE;
}

int main(int count, char **words) {
  static Device device;
  static char url[512];
  const char *given = getenv("VOICE_URL"), *path = NULL;
  double speed = 1;
  device.seq = -1;
  if (given == NULL) given = "http://127.0.0.1:8080";
  if (count < 2 || strcmp(words[1], "device") != 0) return usage();
  for (int n = 2; n < count; n++) {
    const char *word = words[n];
    if (strcmp(word, "--transcript") == 0) device.transcript = 1;
    else if (strncmp(word, "--", 2) != 0 && path == NULL) path = word;
    else if (n + 1 == count) return usage();
    else if (strcmp(word, "--device") == 0) device.device = words[++n];
    else if (strcmp(word, "--url") == 0) given = words[++n];
    else if (strcmp(word, "--title") == 0) device.title = words[++n];
    else if (strcmp(word, "--speed") == 0) speed = atof(words[++n]);
    else return usage();
  }
  if (path == NULL || device.device == NULL || strlen(device.device) > 64 || speed <= 0) return usage();
  setvbuf(stdout, NULL, _IOLBF, 0);
  srandom((unsigned)getpid() ^ (unsigned)time(NULL));
  snprintf(url, sizeof url, "%s", given);
  Outcome outcome = split_url(url, &device);
  if (outcome == FINE) outcome = record(&device, path, speed);
  if (outcome == FINE) return 0;
  fprintf(stderr, "error: %s\n", failure());
  return 1;
}

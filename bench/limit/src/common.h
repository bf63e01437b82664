// What both limit servers share: arguments, clock, WebSocket upgrade, frames, counts.
// No memory is taken after the start, no error is survived: the limit has nothing to
// do but the work.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD 2048     // most bytes of a request's head, and of an unfinished frame
#define MAX_CONNS 65536
#define MAX_PAYLOAD 125 // frames with short lengths only

struct conn {
	int fd;           // -1: free
	int up;           // the upgrade is done
	int len;          // bytes in in
	uint32_t received; // messages
	unsigned char in[HEAD];
};

static struct conn *conns;
static int top;       // conns below it may be in use
static int64_t period, next_beat;
static uint32_t beat;
static int payload, echoing;
static unsigned char frame[2 + MAX_PAYLOAD];
static volatile sig_atomic_t stopping;
static int64_t received, sent, dropped, calls, beats;

static void die(const char *what) {
	perror(what);
	exit(1);
}

static void stop(int signal) {
	(void)signal;
	stopping = 1;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// start reads PORT HZ PAYLOAD beat|echo, opens the port and says which one it is.
static int start(int argc, char **argv) {
	if (argc < 5) {
		fprintf(stderr, "usage: %s PORT HZ PAYLOAD beat|echo\n", argv[0]);
		exit(2);
	}
	int hz = atoi(argv[2]);
	payload = atoi(argv[3]);
	echoing = !strcmp(argv[4], "echo");
	if (hz < 1 || hz > 1000 || payload < 16 || payload > MAX_PAYLOAD) {
		fprintf(stderr, "HZ is 1 to 1000, PAYLOAD 16 to %d\n", MAX_PAYLOAD);
		exit(2);
	}
	period = 1000000000LL / hz;
	frame[0] = 0x82;
	frame[1] = payload;
	conns = malloc(MAX_CONNS * sizeof *conns); // pages come with their use
	if (!conns) die("malloc");
	int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
	setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	if (bind(ls, (void *)&a, n) || listen(ls, 4096) || getsockname(ls, (void *)&a, &n)) die("listening");
	struct sigaction s = {.sa_handler = stop};
	sigaction(SIGTERM, &s, 0);
	sigaction(SIGINT, &s, 0);
	signal(SIGPIPE, SIG_IGN);
	printf("listening %d\n", ntohs(a.sin_port));
	fflush(stdout);
	if (!echoing) next_beat = now() + period;
	return ls;
}

static int finish(void) {
	printf("{\"received\":%lld,\"sent\":%lld,\"dropped\":%lld,\"calls\":%lld,\"beats\":%lld}\n", (long long)received,
		(long long)sent, (long long)dropped, (long long)calls, (long long)beats);
	return 0;
}

// conn_open finds a place for a descriptor.
static int conn_open(int fd) {
	int one = 1, i = 0;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	while (i < top && conns[i].fd >= 0) i++;
	if (i == MAX_CONNS) {
		fprintf(stderr, "too many connections\n");
		exit(1);
	}
	if (i == top) top++;
	conns[i].fd = fd;
	conns[i].up = conns[i].len = 0;
	conns[i].received = 0;
	return i;
}

static uint32_t rol(uint32_t x, int n) { return x << n | x >> (32 - n); }

// sha1 of at most 119 bytes: two blocks.
static void sha1(const char *text, unsigned char out[20]) {
	unsigned char m[128] = {0};
	int n = strlen(text), blocks = n > 55 ? 2 : 1;
	memcpy(m, text, n);
	m[n] = 0x80;
	m[blocks * 64 - 2] = n >> 5;
	m[blocks * 64 - 1] = n << 3;
	uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	for (int b = 0; b < blocks; b++) {
		uint32_t w[80];
		for (int i = 0; i < 16; i++) {
			const unsigned char *p = m + b * 64 + i * 4;
			w[i] = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
		}
		for (int i = 16; i < 80; i++) w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		uint32_t a = h[0], c = h[1], d = h[2], e = h[3], f = h[4];
		for (int i = 0; i < 80; i++) {
			uint32_t g = i < 20 ? ((c & d) | (~c & e)) + 0x5a827999 : i < 40 ? (c ^ d ^ e) + 0x6ed9eba1
				: i < 60 ? ((c & d) | (c & e) | (d & e)) + 0x8f1bbcdc : (c ^ d ^ e) + 0xca62c1d6;
			uint32_t t = rol(a, 5) + g + f + w[i];
			f = e, e = d, d = rol(c, 30), c = a, a = t;
		}
		h[0] += a, h[1] += c, h[2] += d, h[3] += e, h[4] += f;
	}
	for (int i = 0; i < 20; i++) out[i] = h[i / 4] >> (24 - i % 4 * 8);
}

// upgrade answers a whole head in c->in; what follows it moves to the front.
static void upgrade(struct conn *c, char *end) {
	char *key = strcasestr((char *)c->in, "sec-websocket-key:"), text[128], accept[32], answer[256];
	unsigned char d[21] = {0};
	if (!key || key > end) {
		fprintf(stderr, "no key in the request\n");
		exit(1);
	}
	key += strlen("sec-websocket-key:");
	key += strspn(key, " ");
	int n = strcspn(key, "\r ");
	if (n > 64) n = 64;
	snprintf(text, sizeof text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", n, key);
	sha1(text, d);
	static const char *b64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *o = accept;
	for (int i = 0; i < 21; i += 3) {
		uint32_t v = d[i] << 16 | d[i + 1] << 8 | d[i + 2];
		*o++ = b64[v >> 18], *o++ = b64[v >> 12 & 63], *o++ = b64[v >> 6 & 63], *o++ = b64[v & 63];
	}
	o[-1] = '=', *o = 0; // 20 bytes: the last of 21 is none
	n = snprintf(answer, sizeof answer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\n\r\n", accept);
	if (write(c->fd, answer, n) != n) die("answering an upgrade");
	c->up = 1;
	c->len -= (unsigned char *)end + 4 - c->in;
	memmove(c->in, end + 4, c->len);
}

// Called with the payload of each message, unmasked.
static void message(int id, const unsigned char *p, int n);

// frames reads the whole frames of p and returns the bytes that they took, or -1 at
// the end of the connection.
static int frames(int id, unsigned char *p, int n) {
	int at = 0;
	while (n - at >= 6) {
		unsigned char *f = p + at;
		int len = f[1] & 127;
		if (len > MAX_PAYLOAD || !(f[1] & 128)) return -1;
		if (n - at < 6 + len) break;
		for (int i = 0; i < len; i++) f[6 + i] ^= f[2 + (i & 3)];
		if ((f[0] & 15) == 8) return -1;
		received++;
		conns[id].received++;
		message(id, f + 6, len);
		at += 6 + len;
	}
	return at;
}

// take takes bytes that have come; -1 when the connection is to end.
static int take(int id, unsigned char *p, int n) {
	struct conn *c = &conns[id];
	if (c->up && !c->len) { // as always: nothing is copied
		int used = frames(id, p, n);
		if (used < 0 || n - used > HEAD) return -1;
		memcpy(c->in, p + used, n - used);
		c->len = n - used;
		return 0;
	}
	while (n > 0 || c->len > 0) {
		int m = HEAD - 1 - c->len;
		if (m > n) m = n;
		memcpy(c->in + c->len, p, m);
		c->len += m, p += m, n -= m;
		int before = c->len;
		if (!c->up) {
			c->in[c->len] = 0;
			char *end = strstr((char *)c->in, "\r\n\r\n");
			if (end) upgrade(c, end);
		} else {
			int used = frames(id, c->in, c->len);
			if (used < 0) return -1;
			c->len -= used;
			memmove(c->in, c->in + used, c->len);
		}
		if (c->len == before) return n > 0 ? -1 : 0;
	}
	return 0;
}

// fill writes the beat's message for a connection, as bench/beat says it is.
static void fill(unsigned char *f, struct conn *c) {
	memcpy(f, frame, 2 + payload);
	memcpy(f + 2, &next_beat, 8);
	memcpy(f + 10, &beat, 4);
	memcpy(f + 14, &c->received, 4);
}

// next_after goes on to the next beat, passing over those that are lost.
static void next_after(int64_t t) {
	beats++;
	next_beat += period;
	if (next_beat < t) next_beat = t;
}

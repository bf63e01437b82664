// The limit by epoll: one thread, one read and one write a message, nothing else.
#include "common.h"
#include <sys/epoll.h>

#define LISTENER UINT32_MAX

static int ep;
static unsigned char buffer[1 << 16];

static void put(int id, const unsigned char *p, int n) {
	calls++;
	int w = write(conns[id].fd, p, n);
	if (w == n)
		sent++;
	else
		dropped++; // nobody who measures lets it come to that
}

static void message(int id, const unsigned char *p, int n) {
	if (!echoing) return;
	unsigned char f[2 + MAX_PAYLOAD] = {0x82, n};
	memcpy(f + 2, p, n);
	put(id, f, 2 + n);
}

static void watch(int fd, uint32_t id) {
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = id};
	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e)) die("epoll_ctl");
}

static void readable(int id) {
	struct conn *c = &conns[id];
	calls++;
	int n = read(c->fd, buffer, sizeof buffer);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n > 0 && take(id, buffer, n) == 0) return;
	close(c->fd);
	c->fd = -1;
	c->up = 0;
}

int main(int argc, char **argv) {
	static struct epoll_event events[4096];
	int ls = start(argc, argv);
	if ((ep = epoll_create1(EPOLL_CLOEXEC)) < 0) die("epoll_create");
	watch(ls, LISTENER);
	while (!stopping) {
		struct timespec wait = {1, 0};
		if (!echoing) {
			int64_t t = now();
			if (t >= next_beat) {
				beat++;
				for (int i = 0; i < top; i++) {
					if (!conns[i].up) continue;
					unsigned char f[2 + MAX_PAYLOAD];
					fill(f, &conns[i]);
					put(i, f, 2 + payload);
				}
				next_after(now());
				continue;
			}
			wait = (struct timespec){(next_beat - t) / 1000000000, (next_beat - t) % 1000000000};
		}
		calls++;
		int n = epoll_pwait2(ep, events, 4096, &wait, 0);
		for (int i = 0; i < n; i++) {
			if (events[i].data.u32 != LISTENER) {
				readable(events[i].data.u32);
				continue;
			}
			for (int fd; (fd = accept4(ls, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
				int id = conn_open(fd);
				watch(fd, id);
			}
		}
	}
	return finish();
}

// The limit by io_uring, on the bare system calls: multishot receives into provided
// buffers, all sends of a beat in one call, no completion for a send that went well.
// It waits for BATCH completions or a millisecond, so that receives are taken many at a
// time; with a BATCH of 0 it looks at them at the beats alone, once nobody has come for a
// second: whoever connects waits for answers.
#include "common.h"
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define ENTRIES 16384
#define BUFFERS 16384 // a power of two, at most 32768
#define BUFFER 256
#define SLOT 128 // bytes of a connection's message being sent

enum { ACCEPT = 1, RECEIVE, SEND };
#define TAG(kind, id) ((uint64_t)(kind) << 32 | (uint32_t)(id))

static int ring, batch = 64;
static int64_t came; // when the last client did
static unsigned *sq_head, *sq_tail, *cq_head, *cq_tail, sq_mask, cq_mask, tail, flushed;
static struct io_uring_sqe *sqes;
static struct io_uring_cqe *cqes;
static struct io_uring_buf_ring *bufs;
static unsigned char *memory, *slots;
static uint16_t buf_tail;

static int enter(unsigned wait, int64_t timeout) {
	unsigned n = tail - flushed, flags = IORING_ENTER_REGISTERED_RING;
	__atomic_store_n(sq_tail, tail, __ATOMIC_RELEASE);
	flushed = tail;
	struct __kernel_timespec t = {timeout / 1000000000, timeout % 1000000000};
	struct io_uring_getevents_arg arg = {.ts = (uint64_t)(uintptr_t)&t};
	if (timeout >= 0) flags |= IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
	calls++;
	int r = syscall(SYS_io_uring_enter, 0, n, wait, flags, timeout >= 0 ? &arg : 0, timeout >= 0 ? sizeof arg : 0);
	if (r < 0 && errno != ETIME && errno != EINTR && errno != EBUSY && errno != EAGAIN) die("io_uring_enter");
	return r;
}

static struct io_uring_sqe *entry(int op, int fd, uint64_t tag) {
	while (tail - __atomic_load_n(sq_head, __ATOMIC_ACQUIRE) >= ENTRIES) enter(0, -1);
	struct io_uring_sqe *e = &sqes[tail++ & sq_mask];
	memset(e, 0, sizeof *e);
	e->opcode = op;
	e->fd = fd;
	e->user_data = tag;
	return e;
}

static void arm(int id) {
	struct io_uring_sqe *e = entry(IORING_OP_RECV, conns[id].fd, TAG(RECEIVE, id));
	e->flags = IOSQE_BUFFER_SELECT;
	e->ioprio = IORING_RECV_MULTISHOT;
	e->buf_group = 1;
}

static void arm_accept(int ls) {
	struct io_uring_sqe *e = entry(IORING_OP_ACCEPT, ls, TAG(ACCEPT, 0));
	e->ioprio = IORING_ACCEPT_MULTISHOT;
	e->accept_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
}

static void put(int id, int n) {
	struct io_uring_sqe *e = entry(IORING_OP_SEND, conns[id].fd, TAG(SEND, id));
	e->addr = (uint64_t)(uintptr_t)(slots + id * SLOT);
	e->len = n;
	e->msg_flags = MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL;
	e->flags = IOSQE_CQE_SKIP_SUCCESS;
	sent++;
}

static void message(int id, const unsigned char *p, int n) {
	if (!echoing) return;
	unsigned char *f = slots + id * SLOT;
	// One answer is under way at a time: the entry is read when it is submitted.
	f[0] = 0x82, f[1] = n;
	memcpy(f + 2, p, n);
	put(id, 2 + n);
}

static void give_back(uint16_t b) {
	struct io_uring_buf *e = &bufs->bufs[buf_tail++ & (BUFFERS - 1)];
	e->addr = (uint64_t)(uintptr_t)(memory + b * BUFFER);
	e->len = BUFFER;
	e->bid = b;
}

static void complete(struct io_uring_cqe *c, int ls) {
	int id = (uint32_t)c->user_data;
	switch (c->user_data >> 32) {
	case ACCEPT:
		if (c->res >= 0) arm(conn_open(c->res)), came = now();
		if (!(c->flags & IORING_CQE_F_MORE)) arm_accept(ls);
		break;
	case RECEIVE:
		if (c->res > 0) {
			uint16_t b = c->flags >> IORING_CQE_BUFFER_SHIFT;
			int end = take(id, memory + b * BUFFER, c->res);
			give_back(b);
			if (end) shutdown(conns[id].fd, SHUT_RDWR);
		}
		if (c->flags & IORING_CQE_F_MORE) break;
		if (c->res > 0 || c->res == -ENOBUFS) {
			arm(id);
			break;
		}
		close(conns[id].fd);
		conns[id].fd = -1;
		conns[id].up = 0;
		break;
	case SEND: // it failed, or was short
		sent--;
		dropped++;
	}
}

static void *map(size_t n, int fd, off_t at) {
	int flags = fd < 0 ? MAP_ANONYMOUS | MAP_PRIVATE : MAP_SHARED;
	void *p = mmap(0, n, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, at);
	if (p == MAP_FAILED) die("mmap");
	return p;
}

static void setup(void) {
	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | (1U << 16), // NO_SQARRAY
		.cq_entries = 4 * ENTRIES,
	};
	int fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (fd < 0) die("io_uring_setup");
	unsigned char *m = map(p.cq_off.cqes + p.cq_entries * sizeof *cqes, fd, IORING_OFF_SQ_RING);
	sqes = map(p.sq_entries * sizeof *sqes, fd, IORING_OFF_SQES);
	cqes = (void *)(m + p.cq_off.cqes);
	sq_head = (void *)(m + p.sq_off.head), sq_tail = (void *)(m + p.sq_off.tail);
	cq_head = (void *)(m + p.cq_off.head), cq_tail = (void *)(m + p.cq_off.tail);
	sq_mask = p.sq_entries - 1, cq_mask = p.cq_entries - 1;
	struct io_uring_rsrc_update u = {.offset = -1U, .data = fd};
	ring = syscall(SYS_io_uring_register, fd, IORING_REGISTER_RING_FDS, &u, 1) == 1 && u.offset == 0 ? fd : -1;
	if (ring < 0) die("registering the ring");
	memory = map(BUFFERS * BUFFER, -1, 0);
	slots = map((size_t)MAX_CONNS * SLOT, -1, 0);
	bufs = map(BUFFERS * sizeof(struct io_uring_buf), -1, 0);
	struct io_uring_buf_reg reg = {.ring_addr = (uint64_t)(uintptr_t)bufs, .ring_entries = BUFFERS, .bgid = 1};
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_PBUF_RING, &reg, 1)) die("registering buffers");
	for (int i = 0; i < BUFFERS; i++) give_back(i);
	__atomic_store_n(&bufs->tail, buf_tail, __ATOMIC_RELEASE);
}

int main(int argc, char **argv) {
	int ls = start(argc, argv);
	if (argc > 5) batch = atoi(argv[5]);
	setup();
	arm_accept(ls);
	while (!stopping) {
		int64_t t = now(), wait = 1000000, left = echoing ? wait : next_beat - t;
		int beats = !batch && t - came > 1000000000;
		if (left < wait || beats) wait = left;
		if (wait > 0)
			enter(beats ? ENTRIES : batch ? batch : 64, wait);
		else
			enter(0, 0); // completions that are due are made, all the same
		unsigned h = *cq_head, end = __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE);
		if (h != end) {
			for (; h != end; h++) complete(&cqes[h & cq_mask], ls);
			__atomic_store_n(cq_head, h, __ATOMIC_RELEASE);
			__atomic_store_n(&bufs->tail, buf_tail, __ATOMIC_RELEASE);
		}
		if (echoing || (t = now()) < next_beat) continue;
		beat++;
		for (int i = 0; i < top; i++) {
			if (!conns[i].up) continue;
			fill(slots + i * SLOT, &conns[i]);
			put(i, 2 + payload);
		}
		enter(0, -1);
		next_after(now());
	}
	return finish();
}

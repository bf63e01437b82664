// Serves the form beat of the scenario echo on uWebSockets, whose sockets Node is a shell
// for: every socket is sent a message on every beat, and what it sends is counted.
// Arguments: beats a second, bytes of a message. Its first line on stdout is
// "listening PORT".
//
// The library is not on npm under its own name; this is another's build of it, of which
// the binary is used without what they put around it.
import { createRequire } from "node:module";

const { platform, arch, versions, argv, hrtime } = process;
const binary = `@trufflesuite/uws-js-unofficial/binaries/uws_${platform}_${arch}_${versions.modules}.node`;
const { App, us_socket_local_port: portOf } = createRequire(import.meta.url)(binary);
const [hz, size] = argv.slice(2).map(Number);

const clients = new Set();
const period = 1e9 / hz;
const message = new Uint8Array(size);
const view = new DataView(message.buffer);
const now = () => Number(hrtime.bigint()); // CLOCK_MONOTONIC: exact for a hundred days

let next = now() + period;
let beat = 0;

// The message of a beat is its due time, its number and how many of the socket's messages
// have come, and filler.
function send() {
  view.setBigUint64(0, BigInt(Math.round(next)), true);
  view.setUint32(8, ++beat, true);
  for (const client of clients) {
    view.setUint32(12, client.received, true);
    client.send(message, true, false);
  }
  next = Math.max(next + period, now());
  setTimeout(send, (next - now()) / 1e6);
}

App().ws("/*", {
  compression: 0,
  maxPayloadLength: 4096,
  open(client) {
    client.received = 0;
    clients.add(client);
  },
  message(client) { client.received++; },
  close(client) { clients.delete(client); },
}).listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no port to listen on");
  console.log("listening", portOf(socket));
  setTimeout(send, period / 1e6);
});

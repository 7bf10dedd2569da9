// A proxy in front of an HTTP server, on a free port of loopback; it prints its own address. The first answers are
// lost: the request arrives, and the connection is cut before anything comes back. It prints a line to standard error
// for each answer.
//
// usage: node lossy.mjs HTTP_ADDRESS HOW_MANY
import http from "node:http";

const [target, count] = process.argv.slice(2);
let lost = Number(count);
const server = http.createServer((request, response) => {
  const { url, method, headers } = request;
  const onward = http.request(target + url, { method, headers, agent: false }, (answer) => {
    const replayed = answer.headers["idempotent-replayed"] ? " replayed" : "";
    console.error(`${answer.statusCode}${replayed}${lost > 0 ? " lost" : ""}`);
    if (lost-- > 0) {
      answer.resume();
      request.socket.destroy();
    } else {
      answer.pipe(response.writeHead(answer.statusCode, answer.headers));
    }
  });
  onward.on("error", () => request.socket.destroy());
  request.pipe(onward);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));

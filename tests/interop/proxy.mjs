// Ends TLS before an HTTP server, on a free port of loopback, and prints its own address.
//
// usage: node proxy.mjs KEY_FILE CERTIFICATE_FILE HTTP_ADDRESS
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

const [key, cert, target] = process.argv.slice(2);
const tls = { key: readFileSync(key), cert: readFileSync(cert) };
const server = https.createServer(tls, ({ url, method, headers }, response) => {
  const pass = (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers));
  http.request(target + url, { method, headers }, pass).end();
});
server.listen(0, "127.0.0.1", () => console.log(`https://127.0.0.1:${server.address().port}`));

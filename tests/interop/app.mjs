// An application behind a proxy: answers with the request that reached it, as JSON.
//
// usage: app.mjs PORT
import { createServer } from "node:http";

createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { method, url, rawHeaders } = request;
  const headers = [];
  for (let at = 0; at < rawHeaders.length; at += 2) headers.push([rawHeaders[at].toLowerCase(), rawHeaders[at + 1]]);
  const status = url.startsWith("/fails") ? 500 : 200;
  response.writeHead(status, { "content-type": "application/json", "x-app": "here" });
  response.end(JSON.stringify({ method, url, headers, body }));
}).listen(Number(process.argv[2]), "127.0.0.1");

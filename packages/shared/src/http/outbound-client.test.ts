import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test, vi } from "vitest";
import { OutboundClient, type OutboundClientOptions } from "#src/http/outbound-client.ts";
import { OutboundError, type OutboundRequest } from "#src/http/outbound-exchange.ts";
import { connectPinned } from "#src/http/pinned-connection.ts";
import { selfSignedCertificate } from "#src/testing/certificate.ts";
import { eventually } from "#src/testing/poll.ts";

/**
 * In these tests, connections to 127.0.0.1 are allowed, as to an address of the internet. 127.0.0.2
 * is refused, as an address of a private network.
 */
const PUBLIC = "127.0.0.1";
const PRIVATE = "127.0.0.2";
const allow = [{ address: PUBLIC, fromPort: 1, toPort: 65_535 }];

const open: (Server | TcpServer)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of open.splice(0)) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function listen(server: Server | TcpServer, host = PUBLIC, port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  open.push(server);
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener, host = PUBLIC, port = 0) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  return { port: await listen(server, host, port), requests };
}

/** Starts a server that sends exactly the given bytes. */
async function serveRaw(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => talk(socket));
  });
  server.on("close", () => undefined);
  const closing = server.close.bind(server);
  server.close = (callback) => {
    for (const socket of sockets) socket.destroy();
    return closing(callback);
  };
  return await listen(server);
}

/**
 * Returns a resolver that returns the answers for a host name one after the other, and then repeats
 * the last answer.
 */
function fakeDns(names: Record<string, readonly (readonly string[])[]>) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    const count = asked.filter((name) => name === hostname).length;
    asked.push(hostname);
    const answers = names[hostname];
    if (answers === undefined) throw new Error(`queryA ENOTFOUND ${hostname}`);
    return await Promise.resolve(answers[Math.min(count, answers.length - 1)] ?? []);
  };
  return { resolve, asked };
}

const dns = (names: Record<string, readonly string[]>) =>
  fakeDns(Object.fromEntries(Object.entries(names).map(([name, list]) => [name, [list]]))).resolve;

type Options = Partial<OutboundClientOptions>;

/** Sends a GET request and returns the whole answer, or why the request failed. */
async function get(url: string, request: Partial<OutboundRequest> = {}, options: Options = {}) {
  const client = new OutboundClient({ allow, ...options });
  try {
    await using answer = await client.send({
      method: "GET",
      url,
      totalMs: 5000,
      ...request,
    } as OutboundRequest);
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return {
      status: answer.status,
      headers: answer.headers,
      url: answer.url.href,
      body: Buffer.concat(chunks),
    };
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
}

test("an outbound request connects to the resolved address, sends the host name, and asks for an uncompressed body", async () => {
  const { port, requests } = await serve((_request, response) => response.end("hello"));
  const answer = await get(
    `http://files.example.com:${port}/a%20b?x=1#y`,
    {},
    { resolve: dns({ "files.example.com": [PUBLIC] }) },
  );
  expect(answer).toMatchObject({ status: 200, body: Buffer.from("hello") });
  expect(requests[0]).toMatchObject({
    url: "/a%20b?x=1",
    headers: {
      host: `files.example.com:${port}`,
      "accept-encoding": "identity",
      "user-agent": "Postrider",
      connection: "close",
    },
  });
});

test("an outbound POST sends its body, and returns a redirect to the caller instead of following it", async () => {
  const { port, requests } = await serve((request, response) => {
    request.resume().on("end", () => response.writeHead(307, { location: "/b" }).end());
  });
  const client = new OutboundClient({ allow });
  await using answer = await client.send({
    method: "POST",
    url: `http://${PUBLIC}:${port}/a`,
    headers: { "content-type": "application/json" },
    body: "{}",
    totalMs: 5000,
  });
  expect(answer.status).toBe(307);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method: "POST", headers: { "content-length": "2" } });
});

test("an outbound request ignores proxies in the environment", async () => {
  const { port } = await serve((_request, response) => response.end("direct"));
  const proxy = await serve((_request, response) => response.end("by proxy"));
  for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"])
    vi.stubEnv(name, `http://${PUBLIC}:${proxy.port}`);
  const answer = await get(`http://${PUBLIC}:${port}/`);
  expect(answer).toMatchObject({ body: Buffer.from("direct") });
  expect(proxy.requests).toHaveLength(0);
});

test("an outbound request tries the next address when the first one does not answer", async () => {
  const { port } = await serve((_request, response) => response.end("second"));
  const both = [...allow, { address: "127.0.0.3", fromPort: 1, toPort: 65_535 }];
  const options = { allow: both, resolve: dns({ "two.example.com": ["127.0.0.3", PUBLIC] }) };
  expect(await get(`http://two.example.com:${port}/`, {}, options)).toMatchObject({
    status: 200,
  });
});

test("a host name with one private address among public addresses is refused", async () => {
  const { port, requests } = await serve((_request, response) => response.end());
  for (const addresses of [
    [PUBLIC, PRIVATE],
    [PRIVATE, PUBLIC],
    [PUBLIC, "::1"],
    [PUBLIC, "8.8.8.8", "fd00::1"],
    [PUBLIC, "not an address"],
  ]) {
    const options = { resolve: dns({ "mixed.example.com": addresses }) };
    expect(await get(`http://mixed.example.com:${port}/`, {}, options)).toBe("address_not_allowed");
  }
  expect(requests).toHaveLength(0);
});

test("an outbound request connects to the checked address even if DNS changes after the check", async () => {
  const target = await serve((_request, response) => response.end("public"));
  const victim = await serve((_request, response) => response.end("private"), PRIVATE, target.port);
  const rebinding = fakeDns({ "rebind.example.com": [[PUBLIC], [PRIVATE]] });
  const url = `http://rebind.example.com:${target.port}/`;
  expect(await get(url, {}, rebinding)).toMatchObject({ body: Buffer.from("public") });
  expect(rebinding.asked).toHaveLength(1);
  expect(await get(url, {}, rebinding)).toBe("address_not_allowed");
  expect(victim.requests).toHaveLength(0);
});

test("the address of a host name is checked again after every redirect", async () => {
  const target = await serve((_request, response) =>
    response.writeHead(302, { location: "/again" }).end(),
  );
  const victim = await serve((_request, response) => response.end(), PRIVATE, target.port);
  const rebinding = fakeDns({ "rebind.example.com": [[PUBLIC], [PUBLIC], [PRIVATE]] });
  const url = `http://rebind.example.com:${target.port}/`;
  expect(await get(url, { redirects: 3 }, rebinding)).toBe("address_not_allowed");
  expect(target.requests).toHaveLength(2);
  expect(victim.requests).toHaveLength(0);
});

test("a host name of a private network is refused without a DNS query", async () => {
  const names = fakeDns({});
  expect(await get("http://db.internal/", {}, names)).toBe("address_not_allowed");
  expect(names.asked).toEqual([]);
});

test.each([
  ["has no address", { resolve: dns({ "a.example.com": [] }) }, "unreachable"],
  ["does not exist", { resolve: dns({}) }, "unreachable"],
  [
    "is not answered by DNS in time",
    { resolve: () => new Promise<readonly string[]>(() => undefined) },
    "timed_out",
  ],
])("an outbound request to a host name that %s fails", async (_name, options, failure) => {
  expect(await get("http://a.example.com/", { totalMs: 100 }, options)).toBe(failure);
});

test("the outbound client sends no byte on a socket that is connected to a forbidden address", async () => {
  let received = 0;
  const server = createTcpServer((socket) =>
    socket.on("data", (chunk) => (received += chunk.length)),
  );
  const port = await listen(server, PRIVATE);
  const accepted = once(server, "connection");
  const target = { hostname: "a.example.com", addresses: [PRIVATE], port, tls: true };
  const options = { allow, connectMs: 1000, signal: new AbortController().signal, ca: undefined };
  await expect(connectPinned(target, options)).rejects.toMatchObject({ failure: "unreachable" });
  const [socket] = (await accepted) as [Socket];
  await eventually(() => socket.destroyed || socket.readableEnded);
  expect(received).toBe(0);
});

/** A server on which /3 redirects to /2, /2 to /1, and /1 to /0. */
const countdown: RequestListener = (request, response) => {
  const left = Number(request.url?.slice(1));
  if (left === 0) response.end("there");
  else response.writeHead(302, { location: `/${left - 1}` }).end("not there");
};

test("a redirect is returned to the caller unless following redirects is requested", async () => {
  const { port } = await serve(countdown);
  expect(await get(`http://${PUBLIC}:${port}/3`)).toMatchObject({ status: 302 });
});

test("redirects are followed up to the allowed number", async () => {
  const { port, requests } = await serve(countdown);
  expect(await get(`http://${PUBLIC}:${port}/3`, { redirects: 3 })).toMatchObject({
    status: 200,
    url: `http://${PUBLIC}:${port}/0`,
    body: Buffer.from("there"),
  });
  requests.length = 0;
  expect(await get(`http://${PUBLIC}:${port}/4`, { redirects: 3 })).toBe("redirect_refused");
  expect(requests).toHaveLength(4);
  expect(await get(`http://${PUBLIC}:${port}/1`, { redirects: 0 })).toBe("redirect_refused");
});

test("a redirect loop is refused", async () => {
  const { port } = await serve((_request, response) =>
    response.writeHead(301, { location: "/" }).end(),
  );
  expect(await get(`http://${PUBLIC}:${port}/`, { redirects: 3 })).toBe("redirect_refused");
});

test.each([
  ["http://127.0.0.2/", "address_not_allowed"],
  ["http://169.254.169.254/latest/meta-data/", "address_not_allowed"],
  ["http://2130706434/", "address_not_allowed"],
  ["//[::1]/", "address_not_allowed"],
  ["\\\\127.0.0.2\\", "address_not_allowed"],
  ["http://localhost/", "address_not_allowed"],
  ["http://private.example.com/", "address_not_allowed"],
  ["file:///etc/passwd", "redirect_refused"],
  ["ftp://example.com/", "redirect_refused"],
  ["data:text/plain,hello", "redirect_refused"],
  ["http://user:secret@example.com/", "redirect_refused"],
  ["http://[", "redirect_refused"],
])("a redirect to %s is refused", async (location, failure) => {
  const { port } = await serve((_request, response) => response.writeHead(302, { location }).end());
  const options = { resolve: dns({ "private.example.com": [PRIVATE] }) };
  expect(await get(`http://${PUBLIC}:${port}/`, { redirects: 3 }, options)).toBe(failure);
});

test("a redirect without exactly one Location header is refused", async () => {
  const none = await serve((_request, response) => response.writeHead(302).end());
  expect(await get(`http://${PUBLIC}:${none.port}/`, { redirects: 3 })).toBe("redirect_refused");
  const two = await serveRaw((socket) =>
    socket.end("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\n\r\n"),
  );
  expect(await get(`http://${PUBLIC}:${two}/`, { redirects: 3 })).toBe("redirect_refused");
});

test("a redirect keeps the caller's headers on the same origin and drops them for another origin", async () => {
  const other = await serve((_request, response) => response.end());
  const { port, requests } = await serve((request, response) => {
    const location = request.url === "/" ? "/same" : `http://${PUBLIC}:${other.port}/`;
    response.writeHead(302, { location, "set-cookie": "a=b" }).end();
  });
  const headers = { authorization: "Bearer secret", "x-secret": "secret" };
  await get(`http://${PUBLIC}:${port}/`, { redirects: 3, headers });
  expect(requests[1]?.headers).toMatchObject(headers);
  expect(other.requests[0]?.headers).not.toHaveProperty("authorization");
  expect(other.requests[0]?.headers).not.toHaveProperty("x-secret");
  expect(other.requests[0]?.headers).not.toHaveProperty("cookie");
});

test("a redirect does not extend the deadline", async () => {
  const { port } = await serve((_request, response) => {
    setTimeout(() => response.writeHead(302, { location: "/" }).end(), 60);
  });
  const url = `http://${PUBLIC}:${port}/`;
  expect(await get(url, { redirects: 20, totalMs: 200 })).toBe("timed_out");
});

const { key, certificate } = selfSignedCertificate("files.example.com");
const resolve = dns({ "files.example.com": [PUBLIC], "other.example.com": [PUBLIC] });

async function serveTls(listener: RequestListener): Promise<number> {
  return await listen(createTlsServer({ key, cert: certificate }, listener));
}

test("TLS verifies that the server's certificate matches its host name, not its address", async () => {
  const port = await serveTls((_request, response) => response.end("secret"));
  const options = { resolve, ca: certificate };
  expect(await get(`https://files.example.com:${port}/`, {}, options)).toMatchObject({
    status: 200,
  });
  expect(await get(`https://other.example.com:${port}/`, {}, options)).toBe("unreachable");
  expect(await get(`https://${PUBLIC}:${port}/`, {}, options)).toBe("unreachable");
});

test("an untrusted certificate is refused, even if NODE_TLS_REJECT_UNAUTHORIZED turns certificate checks off", async () => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const port = await serveTls((_request, response) => response.end("secret"));
  expect(await get(`https://files.example.com:${port}/`, {}, { resolve })).toBe("unreachable");
});

test("a redirect from https to http is refused", async () => {
  const plain = await serve((_request, response) => response.end());
  const location = `http://${PUBLIC}:${plain.port}/`;
  const port = await serveTls((_request, response) => response.writeHead(302, { location }).end());
  const options = { resolve, ca: certificate };
  const url = `https://files.example.com:${port}/`;
  expect(await get(url, { redirects: 3 }, options)).toBe("redirect_refused");
  expect(plain.requests).toHaveLength(0);
});

test("an outbound request whose server never begins the TLS handshake fails after the connect timeout", async () => {
  const port = await serveRaw(() => undefined);
  expect(await get(`https://${PUBLIC}:${port}/`, { connectMs: 50 })).toBe("unreachable");
});

test("an outbound request whose server never begins the TLS handshake is aborted at the deadline, and when the caller's signal aborts", async () => {
  let closed = 0;
  const port = await serveRaw((socket) => socket.on("close", () => (closed += 1)));
  const url = `https://${PUBLIC}:${port}/`;
  const started = performance.now();
  expect(await get(url, { totalMs: 100 })).toBe("timed_out");
  await expect(get(url, { signal: AbortSignal.timeout(100) })).rejects.toThrow("timeout");
  expect(performance.now() - started).toBeLessThan(2000);
  await eventually(() => closed === 2);
});

test("a TLS connection to a port without TLS fails", async () => {
  const { port } = await serve((_request, response) => response.end());
  expect(await get(`https://${PUBLIC}:${port}/`)).toBe("unreachable");
});

const at = (port: number) => `http://${PUBLIC}:${port}/`;

test("reading a response body that arrives byte by byte is aborted at the deadline", async () => {
  const port = await serveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(drip));
  });
  expect(await get(at(port), { totalMs: 200 })).toBe("timed_out");
});

test("reading response headers that arrive byte by byte is aborted at the deadline", async () => {
  const port = await serveRaw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(drip));
  });
  expect(await get(at(port), { totalMs: 200 })).toBe("timed_out");
});

test("reading endless informational (1xx) responses is aborted at the deadline", async () => {
  const port = await serveRaw((socket) => {
    const drip = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 10);
    socket.on("close", () => clearInterval(drip));
  });
  expect(await get(at(port), { totalMs: 200 })).toBe("timed_out");
});

test("reading an endless response body is aborted at the maximum size", async () => {
  let sent = 0;
  const { port } = await serve((_request, response) => {
    const flood = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024;
    };
    response.on("drain", flood).on("error", () => undefined);
    flood();
  });
  expect(await get(at(port), { maxBytes: 1_000_000 })).toBe("too_large");
  expect(sent).toBeLessThan(50_000_000);
});

test("a response body of exactly the maximum size is accepted", async () => {
  const { port } = await serve((_request, response) => response.end("12345"));
  expect(await get(at(port), { maxBytes: 5 })).toMatchObject({ body: Buffer.from("12345") });
  expect(await get(at(port), { maxBytes: 4 })).toBe("too_large");
});

test("a compressed response body is returned without decompression", async () => {
  const packed = gzipSync(Buffer.alloc(1_000_000));
  const { port } = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(packed),
  );
  expect(await get(at(port))).toMatchObject({
    headers: { "content-encoding": "gzip" },
    body: packed,
  });
});

test.each([
  ["with huge headers", `HTTP/1.1 200 OK\r\nX-Huge: ${"x".repeat(20_000)}\r\n\r\n`],
  ["with many headers", `HTTP/1.1 200 OK\r\n${"X-A: aaaaaaaaaa\r\n".repeat(2000)}\r\n`],
  ["that is not HTTP", "220 mail.example.com ESMTP\r\n"],
  ["that is empty", ""],
  ["that ends inside of its headers", "HTTP/1.1 200 OK\r\nContent-"],
  ["that ends before its announced length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"],
  [
    "that ends between chunks",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
  ],
  [
    "with two Content-Length headers",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12",
  ],
  ["that changes the protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"],
])("a response %s is refused as broken", async (_name, text) => {
  const port = await serveRaw((socket) => socket.end(text, "latin1"));
  expect(await get(at(port))).toBe("broken");
});

test("a response that ends with a connection reset is refused as broken", async () => {
  const port = await serveRaw((socket) => socket.resetAndDestroy());
  expect(await get(at(port))).toBe("broken");
});

test("a server that no longer accepts connections is reported as unreachable", async () => {
  const { port } = await serve(() => undefined);
  const [server] = open.splice(0);
  server?.close();
  expect(await get(at(port))).toBe("unreachable");
});

test("an aborted outbound request fails with the reason of the caller's signal, and its connection closes", async () => {
  const { port, requests } = await serve(() => undefined);
  const controller = new AbortController();
  const asked = get(`http://${PUBLIC}:${port}/`, { signal: controller.signal });
  await eventually(() => requests.length === 1);
  controller.abort(new RangeError("enough"));
  await expect(asked).rejects.toThrow(RangeError);
  await eventually(() => requests[0]?.socket.destroyed === true);
});

test("disposing of an unread response closes its connection", async () => {
  const { port, requests } = await serve((_request, response) =>
    response.write(Buffer.alloc(100_000)),
  );
  const client = new OutboundClient({ allow });
  const answer = await client.send({
    method: "GET",
    url: `http://${PUBLIC}:${port}/`,
    totalMs: 60_000,
  });
  await answer[Symbol.asyncDispose]();
  await eventually(() => requests[0]?.socket.destroyed === true);
});

test("requests to a private address and to a closed port fail with the same message, which contains no address", async () => {
  const messages = new Set<string>();
  const client = new OutboundClient({ allow, resolve: dns({ "private.example.com": [PRIVATE] }) });
  for (const url of [
    "http://private.example.com/",
    `http://${PUBLIC}:1/`,
    "http://gone.example.com/",
  ]) {
    const sent = client.send({ method: "GET", url, totalMs: 5000 });
    const error: unknown = await sent.catch((reason: unknown) => reason);
    if (error instanceof OutboundError) messages.add(error.message);
  }
  expect([...messages]).toEqual(["the address cannot be reached"]);
});

test("the private address in the outbound client's tests accepts connections, so a refusal in these tests is the client's", async () => {
  const { port } = await serve((_request, response) => response.end(), PRIVATE);
  const socket = connect(port, PRIVATE);
  await once(socket, "connect");
  socket.destroy();
});

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A fault that the proxy applies to the next call of an API method: the proxy discards the server's
 * answer, or it answers 502 and does not forward the call.
 */
interface Fault {
  readonly method: string;
  readonly mode: "lose_answer" | "bad_gateway";
}

/**
 * A call that the proxy received: its API method, for example `com.atproto.repo.putRecord`, and the
 * HTTP status of the answer.
 */
interface Call {
  readonly method: string;
  readonly status: number;
  readonly body: Buffer;
}

async function readAll(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * A proxy in front of a Bluesky server (PDS) that counts calls and can discard answers. It also
 * replaces Bluesky's video service: it stores an uploaded video in the account's repository with
 * the token of the upload request.
 */
export class PdsProxy implements AsyncDisposable {
  readonly url: string;
  readonly calls: Call[] = [];
  /**
   * URL of the Bluesky server (PDS). It is set after the proxy has started, because the PDS needs
   * the URL of the proxy when it starts.
   */
  target = "";
  readonly #faults: Fault[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    // Only the host name `localhost` may have a port in a DID (decentralized identifier).
    this.url = `http://localhost:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<PdsProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    return new PdsProxy(server);
  }

  addFault(method: string, mode: Fault["mode"]): void {
    this.#faults.push({ method, mode });
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.url);
    const method = url.pathname.replace("/xrpc/", "");
    const body = await readAll(request);
    const index = this.#faults.findIndex((fault) => fault.method === method);
    const [fault] = index === -1 ? [] : this.#faults.splice(index, 1);
    if (fault?.mode === "bad_gateway") {
      this.calls.push({ method, status: 502, body });
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
      return;
    }
    const isVideo = method === "app.bsky.video.uploadVideo";
    const sent = isVideo ? "/xrpc/com.atproto.repo.uploadBlob" : `${url.pathname}${url.search}`;
    const answer = await fetch(this.target + sent, {
      method: request.method ?? "GET",
      headers: Object.fromEntries(
        ["authorization", "content-type"].flatMap((name) => {
          const value = request.headers[name];
          return typeof value === "string" ? [[name, value]] : [];
        }),
      ),
      ...(request.method === "POST" ? { body } : {}),
    });
    const text = await answer.text();
    this.calls.push({ method, status: answer.status, body });
    if (fault !== undefined) {
      request.socket.destroy();
      return;
    }
    const type = answer.headers.get("content-type") ?? "application/json";
    response.writeHead(answer.status, { "content-type": type });
    response.end(isVideo && answer.ok ? toJob(text) : text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function toJob(uploaded: string): string {
  const { blob } = JSON.parse(uploaded) as { blob: unknown };
  const jobStatus = { jobId: "one", did: "did:plc:any", state: "JOB_STATE_COMPLETED", blob };
  return JSON.stringify({ jobStatus });
}

import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient, type Client, type FileData } from "../src/client.ts";

interface Received {
  readonly request: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const BYTES = new Uint8Array(300_000).map((_, index) => index % 251);
const MEDIA = { id: "m", status: "ready" };

let server: Server;
let client: Client;
let received: Received[];
/**
 * The answer to each PUT request: an HTTP status, or `cut` for a connection that breaks after the
 * last byte.
 */
let puts: (number | "cut")[];

beforeAll(async () => {
  server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const name = `${request.method} ${request.url}`;
      received.push({ request: name, headers: request.headers, body });
      const answer = (status: number, value: object): void => {
        response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
        response.end(JSON.stringify(value));
      };
      if (name.endsWith("/presign")) {
        const uploadUrl = `http://${request.headers.host}/upload`;
        answer(201, { id: "m", uploadUrl });
      } else if (name.endsWith("/complete")) answer(200, MEDIA);
      else answerPut(puts.shift() ?? 204, request.socket, answer);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "key" });
});
afterAll(() => server.close());
beforeEach(() => {
  received = [];
  puts = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function answerPut(
  status: number | "cut",
  socket: { destroy(): void },
  answer: (status: number, value: object) => void,
): void {
  const codes: Readonly<Record<number, string>> = { 409: "upload_already_received" };
  if (status === "cut") socket.destroy();
  else answer(status, { error: { code: codes[status] ?? "unavailable", message: "" } });
}

const requests = (): readonly string[] => received.map(({ request }) => request);
const sentFiles = () => received.filter(({ request }) => request === "PUT /upload");

const blob = new Blob([BYTES], { type: "video/mp4" });
const KINDS: readonly (readonly [string, () => FileData])[] = [
  ["bytes", () => BYTES],
  ["an ArrayBuffer", () => BYTES.buffer],
  ["a Blob", () => blob],
  ["a web stream", () => blob.stream()],
  ["a Node stream", () => Readable.from([BYTES.subarray(0, 10), BYTES.subarray(10)])],
];

describe("files of every kind:", () => {
  test.each(KINDS)(
    "for a file that is %s, the client asks for an upload URL, sends the file with its length, and completes the upload",
    async (_, data) => {
      const options = { fileName: "a.MP4", bytes: BYTES.length };
      expect(await client.uploadFile(data(), options)).toEqual(MEDIA);
      expect(requests()).toEqual([
        "POST /api/v1/media/presign",
        "PUT /upload",
        "POST /api/v1/media/m/complete",
      ]);
      const declared: unknown = JSON.parse(String(received[0]?.body));
      expect(declared).toEqual({
        fileName: "a.MP4",
        contentType: "video/mp4",
        bytes: BYTES.length,
      });
      const [file] = sentFiles();
      expect(file?.headers).toMatchObject({
        "content-type": "video/mp4",
        "content-length": String(BYTES.length),
      });
      // The upload URL itself is the permission to upload; the API key must not be sent to an
      // object store.
      expect(file?.headers).not.toHaveProperty("authorization");
      expect(file?.body.equals(BYTES)).toBe(true);
    },
  );

  test("the client uses the name and the media type of a File object", async () => {
    await client.uploadFile(new File([BYTES], "picture.png", { type: "image/png" }));
    const declared: unknown = JSON.parse(String(received[0]?.body));
    expect(declared).toMatchObject({ fileName: "picture.png", contentType: "image/png" });
  });

  test.each([
    ["fileName", new Uint8Array(1), {}],
    ["contentType", new Uint8Array(1), { fileName: "file" }],
    ["bytes", blob.stream(), { fileName: "video.mp4" }],
  ])(
    "a file whose %s is not known is refused before anything is sent",
    async (name, data, facts) => {
      await expect(client.uploadFile(data, facts)).rejects.toThrow(`\`${name}\` of the file`);
      expect(received).toEqual([]);
    },
  );
});

describe("progress:", () => {
  test("an upload reports how many bytes are sent, up to all of them", async () => {
    const seen: number[] = [];
    await client.uploadFile(blob, {
      fileName: "video.mp4",
      onProgress: ({ sentBytes, totalBytes }) => {
        expect(totalBytes).toBe(BYTES.length);
        seen.push(sentBytes);
      },
    });
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toBe(BYTES.length);
    expect(sentFiles()[0]?.headers["content-length"]).toBe(String(BYTES.length));
  });

  test("Deno, which sends streams without a length, sends a Blob as a whole and reports its progress at the end", async () => {
    vi.stubGlobal("Deno", {});
    const seen: unknown[] = [];
    const onProgress = (progress: unknown): void => void seen.push(progress);
    await client.uploadFile(blob, { fileName: "video.mp4", onProgress });
    expect(seen).toEqual([{ sentBytes: BYTES.length, totalBytes: BYTES.length }]);
    expect(sentFiles()[0]?.headers["content-length"]).toBe(String(BYTES.length));
  });

  test("in a browser a file is sent by XMLHttpRequest, which reports the progress", async () => {
    const sent: unknown[] = [];
    class BrowserRequest extends EventTarget {
      readonly upload = new EventTarget();
      readonly status = 204;
      readonly responseText = "";
      open(...values: readonly string[]): void {
        sent.push(values);
      }
      setRequestHeader(...values: readonly string[]): void {
        sent.push(values);
      }
      getResponseHeader(): null {
        return null;
      }
      abort(): void {
        this.dispatchEvent(new Event("abort"));
      }
      send(body: Blob): void {
        this.upload.dispatchEvent(Object.assign(new Event("progress"), { loaded: body.size }));
        this.dispatchEvent(new Event("load"));
      }
    }
    vi.stubGlobal("XMLHttpRequest", BrowserRequest);
    const seen: unknown[] = [];
    const onProgress = (progress: unknown): void => void seen.push(progress);
    await client.uploadFile(blob.stream(), { fileName: "v.mp4", bytes: BYTES.length, onProgress });
    expect(seen).toEqual([{ sentBytes: BYTES.length, totalBytes: BYTES.length }]);
    const url = expect.stringMatching(/\/upload$/) as unknown;
    expect(sent).toEqual([
      ["PUT", url],
      ["content-type", "video/mp4"],
    ]);
  });
});

describe("interrupted uploads:", () => {
  test("an upload that fails for a short time is sent again", async () => {
    puts = [503, "cut", 204];
    expect(await client.uploadFile(blob, { fileName: "video.mp4" })).toEqual(MEDIA);
    expect(sentFiles().map(({ body }) => body.length)).toEqual(Array(3).fill(BYTES.length));
  });

  test("an upload whose answer was lost succeeds when its repetition is refused because the file has been received", async () => {
    puts = ["cut", 409];
    expect(await client.uploadFile(blob, { fileName: "video.mp4" })).toEqual(MEDIA);
    expect(requests().at(-1)).toBe("POST /api/v1/media/m/complete");
  });

  test("a stream, which can be read once, is not sent again", async () => {
    puts = [503];
    const options = { fileName: "video.mp4", bytes: BYTES.length };
    await expect(client.uploadFile(blob.stream(), options)).rejects.toMatchObject({ status: 503 });
    expect(requests()).toEqual(["POST /api/v1/media/presign", "PUT /upload"]);
  });

  test("aborting the signal ends an upload", async () => {
    const controller = new AbortController();
    const onProgress = (): void => controller.abort(new Error("cancelled by the user"));
    const options = { fileName: "video.mp4", onProgress, signal: controller.signal };
    await expect(client.uploadFile(blob, options)).rejects.toThrow("cancelled by the user");
    expect(requests()).not.toContain("POST /api/v1/media/m/complete");
  });
});

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, describe, expect, test } from "vitest";
import { callPlatform } from "./call-platform.ts";
import { limitForeignHosts } from "./foreign-hosts.ts";
import { multipartBody } from "./multipart.ts";
import { bytesBody, type ByteSource, formBody, jsonBody } from "./platform-request.ts";
import { sendOnce } from "./send-once.ts";

const MB = 1024 * 1024;
const signal = new AbortController().signal;
const guard = { mayStillSend: () => true, timeoutMs: 5000 };

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

async function open(made: Server): Promise<string> {
  server = made;
  made.on("connection", (socket: Socket) => sockets.add(socket));
  const { promise, resolve } = Promise.withResolvers<void>();
  made.listen(0, "127.0.0.1", resolve);
  await promise;
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/upload`;
}

const serve = (
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
) => open(createServer((request, response) => void handle(request, response)));

/** Starts a server that answers with the headers and the body of the request that it received. */
async function echo(): Promise<string> {
  return await serve(async (request, response) => {
    const body = await new Response(request).text();
    response.end(JSON.stringify({ headers: request.headers, body }));
  });
}

function source(
  chunks: readonly string[],
  bytes = chunks.join("").length,
  failure?: Error,
): ByteSource {
  return {
    bytes,
    read: async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
      if (failure !== undefined) throw failure;
    },
  };
}

describe("request bodies", () => {
  test.each([
    ["a JSON body", jsonBody({ a: "ü" }), "application/json", '{"a":"ü"}'],
    [
      "a form body",
      formBody({ a: "b c", d: "&" }),
      "application/x-www-form-urlencoded",
      "a=b+c&d=%26",
    ],
    ["a body of bytes", bytesBody("video/mp4", source(["one", "two"])), "video/mp4", "onetwo"],
  ])(
    "a platform request sends %s completely, with its exact length in content-length",
    async (_name, body, contentType, text) => {
      const url = await echo();
      const call = { method: "POST", url, body } as const;
      for (const answer of [await callPlatform(call, signal), await sendOnce(call, guard)])
        expect(answer).toMatchObject({
          json: {
            headers: {
              "content-type": contentType,
              "content-length": String(Buffer.byteLength(text)),
            },
            body: text,
          },
        });
    },
  );

  test("a multipart request body with files is parsed correctly by another implementation of multipart forms", async () => {
    const url = await serve(async (request, response) => {
      const { "content-type": type = "", "content-length": length } = request.headers;
      const bytes = await new Response(request).arrayBuffer();
      // oxlint-disable-next-line no-deprecated -- A test of small forms: any other implementation will do.
      const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
      const file = form.get('me"dia\n') as File;
      const content = await file.text();
      const { name } = file;
      const isExact = bytes.byteLength === Number(length);
      response.end(
        JSON.stringify({ text: form.get("text"), name, type: file.type, content, isExact }),
      );
    });
    const body = multipartBody([
      { name: "text", value: "ünï\r\n--postrider" },
      {
        name: 'me"dia\n',
        fileName: 'a"b\r\nc: d.jpg',
        contentType: "image/jpeg",
        source: source(["ab", "cd"]),
      },
    ]);
    expect(await callPlatform({ method: "POST", url, body }, signal)).toMatchObject({
      json: {
        text: "ünï\r\n--postrider",
        name: 'a"b\r\nc: d.jpg',
        type: "image/jpeg",
        content: "abcd",
        isExact: true,
      },
    });
  });

  test("a request body of 100 MB is read from its source only as fast as the server receives it, and is never held in memory", async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const total = 100 * MB;
    const chunk = Buffer.alloc(64 * 1024);
    let [produced, received, mostHeld] = [0, 0, 0];
    const url = await serve(async (request, response) => {
      await isReleased;
      for await (const part of request) received += (part as Buffer).length;
      response.end(JSON.stringify({ size: received }));
    });
    const read = async function* () {
      for (; produced < total; produced += chunk.length) {
        mostHeld = Math.max(mostHeld, produced - received);
        yield chunk;
      }
    };
    const body = bytesBody("video/mp4", { bytes: total, read });
    const answer = callPlatform({ method: "POST", url, body }, signal);
    // The body's source is read only until the socket buffers of the two processes are full,
    // however long the server does not read.
    let seen = 0;
    await eventually(() => {
      const isHeldBack = produced > 0 && produced === seen;
      seen = produced;
      return isHeldBack;
    });

    release();

    expect(await answer).toMatchObject({ json: { size: total } });
    expect(mostHeld).toBeLessThan(20 * MB);
  });
});

describe("request bodies whose source fails", () => {
  const broken = new Error("media is gone");

  test("callPlatform throws the error of a body source that fails before or after its first byte", async () => {
    const url = await echo();
    for (const chunks of [[], ["some"]]) {
      const body = bytesBody("video/mp4", source(chunks, 1000, broken));
      await expect(callPlatform({ method: "POST", url, body }, signal)).rejects.toBe(broken);
    }
  });

  test.each([
    ["more", source(["too", "long"], 4)],
    ["fewer", source(["short"], 400)],
  ])(
    "callPlatform throws when a body source yields %s bytes than it declared",
    async (_name, content) => {
      const url = await echo();
      const body = bytesBody("video/mp4", content);
      await expect(callPlatform({ method: "POST", url, body }, signal)).rejects.toThrow(
        /source is/,
      );
    },
  );

  test("sendOnce sends no request when the body source fails before its first byte", async () => {
    let received = 0;
    const url = await open(
      createTcpServer((socket) => socket.on("data", ({ length }) => (received += length))),
    );
    const body = bytesBody("video/mp4", source([], 1000, broken));
    expect(await sendOnce({ method: "POST", url, body }, guard)).toMatchObject({
      kind: "not_connected",
    });
    expect(received).toBe(0);
  });

  test("sendOnce reports an incomplete request when the body source fails after its first byte", async () => {
    const url = await echo();
    const body = bytesBody("video/mp4", source(["some"], 1000, broken));
    expect(await sendOnce({ method: "POST", url, body }, guard)).toMatchObject({
      kind: "no_answer",
      isComplete: false,
    });
  });
});

describe("publishing calls with a streamed body", () => {
  test("sendOnce reports that the whole request was sent when the connection breaks after the last byte", async () => {
    const url = await serve((request) => {
      request.on("end", () => request.socket.destroy());
      request.resume();
    });
    const body = bytesBody("video/mp4", source(["all of it"]));
    expect(await sendOnce({ method: "POST", url, body }, guard)).toMatchObject({
      kind: "no_answer",
      isComplete: true,
    });
  });

  test("sendOnce sends no request when `mayStillSend` returns false after the first bytes of the body were read", async () => {
    let received = 0;
    const url = await open(
      createTcpServer((socket) => socket.on("data", ({ length }) => (received += length))),
    );
    let isFresh = true;
    const read = async function* () {
      isFresh = false;
      yield Buffer.from("late");
    };
    const body = bytesBody("video/mp4", { bytes: 4, read });
    expect(
      await sendOnce({ method: "POST", url, body }, { ...guard, mayStillSend: () => isFresh }),
    ).toEqual({ kind: "not_sent" });
    expect(received).toBe(0);
  });

  test("sendOnce returns a refusal that arrives before the whole body is sent", async () => {
    const url = await serve((request, response) => {
      request.resume();
      response.writeHead(413).end('{"title":"too large"}');
    });
    const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
    const read = async function* () {
      yield Buffer.alloc(MB);
      await isAnswered;
      yield Buffer.alloc(MB);
    };
    const body = bytesBody("video/mp4", { bytes: 2 * MB, read });
    const refusal = { kind: "answer", status: 413, json: { title: "too large" } };
    expect(await sendOnce({ method: "POST", url, body }, guard)).toMatchObject(refusal);
    expect(await callPlatform({ method: "POST", url, body }, signal)).toMatchObject(refusal);
    answered();
  });
});

describe("answers to calls", () => {
  const answering = (text: string) =>
    serve((_request, response) => {
      response.end(text);
    });

  test("an answer of a host that an account's owner chose may have 256 KB, and of any other host 1 MB", async () => {
    let bytes = 0;
    const url = await serve((_request, response) => {
      response.end(JSON.stringify({ text: "x".repeat(bytes) }));
    });
    limitForeignHosts({ allow: [{ address: "127.0.0.1", fromPort: 1, toPort: 65_535 }] });
    const kinds = async (isForeign: boolean) => {
      const call = { method: "POST", url, isForeign } as const;
      return [(await callPlatform(call, signal)).kind, (await sendOnce(call, guard)).kind];
    };
    bytes = 250 * 1024;
    expect(await kinds(true)).toEqual(["answer", "answer"]);
    bytes = 260 * 1024;
    expect(await kinds(true)).toEqual(["no_answer", "no_answer"]);
    expect(await kinds(false)).toEqual(["answer", "answer"]);
    bytes = MB;
    expect(await kinds(false)).toEqual(["no_answer", "no_answer"]);
    limitForeignHosts({ allow: [] });
  });

  test("callPlatform keeps all digits of integers that are too large for JavaScript numbers", async () => {
    const url = await answering('{"id":7380000000000000123,"n":12,"f":1.5,"x":[9007199254740993]}');
    expect(await callPlatform({ method: "GET", url }, signal)).toMatchObject({
      json: { id: "7380000000000000123", n: 12, f: 1.5, x: ["9007199254740993"] },
    });
  });

  test("callPlatform redacts the secrets of a request in its answer", async () => {
    const url = await answering('{"detail":"bad token secret-token-1 for bot secret-token-2"}');
    const call = {
      method: "GET",
      url,
      headers: { authorization: "Bearer secret-token-1" },
      secrets: ["secret-token-2"],
    } as const;
    const json = { detail: "bad token *** for bot ***" };
    expect(await callPlatform(call, signal)).toMatchObject({ json });
    expect(await sendOnce(call, guard)).toMatchObject({ json });
  });

  test("a platform answer that exceeds the size limit counts as no answer", async () => {
    const url = await serve((_request, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(64 * 1024)));
        response.once("drain", more);
      };
      more();
    });
    expect(await callPlatform({ method: "GET", url }, signal)).toMatchObject({ kind: "no_answer" });
    expect(await sendOnce({ method: "GET", url }, guard)).toMatchObject({ kind: "no_answer" });
  });
});

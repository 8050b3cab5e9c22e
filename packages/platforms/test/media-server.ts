import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";
import { TestMedia } from "./test-media.ts";

/**
 * Creates a file whose bytes begin like a JPEG of 1080 x 1080 pixels; each `nonce` gives a
 * different file.
 */
export function jpegMedia(nonce: number): TestMedia {
  const head = Buffer.from("ffd8ffe000044a46ffc0000b080438043801011100ffd9", "hex");
  const content = Buffer.concat([head, Buffer.from(String(nonce))]);
  return new TestMedia(`jpeg-${nonce}`, "image/jpeg", content);
}

/** Starts a server of media files for all tests of the calling file. */
export async function startMediaServer(): Promise<MediaServer> {
  const server = await MediaServer.start();
  afterAll(() => server[Symbol.asyncDispose]());
  return server;
}

/** Serves media files at public URLs, as the gateway does. */
export class MediaServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #files = new Map<string, TestMedia>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const media = this.#files.get(request.url ?? "");
      const type = media?.contentType ?? "application/json";
      response.writeHead(media === undefined ? 404 : 200, { "content-type": type });
      response.end(media?.content);
    });
  }

  static async start(): Promise<MediaServer> {
    const made = new MediaServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    made.#server.listen(0, "127.0.0.1", resolve);
    await promise;
    return made;
  }

  /** Serves the media file at a public URL and stores the URL in the file. */
  serve(media: TestMedia): TestMedia {
    const path = `/media/${media.id}`;
    this.#files.set(path, media);
    const { port } = this.#server.address() as AddressInfo;
    media.url = `http://127.0.0.1:${port}${path}`;
    return media;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }
}

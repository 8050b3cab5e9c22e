import { createReadStream } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { pipeline } from "node:stream/promises";
import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import { createIdentitySource } from "@postrider/shared/identity/token-source";
import type { ServiceName, Settings } from "#src/config.ts";
import { NotRunningError } from "#src/failures.ts";

/** Time limit of one RPC in milliseconds. The longest RPC connects 1,000 simulated accounts. */
const TIMEOUT_MS = 110_000;

const REMEDY =
  "start Postrider (npm start, or npm run serve), set POSTRIDER_DATA_DIR if its data folder is not the default one, or set IDENTITY_KEYS and ACCOUNTS_URL, POSTS_URL, MEDIA_SERVICE_URL and DELIVERY_URL";

export class Services implements AsyncDisposable {
  readonly #settings: Settings;
  readonly #peers = new Map<ServiceName, Peer>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Returns the RPC client of a service.
   *
   * @throws NotRunningError when the address or the secret of the service is unknown.
   */
  client<T extends DescService>(name: ServiceName, service: T): Client<T> {
    return this.#connect(name).client(service);
  }

  /** Sends a file to a route outside of RPC. Returns the HTTP status. */
  async putFile(
    name: ServiceName,
    path: string,
    file: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  ): Promise<number> {
    this.#connect(name);
    const { identity, urls } = this.#settings;
    if (identity === undefined) throw new NotRunningError(REMEDY);
    const headers = { ...file.headers, ...(await createIdentitySource(identity, name)()) };
    return await putFile(new URL(path, urls[name]), { ...file, headers, ca: identity.ca });
  }

  describeCalled(): string {
    const called = [...this.#peers.keys()].map((name) => `${name} at ${this.#settings.urls[name]}`);
    return called.length === 0 ? "no service" : called.join(", ");
  }

  #connect(name: ServiceName): Peer {
    const known = this.#peers.get(name);
    if (known !== undefined) return known;
    const { identity, urls } = this.#settings;
    const baseUrl = urls[name];
    if (baseUrl === undefined)
      throw new NotRunningError(`the address of ${name} is unknown; ${REMEDY}`);
    if (identity === undefined)
      throw new NotRunningError(`IDENTITY_KEYS is missing or not a list of keys; ${REMEDY}`);
    const peer = connectPeer({ service: name, baseUrl, identity, timeoutMs: TIMEOUT_MS });
    this.#peers.set(name, peer);
    return peer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#peers.values()].map((peer) => peer[Symbol.asyncDispose]()));
  }
}

interface FileToPut {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM of the authority of the server's certificate; undefined = the public ones. */
  readonly ca?: string | undefined;
}

/** Streams the file. Returns the HTTP status of the answer, which may come before its end. */
async function putFile(url: URL, { path, headers, ca }: FileToPut): Promise<number> {
  const { request } = url.protocol === "https:" ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { method: "PUT", headers, ...(ca === undefined ? {} : { ca }) });
  sent.once("response", (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  sent.once("error", reject);
  await pipeline(createReadStream(path), sent).catch(reject);
  return await promise;
}

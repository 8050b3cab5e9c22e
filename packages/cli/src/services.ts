import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import type { ServiceName, Settings } from "#src/config.ts";
import { NotRunningError } from "#src/failures.ts";

/** A thousand accounts are connected in one call. */
const TIMEOUT_MS = 110_000;

const HOW =
  "start the stack with npm start, or set INTERNAL_SECRET and ACCOUNTS_URL, POSTS_URL, MEDIA_SERVICE_URL and DELIVERY_URL";

/** The services, each connected when it is asked first. */
export class Services implements AsyncDisposable {
  readonly #settings: Settings;
  readonly #peers = new Map<ServiceName, Peer>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** @throws NotRunningError when nobody told us where the service is. */
  client<T extends DescService>(name: ServiceName, service: T): Client<T> {
    return this.#connect(name).client(service);
  }

  /** Those asked so far, in words. */
  describeAsked(): string {
    const asked = [...this.#peers.keys()].map((name) => `${name} at ${this.#settings.urls[name]}`);
    return asked.length === 0 ? "nobody" : asked.join(", ");
  }

  #connect(name: ServiceName): Peer {
    const known = this.#peers.get(name);
    if (known !== undefined) return known;
    const { internalSecret, urls } = this.#settings;
    const baseUrl = urls[name];
    if (baseUrl === undefined) throw new NotRunningError(`no ${name} service is running: ${HOW}`);
    if (internalSecret === undefined)
      throw new NotRunningError(`INTERNAL_SECRET is unknown: ${HOW}`);
    const peer = connectPeer({ baseUrl, internalSecret, timeoutMs: TIMEOUT_MS });
    this.#peers.set(name, peer);
    return peer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#peers.values()].map((peer) => peer[Symbol.asyncDispose]()));
  }
}

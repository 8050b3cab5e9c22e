import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { createPublicConnector } from "@postrider/shared/http/public-connector";
import type { ResolveName } from "@postrider/shared/http/resolver";
import { Client } from "undici";
import { toConnectFailure } from "./exchange.ts";

const CONNECT_MS = 5_000;
/** Beyond it, the connection that has been idle for longest is closed. */
const MAX_IDLE = 512;
/** Less than the 5 s after which Node's servers close an idle connection. */
const KEEP_ALIVE_MS = 4_000;
/** Larger headers make the attempt fail. */
const MAX_HEADER_BYTES = 16 * 1024;

export interface ConnectionOptions {
  readonly rules: OutboundRules;
  readonly connectMs?: number;
  readonly resolve?: ResolveName;
  /** Certificate authorities in PEM, which replace the authorities that Node trusts. */
  readonly ca?: string;
}

export interface Connection {
  readonly client: Client;
  /**
   * Whether an earlier attempt used the connection, so that the receiver may just be closing it.
   */
  readonly isReused: boolean;
}

/** Subscriptions never share connections, even to the same host. */
export interface ConnectionOwner {
  readonly subscriptionId: string;
  readonly origin: string;
}

function keyOf({ subscriptionId, origin }: ConnectionOwner): string {
  return `${subscriptionId} ${origin}`;
}

/**
 * A connection belongs to one attempt, and afterwards waits a few seconds for the next delivery of
 * the same subscription. Each connection checks the address of the receiver when it connects.
 */
export class ReceiverConnections implements AsyncDisposable {
  readonly #connect: ReturnType<typeof createPublicConnector>;
  /** Idle connections by owner; the last one was used last. */
  readonly #idle = new Map<string, Client[]>();
  /** Owners of idle connections, in the order in which these became idle. */
  readonly #order = new Map<Client, string>();
  readonly #open = new Set<Client>();

  constructor({ rules, ...options }: ConnectionOptions) {
    const connect = createPublicConnector({
      connectMs: CONNECT_MS,
      ...options,
      rules: () => rules,
    });
    this.#connect = (target, callback) =>
      connect(target, (error, socket) => {
        if (error === null) callback(null, socket);
        else callback(toConnectFailure(error), null);
      });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns an idle connection, or a new one that connects when it is used. */
  acquire(owner: ConnectionOwner): Connection {
    const client = this.#idle.get(keyOf(owner))?.at(-1);
    if (client === undefined) return this.acquireNew(owner);
    this.#forget(client);
    return { client, isReused: true };
  }

  acquireNew({ origin }: ConnectionOwner): Connection {
    const client = new Client(origin, {
      connect: this.#connect,
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // These timeouts of undici are off, because the deadline of the webhook attempt limits the
      // whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#open.add(client);
    client.on("disconnect", () => {
      if (this.#order.has(client)) this.close(client);
    });
    return { client, isReused: false };
  }

  release(owner: ConnectionOwner, client: Client): void {
    if (client.destroyed) return;
    const key = keyOf(owner);
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [client]);
    else idle.push(client);
    this.#order.set(client, key);
    const [oldest] = this.#order.keys();
    if (this.#order.size > MAX_IDLE && oldest !== undefined) this.close(oldest);
  }

  close(client: Client): void {
    this.#forget(client);
    this.#open.delete(client);
    void client.destroy();
  }

  #forget(client: Client): void {
    const key = this.#order.get(client);
    if (key === undefined) return;
    this.#order.delete(client);
    const others = (this.#idle.get(key) ?? []).filter((each) => each !== client);
    if (others.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, others);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((client) => client.destroy()));
    this.#open.clear();
    this.#idle.clear();
    this.#order.clear();
  }
}

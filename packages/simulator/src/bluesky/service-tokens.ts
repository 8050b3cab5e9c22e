import { randomUUID } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import type { Secrets } from "#src/world/secrets.ts";

export interface ServiceToken {
  readonly did: string;
  readonly aud: string;
  /** The only XRPC method that the token allows; null when it allows every method. */
  readonly lxm: string | null;
  readonly expiresAt: number;
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

export class ServiceTokens {
  readonly #rows: Table<ServiceToken>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#rows = store.table<ServiceToken>("bluesky.service_tokens", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issue(token: ServiceToken): string {
    const { did, aud, lxm, expiresAt } = token;
    const claims = { iss: did, aud, lxm, exp: Math.floor(expiresAt / 1000), jti: randomUUID() };
    const head = encode({ typ: "JWT", alg: "ES256K" });
    const text = `${head}.${encode(claims)}.${encode(randomUUID())}`;
    this.#rows.put(text, token);
    return this.#secrets.issue(text);
  }

  find(token: string): ServiceToken | undefined {
    return this.#rows.get(token);
  }
}

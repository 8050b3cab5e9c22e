import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { Store, Table } from "#src/store/store.ts";
import type { Secrets } from "#src/world/world.ts";

const ACCESS_LIFETIME_MS = 7_200_000;
const REFRESH_LIFETIME_MS = 90 * 86_400_000;
/** How long a Bluesky refresh token still works after it was exchanged for a new one. */
const ROTATION_GRACE_MS = 7_200_000;

interface Token {
  readonly kind: "access" | "refresh";
  readonly did: string;
  readonly session: string;
  readonly expiresAt: number;
  readonly revoked: boolean;
}

interface AppPassword {
  readonly name: string;
  readonly did: string;
}

interface SessionTokens {
  readonly accessJwt: string;
  readonly refreshJwt: string;
}

type TokenCheck =
  | { readonly did: string; readonly session: string }
  | "unknown"
  | "expired"
  | "revoked"
  | "wrong_scope";

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** The session tokens are real JWTs, so that clients can read their expiry. */
export class Sessions {
  readonly #tokens: Table<Token>;
  readonly #passwords: Table<AppPassword>;
  readonly #secrets: Secrets;
  readonly #signingKey = randomBytes(32);

  constructor(store: Store, secrets: Secrets) {
    this.#tokens = store.table<Token>("bluesky.tokens", { keptOnReset: true });
    this.#passwords = store.table<AppPassword>("bluesky.app_passwords", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issueAppPassword(did: string): string {
    const letters = [...randomBytes(16)].map(
      (byte) => "abcdefghijklmnopqrstuvwxyz234567"[byte & 31],
    );
    const password = letters.join("").replaceAll(/(.{4})(?=.)/g, "$1-");
    this.#passwords.put(password, { did, name: `simulated-${randomUUID().slice(0, 8)}` });
    return this.#secrets.issue(password);
  }

  isPassword(did: string, password: string): boolean {
    return this.#passwords.get(password)?.did === did;
  }

  passwordNames(did: string): string[] {
    return [...this.#passwords.values()].filter((row) => row.did === did).map((row) => row.name);
  }

  /**
   * Deletes a Bluesky app password. New logins with the password fail; existing sessions continue.
   */
  revokeAppPassword(did: string, name: string): void {
    for (const [key, row] of this.#passwords.entries())
      if (row.did === did && row.name === name) this.#passwords.delete(key);
  }

  create(did: string, now: number): SessionTokens {
    return this.#issue(did, randomUUID(), now);
  }

  check(token: string, kind: Token["kind"], now: number): TokenCheck {
    const row = this.#tokens.get(token);
    if (row === undefined) return "unknown";
    if (row.kind !== kind) return "wrong_scope";
    if (row.revoked) return "revoked";
    return now < row.expiresAt ? { did: row.did, session: row.session } : "expired";
  }

  ownerOf(token: string): string | undefined {
    return this.#tokens.get(token)?.did;
  }

  /** The old refresh token works until its grace period ends. */
  rotate(refreshJwt: string, now: number): SessionTokens | undefined {
    const row = this.#tokens.get(refreshJwt);
    if (row === undefined) return undefined;
    this.#tokens.put(refreshJwt, {
      ...row,
      expiresAt: Math.min(row.expiresAt, now + ROTATION_GRACE_MS),
    });
    return this.#issue(row.did, row.session, now);
  }

  /**
   * Revokes the refresh tokens of a Bluesky session. The session's access tokens work until they
   * expire.
   */
  end(session: string): void {
    for (const [key, row] of this.#tokens.entries())
      if (row.session === session && row.kind === "refresh" && !row.revoked)
        this.#tokens.put(key, { ...row, revoked: true });
  }

  sessionOf(refreshJwt: string): string | undefined {
    const row = this.#tokens.get(refreshJwt);
    return row?.kind === "refresh" ? row.session : undefined;
  }

  #issue(did: string, session: string, now: number): SessionTokens {
    return {
      accessJwt: this.#token("access", did, session, now, ACCESS_LIFETIME_MS),
      refreshJwt: this.#token("refresh", did, session, now, REFRESH_LIFETIME_MS),
    };
  }

  #token(
    kind: Token["kind"],
    did: string,
    session: string,
    now: number,
    lifetimeMs: number,
  ): string {
    const expiresAt = now + lifetimeMs;
    const header = encode({ typ: kind === "access" ? "at+jwt" : "refresh+jwt", alg: "HS256" });
    const payload = encode({
      scope: kind === "access" ? "com.atproto.appPass" : "com.atproto.refresh",
      sub: did,
      aud: "did:web:pds.simulated.example",
      jti: randomUUID(),
      iat: Math.floor(now / 1000),
      exp: Math.floor(expiresAt / 1000),
    });
    const signature = createHmac("sha256", this.#signingKey)
      .update(`${header}.${payload}`)
      .digest("base64url");
    const token = this.#secrets.issue(`${header}.${payload}.${signature}`);
    this.#tokens.put(token, { kind, did, session, expiresAt, revoked: false });
    return token;
  }
}

interface ServiceToken {
  readonly did: string;
  readonly aud: string;
  /** The only XRPC method that the token allows; null when it allows every method. */
  readonly lxm: string | null;
  readonly expiresAt: number;
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

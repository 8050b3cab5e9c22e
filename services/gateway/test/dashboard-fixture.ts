import type { ServiceError } from "@postrider/shared/errors";
import { formatApiKey } from "@postrider/shared/secrets/api-keys";
import type { InjectOptions } from "fastify";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { expect } from "vitest";
import { SCOPES } from "#src/routes/dependencies.ts";
import { admitted, createTestServer, PUBLIC_URL, type Peers } from "./fixture.ts";

const TOKEN = formatApiKey(new Uint8Array(32).fill(7), "session");
const SESSION_ID = "01936a5e-7d2b-7000-8000-0000000000f2";

/** The headers of a request that our own page sends with a session. */
export const SESSION_HEADERS = { cookie: `postrider=${TOKEN}`, origin: PUBLIC_URL };

type Answer = <T>(request: object, give: T) => T;

/**
 * A server whose in-memory services record what reaches them; requests come from a session with all
 * scopes, or with the given ones.
 */
export async function createDashboardServer(toPeers: (answer: Answer) => Peers) {
  let seen: object[] = [];
  let scopes: readonly string[] = SCOPES;
  let refusal: ServiceError | undefined;
  const peers = toPeers((request, give) => {
    seen.push(request);
    if (refusal !== undefined) throw refusal;
    return give;
  });
  const session = { keyId: undefined, sessionId: SESSION_ID };
  const app = await createTestServer(peers, () =>
    admitted({ ...session, scopes: new Set(scopes) }),
  );
  return {
    app,
    seen: () => seen,
    send: async (
      options: Omit<InjectOptions, "url"> & { readonly url: string },
      more: { readonly scopes?: readonly string[]; readonly error?: ServiceError } = {},
    ) => {
      seen = [];
      scopes = more.scopes ?? SCOPES;
      refusal = more.error;
      const url = `/app/api${options.url}`;
      return await app.inject({ headers: SESSION_HEADERS, ...options, url });
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

export const withoutScope = (scope: string) => ({
  scopes: SCOPES.filter((each) => each !== scope),
});

/** Fails unless a value has the form that the page expects. */
export function expectForm(schema: TSchema, value: unknown): void {
  expect([...Value.Errors(schema, value)]).toEqual([]);
}

import type { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, InjectOptions } from "fastify";
import { ACCOUNT_ID, admitted, createTestServer, type Peers } from "./fixture.ts";

export const AT = { seconds: 1_795_000_000n, nanos: 5_000_000 };
export const INSTANT = "2026-11-18T11:06:40.005Z";

/** A comment as the delivery service returns it. */
export const COMMENT = {
  id: "179_1",
  text: "How much?",
  author: { id: "app-scoped-1", username: "ann" },
  createdAt: AT,
  likeCount: 3n,
  replyCount: 0n,
  hidden: false,
};
/** The constant `COMMENT` in the form in which the REST API returns it. */
export const COMMENT_RECORD = { ...COMMENT, createdAt: INSTANT, likeCount: 3, replyCount: 0 };

const ALL_SCOPES = [
  "posts:read",
  "posts:write",
  "comments:read",
  "comments:write",
  "automations:read",
  "automations:write",
  "webhooks:read",
  "webhooks:write",
];

/** A REST server with in-memory services that record the requests which reach them. */
export interface RecordingServer extends AsyncDisposable {
  readonly app: FastifyInstance;
  /** The requests that reached the services since the last call of `send`. */
  readonly seen: () => readonly object[];
  /**
   * Sends a request whose API key has the given scopes; without `scopes`, all scopes that the
   * operations under test need. The services answer with `error`, if it is given.
   */
  send(
    options: InjectOptions,
    more?: {
      readonly error?: ServiceError | undefined;
      readonly scopes?: readonly string[];
      readonly verified?: boolean;
    },
  ): Promise<Awaited<ReturnType<FastifyInstance["inject"]>>>;
}

type Answer = <T>(request: object, give: T) => T;

/**
 * @param toPeers Returns the handlers of the services. Each handler passes its request and its
 *   answer to the function `answer`, which records the request.
 */
export async function createRecordingServer(
  toPeers: (answer: Answer) => Peers,
): Promise<RecordingServer> {
  let seen: object[] = [];
  let refusal: ServiceError | undefined;
  let admission = admitted();
  const answer: Answer = (request, give) => {
    seen.push(request);
    if (refusal !== undefined) throw refusal;
    return give;
  };
  const app = await createTestServer(toPeers(answer), () => admission);
  return {
    app,
    seen: () => seen,
    send: async (options, more = {}) => {
      seen = [];
      refusal = more.error;
      const { scopes = ALL_SCOPES, verified = true } = more;
      admission = admitted({ scopes: new Set(scopes), verified });
      const headers = { authorization: "Bearer a", ...options.headers };
      return await app.inject({ ...options, headers });
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** All scopes except the given one. */
export function withoutScope(scope: string): readonly string[] {
  return ALL_SCOPES.filter((each) => each !== scope);
}

export const ACCOUNT_PATH = `/api/v1/accounts/${ACCOUNT_ID}`;

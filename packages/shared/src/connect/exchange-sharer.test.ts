import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { pino } from "pino";
import { Agent } from "undici";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createIdentitySource } from "#src/identity/token-source.ts";
import { findContext, runInContext } from "#src/telemetry/request-context.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { conflict } from "../errors.ts";
import { createLeanTransport } from "./lean-transport.ts";
import { createServiceServer } from "./server.ts";

const LONG = 4 * 1024 * 1024;
const identities = createTestIdentities();
let baseUrl = "";
let close: () => Promise<void>;
const held: (() => void)[] = [];

beforeAll(async () => {
  const app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger: pino({ level: "silent" }),
    routes: (router) =>
      router.service(PostService, {
        createPost: async ({ content }) => {
          if (content === "refused") throw conflict("duplicate_content", [{ code: "x" }]);
          if (content === "held") await new Promise<void>((resolve) => held.push(resolve));
          if (content === "long") return { post: { json: "x".repeat(LONG) } };
          const { requestId, caller, origin } = findContext() ?? {};
          const seen = [content.slice(0, 10), requestId, caller, origin?.keyId].join(" ");
          return { post: { json: seen } };
        },
      }),
  });
  baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  close = () => app.close();
});
afterAll(() => close());

const agent = new Agent();
afterAll(() => agent.close());

/** A client of the server above, and the paths of the HTTP requests that it has sent. */
function connect(callers = identities, connections = agent) {
  const paths: string[] = [];
  const dispatcher = connections.compose((dispatch) => (options, handler) => {
    paths.push(options.path);
    return dispatch(options, handler);
  });
  const identity = createIdentitySource(callers.of("gateway"), "posts");
  const client = createClient(
    PostService,
    createLeanTransport({ baseUrl, dispatcher, timeoutMs: 10_000, identity }),
  );
  const create = async (content: string, timeoutMs = 10_000): Promise<string> => {
    const { post } = await client.createPost({ content }, { timeoutMs });
    return post?.json ?? "";
  };
  return { paths, create };
}

const codeOf = (error: unknown): string => Code[ConnectError.from(error).code];
const PLAIN = "/postrider.posts.v1.PostService/CreatePost";
const KEYS = ["019a8d2e-0000-7000-8000-000000000001", "019a8d2e-0000-7000-8000-000000000002"];

test("calls of one turn of the event loop share a request, in which each keeps the ids of its own request", async () => {
  const { paths, create } = connect();
  const answers = await Promise.all(
    KEYS.map((keyId, index) =>
      runInContext({ requestId: `r-${index}`, origin: { keyId } }, () => create("same turn")),
    ),
  );
  expect(answers).toEqual([`same turn r-0 gateway ${KEYS[0]}`, `same turn r-1 gateway ${KEYS[1]}`]);
  expect(paths).toEqual(["/calls"]);
});

test("a call that is alone in its turn of the event loop, or has a large message, is a plain RPC", async () => {
  const { paths, create } = connect();
  await create("alone");
  await Promise.all([create("x".repeat(20_000)), create("short")]);
  expect(paths).toEqual([PLAIN, PLAIN, PLAIN]);
});

test("the parts of a long answer of a shared request are joined when it is complete, and not with each part", async () => {
  const { create } = connect();
  const concat = vi.spyOn(Buffer, "concat");
  const [long, short] = await Promise.all([create("long"), create("short")]);
  const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
  concat.mockRestore();
  expect([long?.length, short?.split(" ")[0]]).toEqual([LONG, "short"]);
  expect(copied).toBeLessThan(4 * LONG);
});

test("a call that fails, waits or passes its deadline neither fails nor delays the calls that share its request", async () => {
  const { paths, create } = connect();
  const refused = create("refused").catch(codeOf);
  const late = create("held", 100).catch(codeOf);
  const slow = create("held");
  const fast = create("fast");
  expect(await fast).toMatch(/^fast /);
  expect(await refused).toBe("FailedPrecondition");
  expect(await late).toBe("DeadlineExceeded");
  for (const release of held) release();
  expect(await slow).toMatch(/^held /);
  expect(paths).toEqual(["/calls"]);
});

test("every call of a shared request is refused if the service does not know the key of the calling process", async () => {
  const { create } = connect(createTestIdentities());
  const codes = await Promise.all(["a", "b"].map((content) => create(content).catch(codeOf)));
  expect(codes).toEqual(["Unauthenticated", "Unauthenticated"]);
});

test("each call of a shared request fails as unavailable if the connection breaks before its answer", async () => {
  const connections = new Agent();
  const { create } = connect(identities, connections);
  const whole = create("before the break");
  const broken = create("held").catch(codeOf);
  await whole;
  await connections.destroy();
  expect(await broken).toBe("Unavailable");
});

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sampleJpeg } from "@postrider/local/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  chainTo,
  startCollector,
  type CollectedSpan,
  type Collector,
} from "./support/collector.ts";
import { upload } from "./support/media.ts";
import { create, whenTargets } from "./support/posts.ts";
import { joinSharedSystem, startSystem, type BusKind, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN_ID = "00f067aa0ba902b7";
const REQUEST_ID = "the-traced-request";
const PICTURE = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const SERVICES = ["accounts", "delivery", "gateway", "media", "posts"];

/** The spans from the client's request to the publishing call, each the parent of the next one. */
const WAY_OUT = [
  "gateway server POST /api/v1/posts",
  "gateway client postrider.posts.v1.PostService/CreatePost",
  "posts server postrider.posts.v1.PostService/CreatePost",
  "posts producer send posts.events.v1",
  "delivery consumer process posts.events.v1",
  "delivery internal publish target",
];

/** The spans from the delivery service back to the posts service, which publishes its own event. */
const WAY_BACK = [
  "delivery producer send delivery.events.v1",
  "posts consumer process delivery.events.v1",
  "posts producer send posts.events.v1",
];

describe.each<BusKind>(["postgres", "kafka"])("tracing on the %s message bus:", (bus) => {
  let collector: Collector;
  let system: System;
  let tenant: Tenant;

  beforeAll(async () => {
    collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    system = await startSystem(bus, { env });
    tenant = await openTenant(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const ofTrace = (traceId: string): readonly CollectedSpan[] =>
    collector.spans().filter((span) => span.traceId === traceId);

  async function publishTraced(): Promise<void> {
    const [accountId, { id: mediaId }] = await Promise.all([
      tenant.connect("x"),
      upload(tenant.api, PICTURE),
    ]);
    const { body: post } = await tenant.api.call<{ id: string }>("POST", "/posts", {
      body: { content: "traced", accountIds: [accountId], mediaIds: [mediaId] },
      headers: {
        traceparent: `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01`,
        "x-request-id": REQUEST_ID,
      },
    });
    await whenTargets(tenant.api, post.id, "published");
  }

  test("publishing a post is one trace, from the client's request to the platform call and the event with the result", async () => {
    await publishTraced();

    const lines = await eventually(() => {
      const spans = ofTrace(TRACE_ID);
      const found = spans.map((span) => chainTo(span, spans));
      expect(found).toContainEqual([...WAY_OUT, "delivery client POST"]);
      expect(found).toContainEqual([...WAY_OUT, ...WAY_BACK]);
      return found;
    });
    const spans = ofTrace(TRACE_ID);
    // The client's span is an ancestor of every span.
    expect([...new Set(lines.map(([first]) => first))]).toEqual([WAY_OUT[0]]);
    expect(spans.find(({ name }) => name === "POST /api/v1/posts")?.parentSpanId).toBe(
      CLIENT_SPAN_ID,
    );
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual(SERVICES);
    expect(spans.filter(({ hasFailed }) => hasFailed)).toEqual([]);
  });

  test("the trace span of the publishing call has the attribute `postrider.visible`, and no span of a platform call contains the path of the called URL", () => {
    const calls = ofTrace(TRACE_ID).filter(({ name }) => name === "POST");
    const visible = calls.filter(({ attributes }) => attributes["postrider.visible"] === true);

    expect(calls.length).toBeGreaterThan(1);
    expect(visible.map(({ attributes }) => attributes)).toEqual([
      {
        "http.request.method": "POST",
        "server.address": "127.0.0.1",
        "server.port": Number(new URL(system.local().simulatorUrl).port),
        "postrider.visible": true,
        "http.response.status_code": 201,
      },
    ]);
  });

  test("trace spans of RPCs and events have the attributes of the OpenTelemetry semantic conventions", () => {
    const spans = ofTrace(TRACE_ID);
    const find = (name: string, kind: string) =>
      spans.find((span) => span.name === name && span.kind === kind)?.attributes;

    expect(find("postrider.posts.v1.PostService/CreatePost", "server")).toEqual({
      "rpc.system": "connect_rpc",
      "rpc.service": "postrider.posts.v1.PostService",
      "rpc.method": "CreatePost",
    });
    expect(find("POST /api/v1/posts", "server")).toEqual({
      "http.request.method": "POST",
      "http.route": "/api/v1/posts",
      "url.scheme": "http",
      "http.response.status_code": 202,
    });
    expect(find("process posts.events.v1", "consumer")).toEqual({
      "messaging.system": bus === "kafka" ? "kafka" : "postgresql",
      "messaging.destination.name": "posts.events.v1",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.message.id": expect.any(String),
      "postrider.event.type": "postrider.posts.v1.PostPublishRequested",
    });
  });

  test("log lines contain the request id and the trace id", async () => {
    const lines = await eventually(() => {
      const found = system
        .logs()
        .split("\n")
        .filter((line) => line.includes(REQUEST_ID));
      expect(found.length).toBeGreaterThan(0);
      return found;
    });

    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      lines.map(() => expect.objectContaining({ requestId: REQUEST_ID, trace_id: TRACE_ID })),
    );
  });

  test("a scheduled post continues the trace of the request that created it", async () => {
    const traceId = TRACE_ID.replace("4bf9", "aaaa");
    const accountId = await tenant.connect("x");
    const { body: post } = await tenant.api.call<{ id: string }>("POST", "/posts", {
      body: {
        content: "later",
        accountIds: [accountId],
        scheduledAt: new Date(Date.now() + 1_500).toISOString(),
      },
      headers: { traceparent: `00-${traceId}-${CLIENT_SPAN_ID}-01` },
    });
    await whenTargets(tenant.api, post.id, "published");

    await eventually(() => {
      const spans = ofTrace(traceId);
      expect(spans.map((span) => chainTo(span, spans))).toContainEqual([
        ...WAY_OUT,
        "delivery client POST",
      ]);
    });
  });

  // This test is last, because it stops the collector.
  test("posts are published while the trace collector is down, and only trace spans are lost", async () => {
    const { host } = new URL(collector.endpoint);
    await collector[Symbol.asyncDispose]();
    const accountIds = [await tenant.connect("x")];
    const post = await create(tenant.api, { content: "untraced", accountIds });
    await whenTargets(tenant.api, post.id, "published");
    expect(system.logs()).not.toContain(`ECONNREFUSED ${host}`);
  });
});

test("logs, tasks and events contain the trace id even if no trace endpoint is configured", async () => {
  await using system = await joinSharedSystem();
  const tenant = await openTenant(system);
  const accountIds = [await tenant.connect("x")];
  const traceparent = `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01`;
  // The last digit of a `traceparent` header is 0 when spans are not recorded.
  const kept = `00-${TRACE_ID}-${CLIENT_SPAN_ID}-00`;
  const { body: given } = await tenant.api.call<{ id: string }>("POST", "/posts", {
    body: { content: "with a trace", accountIds },
    headers: { traceparent },
  });
  const { id: begun } = await create(tenant.api, { content: "without one", accountIds });
  for (const id of [given.id, begun]) await whenTargets(tenant.api, id, "published");

  const rows = await system.sql<{ postId: string; cause: { traceparent: string } }[]>`
    select post_id as "postId", cause
    from delivery.publish_tasks
    where workspace_id = ${tenant.id}`;
  const causes = new Map(rows.map(({ postId, cause }) => [postId, cause.traceparent]));
  expect(causes.get(given.id)).toBe(kept);
  expect(causes.get(begun)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  await eventually(async () => {
    const events = await system.sql<{ count: number }[]>`
      select count(*)::int as count
      from bus.records
      where headers ->> 'traceparent' = ${kept}
      and headers ->> 'ce_type' like '%.PostPublished'`;
    expect(events).toEqual([{ count: 1 }]);
  });
  for (const header of [kept, causes.get(begun) ?? ""])
    await eventually(() => system.logs().includes(`"trace_id":"${header.slice(3, 35)}"`));
});

/** The OpenTelemetry packages that a process loads when it imports all services and starts tracing as a service does. */
async function listLoaded(tracing: object | undefined): Promise<readonly string[]> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const program = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({
      load(url, context, next) {
        const file = url.split("/node_modules/").at(-1);
        if (file.startsWith("@opentelemetry/")) loaded.add(file.split("/", 2).join("/"));
        return next(url, context);
      },
    });
    for (const service of ${JSON.stringify(SERVICES)})
      await import(\`file://${root}services/\${service}/src/app.ts\`);
    const { openProcess } = await import("file://${root}packages/shared/src/process/service.ts");
    const base = openProcess({
      service: "test", logLevel: "silent", failpointsDir: undefined, tracing: ${JSON.stringify(tracing)},
    });
    await base[Symbol.asyncDispose]();
    process.stdout.write(JSON.stringify([...loaded].toSorted()));
    process.exit(0);`;
  const words = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout) as readonly string[];
}

test("no service loads the packages that record trace spans if no trace endpoint is configured", async () => {
  expect(await listLoaded(undefined)).toEqual(["@opentelemetry/api"]);
  expect(await listLoaded({ endpoint: "http://127.0.0.1:9", headers: {}, ratio: 1 })).toEqual(
    expect.arrayContaining(["@opentelemetry/exporter-trace-otlp-http", "@opentelemetry/sdk-trace"]),
  );
});

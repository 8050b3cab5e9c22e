import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { serviceNames } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { upload } from "../requests/media.ts";
import { create, whenTargets } from "../requests/posts.ts";
import type { Tenant } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";
import { chainTo, type CollectedSpan, type Collector } from "./collector.ts";

export const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
export const CLIENT_SPAN_ID = "00f067aa0ba902b7";
const REQUEST_ID = "the-traced-request";
const PICTURE = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };

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

/** A system that exports its spans to a collector, and a workspace in it. */
interface Traced {
  readonly system: System;
  readonly tenant: Tenant;
  readonly collector: Collector;
}

/** Tests which spans the services export, and how they belong together. */
export function testTraces(context: () => Traced): void {
  const ofTrace = (traceId: string): readonly CollectedSpan[] =>
    context()
      .collector.spans()
      .filter((span) => span.traceId === traceId);

  async function publishTraced(): Promise<void> {
    const [accountId, { id: mediaId }] = await Promise.all([
      context().tenant.connect("x"),
      upload(context().tenant.api, PICTURE),
    ]);
    const { body: post } = await context().tenant.api.call<{ id: string }>("POST", "/posts", {
      body: { content: "traced", accountIds: [accountId], mediaIds: [mediaId] },
      headers: {
        traceparent: `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01`,
        "x-request-id": REQUEST_ID,
      },
    });
    await whenTargets(context().tenant.api, post.id, "published");
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
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual(
      serviceNames.toSorted(),
    );
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
        "server.port": Number(new URL(context().system.local().simulatorUrl).port),
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
      "messaging.system": "postgresql",
      "messaging.destination.name": "posts.events.v1",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.message.id": expect.any(String),
      "postrider.event.type": "postrider.posts.v1.PostPublishRequested",
    });
  });

  test("log lines contain the request id and the trace id", async () => {
    const lines = await eventually(() => {
      const found = context()
        .system.logs()
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
    const accountId = await context().tenant.connect("x");
    const { body: post } = await context().tenant.api.call<{ id: string }>("POST", "/posts", {
      body: {
        content: "later",
        accountIds: [accountId],
        scheduledAt: new Date(Date.now() + 1_500).toISOString(),
      },
      headers: { traceparent: `00-${traceId}-${CLIENT_SPAN_ID}-01` },
    });
    await whenTargets(context().tenant.api, post.id, "published");

    await eventually(() => {
      const spans = ofTrace(traceId);
      expect(spans.map((span) => chainTo(span, spans))).toContainEqual([
        ...WAY_OUT,
        "delivery client POST",
      ]);
    });
  });
}

/** Tests what happens without a collector; it stops the collector, so it must be the last test. */
export function testWithoutCollector(context: () => Traced): void {
  test("posts are published while the trace collector is down, and only trace spans are lost", async () => {
    const { collector } = context();
    const { host } = new URL(collector.endpoint);
    await collector[Symbol.asyncDispose]();
    const accountIds = [await context().tenant.connect("x")];
    const post = await create(context().tenant.api, { content: "untraced", accountIds });
    await whenTargets(context().tenant.api, post.id, "published");
    expect(context().system.logs()).not.toContain(`ECONNREFUSED ${host}`);
  });
}

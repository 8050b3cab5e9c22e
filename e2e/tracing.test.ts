import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serviceNames } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { CLIENT_SPAN_ID, TRACE_ID } from "./support/observers/traces.ts";
import { create, whenTargets } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { joinSharedSystem } from "./support/system/system.ts";

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

/**
 * The OpenTelemetry packages that a process loads when it imports all services and starts tracing
 * as a service does.
 */
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
    for (const service of ${JSON.stringify(serviceNames)})
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

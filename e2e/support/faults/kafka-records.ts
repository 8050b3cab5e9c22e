import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { findLeaks, readLogFiles } from "../observers/canaries.ts";
import { readTopics } from "../observers/topics.ts";
import { CLIENT_SPAN_ID, TRACE_ID } from "../observers/traces.ts";
import { whenTargets } from "../requests/posts.ts";
import { openTenant } from "../requests/tenant.ts";
import type { FaultStack } from "./fault-stack.ts";

/**
 * Tests what the services write into Kafka. `traces-and-secrets.test.ts` tests the same of all
 * other places, on the Postgres bus, whose records are the same.
 */
export function testKafkaRecords(stack: () => FaultStack): void {
  test("records on Kafka contain the trace id of the request that caused them, also those of another service, and no record and no log contains a secret", async () => {
    const { system } = stack();
    const tenant = await openTenant(system);
    const { body: post } = await tenant.api.call<{ id: string }>("POST", "/posts", {
      body: { content: "with a trace", accountIds: [await tenant.connect("x")] },
      headers: { traceparent: `00-${TRACE_ID}-${CLIENT_SPAN_ID}-01` },
    });
    await whenTargets(tenant.api, post.id, "published");
    const topics = await eventually(async () => {
      const read = await readTopics(system.kafkaBroker ?? "");
      for (const topic of ["posts", "delivery"])
        expect(read.get(`the topic ${topic}.events.v1`)).toContain(`traceparent: 00-${TRACE_ID}-`);
      return read;
    });

    const { identityKeys, rolePasswords } = system.secrets();
    const all = [
      ...Object.values(identityKeys),
      ...Object.values(rolePasswords),
      system.local().apiKey,
      tenant.key,
      ...(await system.simulator.secrets()),
    ];
    expect(all.length).toBeGreaterThan(30);
    const secrets = new Map(all.map((secret, index) => [`secret ${index}`, secret]));
    const places = new Map([...topics, ...readLogFiles(system.local())]);
    expect(findLeaks(secrets, places)).toEqual([]);
    expect(findLeaks(new Map([["id", post.id]]), topics)).toContain(
      "id in the topic posts.events.v1",
    );
  });
}

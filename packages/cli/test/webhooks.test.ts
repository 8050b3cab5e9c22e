import type { AddressInfo } from "node:net";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { createServiceServer } from "@postrider/shared/connect/server";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { expect, test } from "vitest";
import { identities, runTool } from "./tool.ts";

interface Page {
  readonly after: string;
  readonly remaining: bigint;
  readonly resealed: number;
  readonly unreadable: number;
}

/**
 * Runs `webhooks reseal`; delivery answers with these pages. Also returns the cursors that delivery
 * received.
 */
async function reseal(pages: readonly Page[]) {
  const asked: string[] = [];
  const server = await createServiceServer({
    access: identities.accessOf("delivery"),
    logger: createLogger({ service: "test", level: "silent" }),
    routes: (router) =>
      router.service(WebhookService, {
        resealWebhookSecrets: ({ after }) => pages[asked.push(after) - 1] ?? {},
      }),
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const delivery = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const urls = { accounts: undefined, posts: undefined, media: undefined, delivery };
  const ended = await runTool(["webhooks", "reseal"], {
    urls,
    identity: identities.of("operator"),
  });
  await server.close();
  return { ...ended, asked };
}

test("`webhooks reseal` encrypts all signing secrets page by page, starts again for the secrets that were locked, and prints its progress", async () => {
  const ended = await reseal([
    { after: "a", remaining: 51n, resealed: 200, unreadable: 0 },
    { after: "b", remaining: 1n, resealed: 50, unreadable: 0 },
    { after: "", remaining: 1n, resealed: 0, unreadable: 0 },
    { after: "a", remaining: 0n, resealed: 1, unreadable: 0 },
    { after: "", remaining: 0n, resealed: 0, unreadable: 0 },
  ]);

  expect(ended).toEqual({
    exitCode: 0,
    printed: "251 signing secrets encrypted again",
    errors: [
      "200 signing secrets encrypted again, 51 left",
      "250 signing secrets encrypted again, 1 left",
      "251 signing secrets encrypted again, 0 left",
    ].join("\n"),
    asked: ["", "a", "b", "", "a"],
  });
});

test("`webhooks reseal` fails and names HANDLE_KEYS when signing secrets cannot be decrypted", async () => {
  const ended = await reseal([
    { after: "a", remaining: 3n, resealed: 0, unreadable: 3 },
    { after: "", remaining: 3n, resealed: 0, unreadable: 0 },
  ]);

  expect(ended.exitCode).toBe(1);
  expect(ended.errors).toContain("3 signing secrets cannot be decrypted");
  expect(ended.errors).toContain("HANDLE_KEYS");
});

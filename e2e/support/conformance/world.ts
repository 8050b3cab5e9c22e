import { createServer } from "node:http";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { listen, type Listening } from "@postrider/shared/testing/listen";
import { publishOn } from "../requests/engagement.ts";
import { openTenant, type Tenant } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";

/** Platforms for which the test connects an account that stays connected. */
const PLATFORMS = ["bluesky", "x", "instagram", "telegram"];
/**
 * More comments than fit on one page of a backfill job, so that the job can be paused and resumed.
 */
const COMMENTS = 60;

/** A server outside of Postrider that receives webhooks and serves files to import. */
export async function openOutside(): Promise<Listening> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === "POST") {
      // Webhook receivers below this path fail every delivery, so that deliveries can be retried.
      const isFailing = request.url?.startsWith("/failing") === true;
      response.writeHead(isFailing ? 500 : 200).end();
      return;
    }
    if (request.url === "/a.jpg") response.end(sampleJpeg());
    else response.writeHead(request.url === "/text" ? 200 : 404).end("text");
  });
  return await listen(server);
}

/** A workspace with connected accounts, and with a published post that readers commented on. */
export interface World {
  readonly tenant: Tenant;
  readonly accountIds: readonly string[];
  /** An account on which nothing but the journey of a post publishes. */
  readonly ownAccountId: string;
  /** The published post whose comments the journeys read. */
  readonly publication: {
    readonly id: string;
    readonly mediaId: string;
    readonly commentId: string;
  };
  readonly outsideUrl: string;
}

/** Creates a workspace with all resources that the journeys need and cannot create themselves. */
export async function inhabit(system: System, outsideUrl: string): Promise<World> {
  const tenant = await openTenant(system, ["--monthly-quota", "100000"], 600_000);
  const accountIds = await Promise.all(PLATFORMS.map((platform) => tenant.connect(platform)));
  const id = accountIds[PLATFORMS.indexOf("instagram")] ?? "";
  const media = await publishOn(tenant, "instagram", { accountId: id });
  const [commentId = ""] = await Promise.all(
    Array.from({ length: COMMENTS }, (_, index) =>
      system.simulator.addComment(media, { text: `price please ${index}` }),
    ),
  );
  const ownAccountId = await tenant.connect("x");
  const publication = { id, mediaId: media.id, commentId };
  return { tenant, accountIds, ownAccountId, publication, outsideUrl };
}

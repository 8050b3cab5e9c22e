import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { sampleJpeg } from "@postrider/local/sample-media";
import { publishOn } from "../engagement.ts";
import type { System } from "../system.ts";
import { openTenant, type Tenant } from "../tenant.ts";
import { createPools, type Pools } from "./pools.ts";

/** Platforms for which the test connects an account that stays connected. */
const PLATFORMS = ["bluesky", "x", "instagram", "telegram"];
const SPARE_ACCOUNTS = 15;
/** More comments than fit on one page of a backfill job, so that the job can be paused and resumed. */
const COMMENTS = 60;

/** A server outside of Postrider that receives webhooks and serves files to import. */
export async function openOutside(): Promise<Server> {
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
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}

export function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A workspace with connected accounts, and with published posts that readers commented on. */
export interface Inhabited {
  readonly tenant: Tenant;
  readonly pools: Pools;
  readonly accountIds: readonly string[];
  /** The published post whose comments the journeys read. */
  readonly publication: {
    readonly id: string;
    readonly mediaId: string;
    readonly commentId: string;
  };
}

/** Creates a workspace with all resources that generated requests need and cannot create themselves. */
export async function inhabit(system: System): Promise<Inhabited> {
  const tenant = await openTenant(system, ["--monthly-quota", "100000"], 600_000);
  const pools = createPools();
  const accountIds = await Promise.all(PLATFORMS.map((platform) => tenant.connect(platform)));
  for (const id of accountIds) {
    pools.add("account", { id });
    pools.add("accountId", id);
  }
  for (const id of await tenant.connectAll("bluesky", SPARE_ACCOUNTS))
    pools.add("spareAccount", { id });
  const accountId = accountIds[PLATFORMS.indexOf("instagram")] ?? "";
  const media = await publishOn(tenant, "instagram", { accountId });
  pools.add("commentAccountId", accountId);
  pools.add("publicationId", media.id);
  pools.add("publication", { id: accountId, mediaId: media.id });
  const comments = await Promise.all(
    Array.from({ length: COMMENTS }, (_, index) => `price please ${index}`).map((text) =>
      system.simulator.addComment(media, { text }),
    ),
  );
  for (const commentId of comments)
    pools.add("comment", { id: accountId, mediaId: media.id, commentId });
  const [commentId = ""] = comments;
  return {
    tenant,
    pools,
    accountIds,
    publication: { id: accountId, mediaId: media.id, commentId },
  };
}

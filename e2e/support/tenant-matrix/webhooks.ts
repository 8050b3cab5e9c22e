import { eventually } from "@postrider/shared/testing/poll";
import type { Tenant } from "../requests/tenant.ts";
import type { Fixtures } from "./matrix.ts";

const NOT_FOUND = "404 not_found";

/** The webhook subscriptions of a workspace. */
export interface WebhookBelongings {
  readonly webhooks: Readonly<Record<"active" | "paused" | "revoked", string>>;
  /** A failed delivery of the active webhook subscription. */
  readonly failedDelivery: string;
  readonly webhookCursor: string;
}

/** Creates a webhook subscription to a receiver that answers every delivery with an error. */
async function makeWebhook({ api }: Tenant, receiverUrl: string, mark: string): Promise<string> {
  const body = { url: `${receiverUrl}/${mark}`, description: mark, events: ["media.ready"] };
  return (await api.call<{ id: string }>("POST", "/webhooks", { body })).body.id;
}

/**
 * Creates webhook subscriptions in every status that an API handler may treat differently, and a
 * failed delivery.
 */
export async function makeWebhooks(
  tenant: Tenant,
  receiverUrl: string,
  mark: string,
): Promise<WebhookBelongings> {
  const { api } = tenant;
  const webhooks = {
    active: await makeWebhook(tenant, receiverUrl, mark),
    paused: await makeWebhook(tenant, receiverUrl, mark),
    revoked: await makeWebhook(tenant, receiverUrl, mark),
  };
  const whenFailed = (id: string) =>
    eventually(async () => {
      const path = `/webhooks/${id}/deliveries?status=failed`;
      const { body } = await api.call<{ deliveries: { id: string }[] }>("GET", path);
      const [delivery] = body.deliveries;
      if (delivery === undefined) throw new Error("no delivery has failed yet");
      return delivery.id;
    });
  const failedDelivery = await whenFailed(webhooks.active);
  // The job that cancels the waiting deliveries of a revoked subscription would change the database
  // later.
  await whenFailed(webhooks.paused);
  await whenFailed(webhooks.revoked);
  await api.call("PATCH", `/webhooks/${webhooks.paused}`, { body: { status: "paused" } });
  await api.call("DELETE", `/webhooks/${webhooks.revoked}`);
  const page = await api.call<{ nextCursor: string }>("GET", "/webhooks?limit=1");
  return { webhooks, failedDelivery, webhookCursor: page.body.nextCursor };
}

/**
 * Returns test requests for the operations on webhooks.
 *
 * @param theirs The other workspace; `cursor` is a cursor of its list of posts.
 */
export function webhookFixtures(
  ours: WebhookBelongings,
  theirs: WebhookBelongings & { readonly cursor: string },
): Fixtures {
  const one = (id: string, more: object = {}) => ({ path: { id }, ...more });
  const webhooks = { "path:id": { ids: Object.values(theirs.webhooks), refusal: NOT_FOUND } };
  return {
    listWebhooks: {
      requests: [{}],
      foreign: { "query:cursor": { ids: [theirs.webhookCursor], refusal: "400 invalid_cursor" } },
    },
    createWebhook: {
      requests: [{ body: { url: "https://example.com/hook", events: ["*"], description: "New" } }],
      foreign: {},
    },
    updateWebhook: {
      requests: [one(ours.webhooks.paused, { body: { description: "Changed" } })],
      foreign: webhooks,
    },
    revokeWebhook: { requests: [one(ours.webhooks.paused)], foreign: webhooks },
    listWebhookDeliveries: {
      requests: [one(ours.webhooks.active)],
      foreign: {
        ...webhooks,
        "query:cursor": { ids: [theirs.cursor], refusal: "400 invalid_cursor" },
      },
    },
    retryWebhookDelivery: {
      requests: [{ path: { id: ours.webhooks.active, deliveryId: ours.failedDelivery } }],
      foreign: {
        ...webhooks,
        "path:deliveryId": { ids: [theirs.failedDelivery], refusal: NOT_FOUND },
      },
    },
  };
}

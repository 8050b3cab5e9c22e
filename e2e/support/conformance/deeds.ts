import type { AuditAction } from "@postrider/shared/audit/actions";
import type { System } from "../system/system.ts";
import type { Operation } from "./document.ts";

/** Why an operation that is not a GET leaves no entry in the audit log. */
type Reason = { readonly none: string };

/** What the audit log contains after a successful request to each operation that is not a GET. */
const DEEDS: Readonly<Record<string, AuditAction | Reason>> = {
  disconnectAccount: "account.disconnect",
  updateAccountSettings: "account.update_settings",
  createAutomationRule: "automation_rule.create",
  updateAutomationRule: "automation_rule.update",
  createBackfill: "backfill.create",
  updateBackfill: "backfill.update",
  requestCommentAction: "comment_action.request",
  presignUpload: "media.create_upload",
  completeUpload: "media.complete_upload",
  importMedia: "media.import",
  updateMedia: "media.update",
  deleteMedia: "media.delete",
  createPost: "post.create",
  updatePost: "post.update",
  deletePost: "post.delete",
  publishPost: "post.publish",
  retryPost: "post.retry",
  createQueueSlotRule: "queue_slot_rule.create",
  updateQueueSlotRule: "queue_slot_rule.update",
  deleteQueueSlotRule: "queue_slot_rule.delete",
  createWebhook: "webhook.create",
  updateWebhook: "webhook.update",
  revokeWebhook: "webhook.revoke",
  retryWebhookDelivery: "webhook_delivery.retry",
  validatePost: { none: "it stores nothing" },
  refreshPostMetrics: {
    none: "it reads counters from the platform and changes nothing of the customer",
  },
  uploadFile: { none: "it has no API key; the request for its grant is recorded" },
};

interface Listed {
  readonly entries: readonly {
    readonly actor: { readonly kind: string };
    readonly via: string | null;
    readonly sourceAddress: string | null;
  }[];
}

interface Key {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** Returns the id of the workspace's API key that has the most scopes. */
async function findFullKey({ operate }: Operator, workspaceId: string): Promise<string> {
  const { keys } = await operate<{ keys: readonly Key[] }>(
    "key",
    "list",
    "--workspace",
    workspaceId,
  );
  const [full] = keys.toSorted((a, b) => b.scopes.length - a.scopes.length);
  if (full === undefined) throw new Error("the workspace has no API key");
  return full.id;
}

type Operator = Pick<System, "operate">;

/**
 * Finds operations whose successful requests left no entry in the list of what their API key did,
 * with `postrider audit list`.
 *
 * @param workspaceId A workspace with whose API key all operations have succeeded.
 */
export async function findUnrecorded(
  operator: Operator,
  operations: readonly Operation[],
  workspaceId: string,
): Promise<readonly { readonly id: string; readonly problem: string }[]> {
  const key = await findFullKey(operator, workspaceId);
  const faults: { readonly id: string; readonly problem: string }[] = [];
  for (const { id, method } of operations) {
    if (method === "GET") continue;
    const deed = DEEDS[id];
    if (deed === undefined) faults.push({ id, problem: "is missing in the table of deeds" });
    if (typeof deed !== "string") continue;
    const words = ["audit", "list", "--key", key, "--action", deed, "--limit", "1"];
    const [entry] = (await operator.operate<Listed>(...words)).entries;
    const { actor, via, sourceAddress } = entry ?? {};
    if (actor?.kind !== "key" || via !== "rest" || sourceAddress !== "127.0.0.1")
      faults.push({ id, problem: `left no complete ${deed} in the audit log` });
  }
  return faults;
}

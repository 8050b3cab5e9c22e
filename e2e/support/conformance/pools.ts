import type { Random } from "./random.ts";

/** Maximum number of stored values of each type, for example of post ids; a further value replaces the oldest. */
const MAX_VALUES = 60;

/** The parameters in the path of a request, such as `{ id, deliveryId }`. */
export type PathValues = Readonly<Record<string, string>>;

/** Values of earlier answers that later requests use: paths of resources, ids, cursors and ETags. */
export interface Pools {
  add(kind: string, value: unknown): void;
  /** Returns a random stored value of this kind, for example a post id; undefined when none is stored. */
  pick(kind: string, random: Random): unknown;
  all(kind: string): readonly unknown[];
}

export function createPools(): Pools {
  const values = new Map<string, unknown[]>();
  const all = (kind: string) => values.get(kind) ?? [];
  return {
    add: (kind, value) => {
      const known = all(kind);
      const text = JSON.stringify(value);
      if (known.some((each) => JSON.stringify(each) === text)) return;
      values.set(kind, [...known, value].slice(-MAX_VALUES));
    },
    pick: (kind, random) => {
      const known = all(kind);
      return known.length === 0 ? undefined : random.pick(known);
    },
    all,
  };
}

/** Starts of paths, longest first, each with what the parameters of the path identify. */
const PATH_KINDS: readonly (readonly [start: string, kind: string])[] = [
  ["/api/v1/accounts/{id}/media/{mediaId}/comments/{commentId}", "comment"],
  ["/api/v1/accounts/{id}/media/{mediaId}/comments", "publication"],
  ["/api/v1/accounts/{id}", "account"],
  ["/api/v1/automations/partner-dm-rules/{id}", "automationRule"],
  ["/api/v1/automations/partner-dm-backfills/{id}", "backfill"],
  ["/api/v1/comment-actions/{id}", "commentAction"],
  ["/api/v1/media/{id}", "media"],
  ["/api/v1/posts/{id}", "post"],
  ["/api/v1/queue-slots/{id}", "queueSlotRule"],
  ["/api/v1/webhooks/{id}/deliveries/{deliveryId}", "delivery"],
  ["/api/v1/webhooks/{id}", "webhook"],
  ["/uploads/{uploadPath}", "upload"],
];

/**
 * Returns what the ids in a path identify, for example `post`; undefined for a path without parameters. The operation that
 * disconnects accounts uses accounts of its own (`spareAccount`), because the other requests need connected ones.
 */
export function pathKind(path: string, operationId: string): string | undefined {
  if (operationId === "disconnectAccount") return "spareAccount";
  const known = PATH_KINDS.find(([start]) => path.startsWith(start));
  if (known === undefined && path.includes("{")) throw new Error(`${path} has no kind of values`);
  return known?.[1];
}

/** What each operation creates, by operation id. The ids of created resources are stored under this name for later requests. */
const CREATED: Readonly<Record<string, string>> = {
  createPost: "post",
  presignUpload: "media",
  importMedia: "media",
  createQueueSlotRule: "queueSlotRule",
  createWebhook: "webhook",
  createAutomationRule: "automationRule",
  createBackfill: "backfill",
  requestCommentAction: "commentAction",
};

interface Body {
  readonly id?: string;
  readonly nextCursor?: string | null;
  readonly uploadUrl?: string;
  readonly deliveries?: readonly { readonly id: string }[];
  readonly status?: string;
}

/** Stores the ids, cursors and ETags of a successful answer for later requests. */
export function keepFrom(
  pools: Pools,
  operationId: string,
  path: PathValues,
  answer: { readonly status: number; readonly body: unknown; readonly etag: string | undefined },
): void {
  if (answer.status >= 300) return;
  const { id, nextCursor, uploadUrl, deliveries = [], status } = (answer.body ?? {}) as Body;
  const created = CREATED[operationId];
  if (created !== undefined && id !== undefined) pools.add(created, { id });
  if (operationId === "completeUpload" || operationId === "importMedia")
    if (id !== undefined && status === "ready") pools.add("readyMedia", id);
  if (typeof nextCursor === "string") pools.add(`cursor ${operationId}`, nextCursor);
  if (uploadUrl !== undefined) {
    const { pathname, search } = new URL(uploadUrl);
    pools.add("upload", { uploadPath: `${pathname.replace(/^\/uploads\//, "")}${search}` });
  }
  for (const delivery of deliveries)
    pools.add("delivery", { id: path["id"], deliveryId: delivery.id });
  if (answer.etag !== undefined) pools.add(`etag ${operationId}`, answer.etag);
}

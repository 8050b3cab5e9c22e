import { invalidRequest, type Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { NewManualAction } from "#src/engagement/domain/comment-action.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 50;

interface MediaRef {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly mediaId: string;
}

function invalid(path: string): Violation {
  return { code: "invalid", path };
}

function assertValid(checks: readonly (readonly [path: string, isValid: boolean])[]): void {
  const violations = checks.filter(([, isValid]) => !isValid).map(([path]) => invalid(path));
  if (violations.length > 0) throw invalidRequest(violations);
}

function checkMediaRef({ workspaceId, accountId, mediaId }: MediaRef) {
  return [
    ["/workspaceId", isId(workspaceId)],
    ["/accountId", isId(accountId)],
    ["/mediaId", mediaId !== ""],
  ] as const;
}

export function parseMediaRef({ workspaceId, accountId, mediaId }: MediaRef): MediaRef {
  assertValid(checkMediaRef({ workspaceId, accountId, mediaId }));
  return { workspaceId, accountId, mediaId };
}

/** 0 stands for the default. */
export function parseLimit(limit: number): number {
  assertValid([["/limit", limit >= 0 && limit <= MAX_LIMIT]]);
  return limit === 0 ? DEFAULT_LIMIT : limit;
}

type RequestedAction = Pick<NewManualAction, "type" | "text"> &
  MediaRef & { readonly commentId: string };

/** A reply has a text, and the other types have none. */
export function parseAction(
  request: MediaRef & {
    readonly commentId: string;
    readonly type: string;
    readonly text?: string | undefined;
  },
): RequestedAction {
  const { workspaceId, accountId, mediaId, commentId, text = null } = request;
  const type = toType(request.type);
  const hasText = text !== null && text.trim() !== "";
  assertValid([
    ...checkMediaRef(request),
    ["/commentId", commentId !== ""],
    ["/type", type !== undefined],
    ["/text", type === "reply" ? hasText : text === null],
  ]);
  if (type === undefined) throw invalidRequest();
  return { workspaceId, accountId, mediaId, commentId, type, text };
}

function toType(type: string): NewManualAction["type"] | undefined {
  return type === "reply" || type === "hide" || type === "unhide" ? type : undefined;
}

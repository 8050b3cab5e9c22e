import { isPlatformId } from "@postrider/platforms/platform-id";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";

const KINDS = ["platform", "account", "workspace"] as const;

/** What an operator can pause. */
export interface PauseScope {
  readonly kind: (typeof KINDS)[number];
  readonly key: string;
}

/** @throws ServiceError `invalid_request` if such a scope cannot exist. */
export function parsePauseScope(request: { kind: string; key: string }): PauseScope {
  const kind = KINDS.find((known) => known === request.kind);
  if (kind === undefined) throw invalidRequest([{ code: "unknown_kind", path: "/kind" }]);
  const isKey = kind === "platform" ? isPlatformId(request.key) : isId(request.key);
  if (!isKey) throw invalidRequest([{ code: "invalid_key", path: "/key" }]);
  return { kind, key: request.key };
}

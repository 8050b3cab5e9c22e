import type { AccountAccess } from "#src/publishing/publication.ts";

export function usesInstagramLogin({ attributes }: Pick<AccountAccess, "attributes">): boolean {
  return attributes.login === "instagram";
}

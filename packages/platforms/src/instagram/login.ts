import type { AccountAccess } from "#src/publishing/publication.ts";

/** Whether the account was connected with Instagram Login, not with Facebook Login. */
export function usesInstagramLogin({ attributes }: Pick<AccountAccess, "attributes">): boolean {
  return attributes.login === "instagram";
}

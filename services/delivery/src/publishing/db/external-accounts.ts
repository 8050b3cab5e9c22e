import { isUniqueViolation, type ISql } from "@postrider/shared/postgres";
import type { HeldKey } from "#src/publishing/domain/task.ts";
import type { MarkRequest } from "./marks.ts";

/** An account of a workspace, and the account of the platform that it stands for. Several workspaces can share the latter. */
export interface ExternalAccount {
  readonly platform: string;
  readonly accountId: string;
  /** The platform's id of its account. */
  readonly externalAccountId: string;
}

/**
 * Records the account of the platform and the content of a publish task whose platform is about to be searched, because an
 * earlier release or a restore left the task without them. From then on, no call with the same content can begin on that account,
 * and no other search for such a call.
 *
 * @returns `busy` if another such call or search is open, of whichever workspace: their posts could not be told apart. `lost` if
 * another worker has claimed the task.
 */
export async function recordExternalAccount(
  sql: ISql,
  { targetId, generation, fence }: HeldKey,
  { externalAccountId, contentHash }: Pick<MarkRequest, "externalAccountId" | "contentHash">,
): Promise<"recorded" | "busy" | "lost"> {
  try {
    const { count } = await sql`
      update publish_tasks
      set external_account_id = ${externalAccountId},
        content_hash = ${contentHash}
      where target_id = ${targetId}
      and generation = ${generation}
      and fence = ${fence}
      and status = 'reconciling'`;
    return count === 0 ? "lost" : "recorded";
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return "busy";
  }
}

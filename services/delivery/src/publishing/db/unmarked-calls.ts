import type { ISql } from "@postrider/shared/postgres";
import { isInPlace } from "#src/db/data-place.ts";
import type { HeldKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";
import type { MarkRequest } from "./marks.ts";
import { isPlatformHeld } from "./platform-brakes.ts";
import { toHeldRows } from "./tasks.ts";

/** Why a publishing call may not begin. */
export type Unmarked =
  /** Another worker has claimed the task. */
  | "lost"
  /** The time `publish_before`, after which the target must not be published, has passed. */
  | "missed"
  /** Another generation (an earlier or later publish request) of the target is already published. */
  | "superfluous"
  /**
   * The data was restored from a backup. An operator has to adopt the data, or the platform has to be searched for the target
   * first.
   */
  | "held"
  /** The platform left the latest publishing calls without an answer, so its calls are held. */
  | "platform_held"
  /**
   * Another publishing call of the account must end first, or an earlier call with the same content whose outcome is
   * unknown.
   */
  | "busy";

/** Determines why a publishing call may not begin. */
export async function explainUnmarked(
  sql: ISql,
  held: HeldKey & Pick<MarkRequest, "isForeignHost">,
): Promise<Unmarked> {
  const [row] = await sql<{ reason: Unmarked }[]>`
    select case
        when exists (
          select 1
          from publish_tasks s
          where s.target_id = t.target_id
          and s.generation <> t.generation
          and s.status = 'published'
        ) then 'superfluous'
        when not ${isInPlace(sql)} or ${isDoubtful(sql)} then 'held'
        when t.publish_before <= now() then 'missed'
        when ${isPlatformHeld(sql)} and not ${held.isForeignHost ?? false} then 'platform_held'
        else 'busy'
      end as reason
    from jsonb_to_recordset(${sql.json(toHeldRows([held]))})
      as k(target_id uuid, generation int, fence bigint)
    join publish_tasks t
      on t.target_id = k.target_id and t.generation = k.generation and t.fence = k.fence
    cross join deployment d
    where t.status = 'working'`;
  return row?.reason ?? "lost";
}
